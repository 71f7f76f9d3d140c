# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""The Python package beside the real program, and beside what only pretends to be it."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import netpath
from lab import *
from netpath import Internet, Reachability, Status
from netpath._values import Unusable, path as read_path
from netpath._waiting import within


async def first(condition):
    """The first path of `watch` that is as wanted."""
    async with contextlib.aclosing(netpath.watch()) as paths:
        return await asyncio.wait_for(find(paths, condition), PATIENCE)


async def find(paths, condition):
    async for path in paths:
        if condition(path):
            return path


def sure(status):
    return lambda path: path.status is status and not path.is_stale


class Alone(unittest.TestCase):
    """With what NETPATH_PROGRAM names, or without any program."""

    def without_program(self):
        os.environ["NETPATH_PROGRAM"] = ""
        self.addCleanup(os.environ.__setitem__, "NETPATH_PROGRAM", NETPATH)


class Answers(Alone):
    def setUp(self):
        lay()

    def test_current_asks_the_service(self):
        self.without_program()
        with Service():
            # A busy machine may not answer within a second.
            path = until(lambda: (path := netpath.current()).is_satisfied and path)
            self.assertIs(path.status, Status.SATISFIED)
            self.assertEqual((path.interface.name, path.interface.type, path.gateways), ("lan0", "wired", ("192.0.2.1",)))
            self.assertEqual(path.document["schema"], 1)
            cable(False)
            until(lambda: netpath.current().reason.code == "noCarrier")

    def test_current_asks_the_program_where_there_is_no_service(self):
        self.assertIs(netpath.current(PATIENCE).status, Status.SATISFIED)
        with Service() as service:
            service.send(signal.SIGSTOP)
            self.assertIs(netpath.current(PATIENCE).status, Status.SATISFIED)

    def test_current_does_not_wait_for_ever(self):
        self.without_program()
        self.assertEqual(netpath.current().reason.code, "noService")
        with Service() as service:
            service.send(signal.SIGSTOP)
            begin = time.monotonic()
            self.assertEqual(netpath.current().reason.code, "noAnswer")
            self.assertLess(time.monotonic() - begin, 10)

    def test_watch_follows_the_service_and_what_comes_after_it(self):
        async def run():
            async with contextlib.aclosing(netpath.watch()) as paths:
                with Service() as service:
                    await find(paths, sure(Status.SATISFIED))
                    cable(False)
                    self.assertEqual((await find(paths, sure(Status.UNSATISFIED))).reason.code, "noCarrier")
                    service.end(signal.SIGKILL)
                    self.assertTrue((await find(paths, lambda path: path.is_stale)).is_stale)
                    # The program stands in.
                    cable(True)
                    await find(paths, sure(Status.SATISFIED))
                    with Service():
                        cable(False)
                        await find(paths, sure(Status.UNSATISFIED))
        asyncio.run(asyncio.wait_for(run(), 4 * PATIENCE))

    def test_watch_says_unknown_where_nothing_answers(self):
        self.without_program()
        path = asyncio.run(first(sure(Status.UNKNOWN)))
        self.assertEqual(path.reason.code, "noService")
        with Service() as service:
            service.send(signal.SIGSTOP)
            self.assertEqual(asyncio.run(first(sure(Status.UNKNOWN))).reason.code, "noAnswer")

    def test_watch_leaves_no_program(self):
        asyncio.run(first(sure(Status.SATISFIED)))
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_watch_ends_whenever_it_is_cancelled(self):
        async def follow():
            async for _ in netpath.watch():
                pass

        async def run():
            # From before the service is asked until after it has answered.
            for moment in range(150):
                task = asyncio.ensure_future(follow())
                await asyncio.sleep(moment * 0.00004)
                for _ in range(1 + moment % 2):
                    task.cancel()
                    await asyncio.sleep(0)
                await asyncio.wait({task}, timeout=PATIENCE)
                self.assertTrue(task.done() and task.cancelled(), f"cancelled {moment * 0.04:.2f} ms after it began")
        with Service():
            asyncio.run(run())

    def test_a_result_that_comes_together_with_a_cancellation_does_not_hide_it(self):
        async def run():
            answer = asyncio.get_running_loop().create_future()

            async def wait():
                return await answer

            task = asyncio.ensure_future(within(PATIENCE, wait()))
            for _ in range(3):
                await asyncio.sleep(0)
            answer.set_result(1)
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            self.assertTrue(task.cancelled())
        asyncio.run(run())

    def test_reach(self):
        async def run():
            return await asyncio.gather(*map(netpath.reach, ["192.0.2.1", "2001:db8::1", "--help", "", "a\0b"]))
        answers = asyncio.run(run())
        self.assertEqual([answer.status for answer in answers], [
            Reachability.REACHABLE, Reachability.UNREACHABLE, Reachability.UNKNOWN, Reachability.UNKNOWN,
            Reachability.UNKNOWN])
        self.assertTrue(answers[0].is_reachable)
        self.assertEqual(answers[0].reason.code, "routed")


class Strangers(Alone):
    def setUp(self):
        self.without_program()

    def expect(self, code, *parts, **options):
        with Stranger(*parts, **options):
            # A busy machine may not answer within a second.
            until(lambda: netpath.current().reason.code == code)
            self.assertEqual(asyncio.run(first(lambda path: path.reason.code == code)).status, Status.UNKNOWN)

    def test_what_they_say(self):
        cases = {
            "nonsense\n": "badAnswer", "[]\n": "badAnswer", '{"schema":1,"status":NaN}\n': "badAnswer",
            '{"schema":true,"status":null}\n': "badAnswer", "[" * 100_000 + "\n": "badAnswer",
            '{"schema":2,"status":"satisfied"}\n': "newerVersion", '{"error":"too many"}\n': "refused",
            '{"schema":1,"status":"splendid"}\n': "noVerdict", b'{"schema":1,"status":"\xff"}\n': "badAnswer",
        }
        for line, code in cases.items():
            with self.subTest(line=line[:40]):
                self.expect(code, line)

    def test_silence_and_lines_without_end(self):
        self.expect("noAnswer")
        self.expect("noAnswer", "x" * 1_000_000)
        self.expect("noService", then_close=True)

    def test_a_line_that_was_begun_has_to_end(self):
        with Stranger(LINE % "satisfied", '{"schema"', pause=0.2):
            path = asyncio.run(first(lambda path: path.status is Status.UNKNOWN))
            self.assertEqual(path.reason.code, "noAnswer")

    def test_a_service_of_another_network(self):
        with Service("unshare", "--net"):
            until(lambda: netpath.current().reason.code == "otherNetwork")

    def test_members_of_other_types_are_not_known(self):
        path = read_path(b'{"schema":1,"status":"satisfied","reason":[],"interfaces":[1,{"name":2,"index":true,"type":[]}],'
                         b'"internet":{},"dnsServers":[1,"a"],"gateways":null,"isExpensive":1,"portalURL":7}')
        self.assertEqual((path.interfaces[0].name, path.interfaces[0].index, path.dns_servers), ("", None, ("a",)))
        self.assertEqual((path.internet, path.is_expensive, path.portal_url), (Internet.UNKNOWN, False, None))


class Package(unittest.TestCase):
    def test_builds_as_a_wheel(self):
        able = [python for python in (sys.executable, "/usr/bin/python3") if os.access(python, os.X_OK) and not subprocess.run(
            [python, "-c", "import setuptools, wheel, pip"], stderr=subprocess.DEVNULL).returncode]
        if not able:
            self.skipTest("NO WHEEL IS BUILT: no Python here has pip, setuptools and wheel")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "Clients/Python", folder + "/source")
            subprocess.run(
                [able[0], "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
                 "--disable-pip-version-check", "--wheel-dir", folder, folder + "/source"], check=True)
            wheel = folder + "/netpath-0.1.0-py3-none-any.whl"
            program = "import netpath, sys; print(netpath.__file__, netpath.current(1).reason.code)"
            done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {wheel!r}); {program}"],
                                  check=True, stdout=-1, env={"NETPATH_PROGRAM": ""}, text=True)
            self.assertEqual(done.stdout.strip(), wheel + "/netpath/__init__.py noService")
            self.assertIn("netpath/py.typed", subprocess.run(
                [sys.executable, "-m", "zipfile", "-l", wheel], check=True, stdout=-1, text=True).stdout)


if __name__ == "__main__":
    unittest.main()
