# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Netpath's plugin in a program that knows Qt alone, and Qt's backend `glib`, which asks GLib's monitor, beside it."""

import contextlib
import os
import tempfile
import unittest

from lab import *
from test_gio import Lines

PROGRAM = BUILT / "qt-program"
# NetworkManager is not asked.
ENVIRONMENT = {
    "QT_PLUGIN_PATH": str(BUILT / "qt"), "LD_LIBRARY_PATH": str(BUILT), "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/none"}


def answers(reachability, portal=0, medium=1, metered=0, backend="netpath"):
    return f" {backend} reachability={reachability} portal={portal} medium={medium} metered={metered}$"


@contextlib.contextmanager
def program(*arguments, backend=None, **environment):
    """The program, with the backend; a busy machine may take a few starts until the service answers in time."""
    for _ in range(20):
        with Lines(str(PROGRAM), *arguments, **(ENVIRONMENT | environment)) as lines:
            lines.find("no backend" if backend is None else "portal=")
            if backend is None or f" {backend} " in lines.lines[1][1]:
                yield lines
                return
    raise AssertionError(f"never with {backend}: {lines.lines}")


@needs(PROGRAM.exists(), "NO QT PLUGIN IS TESTED: it was not built (qt6-base-dev, qt6-base-private-dev)")
class NetworkInformation(unittest.TestCase):
    def setUp(self):
        lay()

    def test_answers_as_the_service_does(self):
        for name in [(), ("netpath",)]:
            with self.subTest(name), Service(), program(*name, backend="netpath") as lines:
                begin = lines.find(answers(4))
                cable(False)
                begin = lines.find(answers(1, medium=0), begin)
                cable(True)
                lines.find(answers(4), begin)

    def test_is_out_of_the_way_where_there_is_no_service(self):
        self.assert_starts_within(1, backend="glib")
        self.assert_starts_within(1, "netpath")

    def test_is_out_of_the_way_where_the_service_does_not_answer(self):
        with Service() as service:
            service.send(signal.SIGSTOP)
            self.assert_starts_within(2, backend="glib")

    def assert_starts_within(self, seconds, *arguments, backend=None):
        def start_time():
            with program(*arguments, backend=backend) as lines:
                return int(lines.lines[0][1].split()[2]) / 1e6
        self.assertLess(least(start_time, seconds), seconds)

    def test_portals_media_and_costs(self):
        cases = {
            '"status":"satisfied","isExpensive":true': answers(4, metered=1),
            '"status":"satisfied","isConstrained":true': answers(4, metered=1),
            '"status":"satisfied","internet":"portal"': answers(3, portal=1),
            '"status":"satisfied","internet":"unreachable"': answers(3),
            '"status":"requiresConnection","internet":"portal"': answers(3, portal=1),
            '"status":"requiresConnection","internet":"unknown"': answers(1, medium=0),
            '"status":null': answers(0, medium=0),
        }
        wired = '"interfaces":[{"name":"lan0","index":2,"type":"wired"}]'
        types = {"wifi": 3, "cellular": 2, "other": 0, "loopback": 0}
        cases = {f"{members},{wired}": expected for members, expected in cases.items()} | {
            '"status":"satisfied",%s' % wired.replace("wired", name): answers(4, medium=medium) for name, medium in types.items()}
        for members, expected in cases.items():
            with self.subTest(members), Stranger('{"schema":1,%s}\n' % members), program(backend="netpath") as lines:
                lines.find(expected)

    def test_strangers_are_not_believed(self):
        for answer in ["x" * 10000, "nonsense\n", '{"schema":2,"status":"unsatisfied"}\n']:
            with self.subTest(answer=answer[:20]), Stranger(answer), program(backend="glib") as lines:
                lines.find(" glib ")

    def test_is_right_when_the_service_has_gone_and_comes_again(self):
        with Service() as service, program(backend="netpath") as lines:
            lines.find(answers(4))
            service.end(signal.SIGKILL)
            cable(False)
            begin = lines.find(answers(1, medium=0))
            with Service():
                cable(True)
                lines.find(answers(4), begin)

    def test_the_backend_glib_asks_netpath_through_its_module(self):
        modules = {"GIO_EXTRA_MODULES": str(BUILT / "gio"), "GIO_USE_NETWORK_MONITOR": "netpath"}
        with Service():
            # GLib's own monitor, which it takes where the service does not answer in time, does not see the cable.
            for _ in range(20):
                with program("glib", backend="glib", **modules) as lines:
                    begin = lines.find(answers(4, medium=0, backend="glib"))
                    cable(False)
                    try:
                        begin = lines.find(answers(1, medium=0, backend="glib"), begin, 5)
                    except AssertionError:
                        cable(True)
                        continue
                    cable(True)
                    lines.find(answers(4, medium=0, backend="glib"), begin)
                    return
        self.fail("the backend never sees what netpath does")

    @needs(shutil.which("valgrind"), "MEMORY ERRORS ARE NOT LOOKED FOR: there is no valgrind")
    def test_memory_errors(self):
        valgrind = ["valgrind", "-q", "--error-exitcode=9", str(PROGRAM)]
        with tempfile.TemporaryFile("w+") as errors, Stranger(LINE % "satisfied"), subprocess.Popen(
                [*valgrind, "netpath"], env=os.environ | ENVIRONMENT, stdout=-1, stderr=errors, text=True) as process:
            lines = [process.stdout.readline(), process.stdout.readline()]
            process.kill()
            process.wait()
            errors.seek(0)
            reports = errors.read()
        if "no backend" in lines[0]:
            self.skipTest("this machine is too busy: valgrind has no answer in time")
        self.assertIn("netpath reachability=4", lines[1])
        self.assertEqual(reports, "")


if __name__ == "__main__":
    unittest.main()
