# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""The GIO module in a program that knows GLib alone, and GLib's own monitor in another one beside it."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import unittest

from lab import *

TYPE, OWN = "NetpathMonitor", "GNetworkMonitorNetlink"


class Lines:
    """The lines of a program, each with the moment at which it was read."""

    def __init__(self, *command, **environment):
        self.lines = []
        self.process = subprocess.Popen(
            command, stdout=-1, text=True, env=os.environ | environment, start_new_session=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.time(), line.strip()))

    def find(self, pattern, begin=0, patience=PATIENCE):
        """The moment of the first line after another one that matches; waits for it."""
        def first():
            return next((time for time, line in self.lines if time > begin and re.search(pattern, line)), None)
        try:
            return until(first, patience)
        except AssertionError:
            raise AssertionError(f"no line matches {pattern}: {self.lines}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # What it has started, too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


@contextlib.contextmanager
def program(*hosts, kind=TYPE, **environment):
    """The program with the kind of monitor; a busy machine may take a few starts until the service answers in time."""
    command = [str(BUILT / "gio-program"), *hosts]
    environment |= {"GIO_EXTRA_MODULES": str(BUILT / "gio"), "LD_LIBRARY_PATH": str(BUILT), "G_DEBUG": "fatal-warnings"}
    for _ in range(20):
        with Lines(*command, **environment) as lines:
            lines.find("metered=")
            if kind in lines.lines[1][1]:
                yield lines
                return
    raise AssertionError(f"never with {kind}: {lines.lines}")


class NetworkMonitor(unittest.TestCase):
    def setUp(self):
        lay()

    def test_answers_as_the_service_does(self):
        with Service(), program() as lines:
            begin = lines.find(f"{TYPE} available metered=0 connectivity=4")
            cable(False)
            begin = lines.find(f"{TYPE} unavailable metered=0 connectivity=1", begin)
            cable(True)
            lines.find(f"{TYPE} available metered=0 connectivity=4", begin)

    def test_is_as_fast_as_watch(self):
        """How long after the cable each of them has its line, in the same run."""
        with Service(), program() as ours, program(kind=OWN, GIO_USE_NETWORK_MONITOR="netlink") as own, \
                Lines(NETPATH, "watch", "--json") as watch:
            ours.find(f"{TYPE} available")
            own.find(f"{OWN} available")
            watch.find('"status":"satisfied"')
            # Where both processors are busy each process that takes part waits for its turn: some milliseconds.
            wait = 5
            for _ in range(6):
                of_watch, of_module = self.medians(watch, ours)
                print(f"median ms from `ip` to the line: netpath watch {of_watch:.1f}, GIO module {of_module:.1f}")
                if of_module <= of_watch * 1.3 + wait:
                    break
            # Of GLib's own what it says of the cable that is out: nothing.
            cable(False)
            ours.find(" unavailable", time.time() - 1)
            time.sleep(2)
            print("GLib's own says 2 s after the cable is out: " + own.lines[-1][1].split()[2])
        self.assertLessEqual(of_module, of_watch * 1.3 + wait)

    def medians(self, watch, module):
        delays = [], []
        for _ in range(15):
            for is_in in (False, True):
                begin = time.time()
                cable(is_in)
                delays[0].append(watch.find('"status":"satisfied"' if is_in else '"status":"unsatisfied"', begin) - begin)
                delays[1].append(module.find(" available" if is_in else " unavailable", begin) - begin)
        return [sorted(times)[len(times) // 2] * 1000 for times in delays]

    def test_is_out_of_the_way_where_there_is_no_service(self):
        with program(kind=OWN) as lines:
            lines.find(f"{OWN} available")

    def test_is_out_of_the_way_where_the_service_is_of_another_network(self):
        with Service("unshare", "--net"), program(kind=OWN) as lines:
            lines.find(f"{OWN} available")

    def test_is_out_of_the_way_where_the_service_does_not_answer(self):
        with Service() as service:
            service.send(signal.SIGSTOP)

            def start_time():
                with program(kind=OWN) as lines:
                    lines.find(f"{OWN} available")
                    return int(lines.lines[0][1].split()[2])
            self.assertLess(least(start_time, 2_000_000), 2_000_000)

    def test_strangers_are_not_believed(self):
        for answer in ["x" * 10000, "nonsense\n", '{"schema":2,"status":"unsatisfied"}\n']:
            with self.subTest(answer=answer[:20]), Stranger(answer), program(kind=OWN) as lines:
                lines.find(f"{OWN} available")

    def test_a_program_stands_in_for_a_service_that_has_no_room(self):
        with Stranger('{"error":"too many connections"}\n', then_close=True), program() as lines:
            cable(False)
            begin = lines.find(f"{TYPE} unavailable metered=0 connectivity=1")
            cable(True)
            lines.find(f"{TYPE} available metered=0 connectivity=4", begin)

    def test_what_is_not_known_is_spelled_as_glib_does(self):
        with Stranger('{"schema":1,"status":null}\n'), program() as lines:
            lines.find(f"{TYPE} available metered=0 connectivity=4")

    def test_portals_and_costs(self):
        cases = {
            '"status":"satisfied","isExpensive":true': "available metered=1 connectivity=4",
            '"status":"satisfied","isConstrained":true': "available metered=1 connectivity=4",
            '"status":"satisfied","internet":"portal"': "available metered=0 connectivity=3",
            '"status":"satisfied","internet":"unreachable"': "available metered=0 connectivity=2",
            '"status":"requiresConnection","internet":"portal"': "available metered=0 connectivity=3",
            '"status":"requiresConnection","internet":"unknown"': "unavailable metered=0 connectivity=1",
        }
        for members, expected in cases.items():
            with self.subTest(members), Stranger('{"schema":1,%s}\n' % members), program() as lines:
                lines.find(f"{TYPE} {expected}")

    def test_can_reach(self):
        with Service(), program("192.0.2.1", "[2001:db8::1]:80") as lines:
            lines.find("^192.0.2.1 now: reachable")
            lines.find("^192.0.2.1 later: reachable")
            lines.find(r"^\[2001:db8::1\]:80 now: Host unreachable")
            lines.find(r"^\[2001:db8::1\]:80 later: Host unreachable")

    def test_hosts_of_a_link(self):
        until(lambda: b" scope link" in subprocess.run(
            ["ip", "-6", "address", "show", "dev", "lan0", "-tentative"], check=True, stdout=-1).stdout)
        with Service(), program("[fe80::1%lan0]:80") as lines:
            lines.find(r"^\[fe80::1%lan0\]:80 now: reachable")

    def test_nothing_wakes_an_idle_program(self):
        with Service(), program() as lines:
            lines.find(f"{TYPE} available")
            self.assertEqual(until(lambda: self.wakes(lines.process.pid, 3) == 0), True)

    @staticmethod
    def wakes(process, seconds):
        """How often the threads of a process ran in so many seconds."""
        def switches():
            status = "".join(task.read_text() for task in pathlib.Path(f"/proc/{process}/task").glob("*/status"))
            return sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))
        before = switches()
        time.sleep(seconds)
        return switches() - before

    def test_is_right_when_the_service_has_gone_and_comes_again(self):
        with Service() as service, program() as lines:
            lines.find(f"{TYPE} available")
            service.end(signal.SIGKILL)
            cable(False)
            begin = lines.find(f"{TYPE} unavailable")
            with Service():
                cable(True)
                lines.find(f"{TYPE} available", begin)


if __name__ == "__main__":
    unittest.main()
