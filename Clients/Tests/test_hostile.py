# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""libnetpath in a program that has no descriptors left or forks, and, with the sanitizers, beside what means it ill."""

import os
import resource
import subprocess
import tempfile
import unittest

from lab import *

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def has_sanitizers():
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(["cc", *SANITIZERS, "-x", "c", "-", "-o", folder + "/a"], input=b"int main(void) { return 0; }",
                              stderr=subprocess.DEVNULL).returncode == 0


class Host(unittest.TestCase):
    def setUp(self):
        lay()

    def test_is_right_again_when_there_are_descriptors_again(self):
        with Service() as service, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)
            self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
            service.end(signal.SIGKILL)
            cable(False)
            with Service():
                resource.setrlimit(resource.RLIMIT_NOFILE, (3, limit[1]))
                for _ in range(50):
                    library.netpath_process(client.handle)
                    time.sleep(0.01)
                refused = ctypes.c_void_p()
                self.assertEqual(library.netpath_open(ctypes.byref(refused), None, None, NO_PROGRAM), -24)
                resource.setrlimit(resource.RLIMIT_NOFILE, limit)
                client.until_status(UNSATISFIED)

    def test_a_child_that_closes_its_copy_disturbs_no_one(self):
        with Service(), Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            child = os.fork()
            if child == 0:
                library.netpath_process(client.handle)
                if library.netpath_reach(client.handle, b"192.0.2.1") != -1:
                    os._exit(1)
                library.netpath_close(client.handle)
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            cable(False)
            client.until_status(UNSATISFIED)

    def test_a_symbolic_link_to_the_socket(self):
        with Service(), tempfile.TemporaryDirectory() as folder:
            os.symlink(SOCKET, folder + "/socket")
            with Client(socket=folder + "/socket", flags=NO_PROGRAM) as client:
                client.until_status(SATISFIED)
            os.symlink(folder + "/loop", folder + "/loop")
            with Client(socket=folder + "/loop", flags=NO_PROGRAM) as client:
                self.assertEqual(client.path.status, UNKNOWN)

    def test_what_is_no_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "file").touch()
            os.mkfifo(folder + "/pipe")
            for name in ("file", "pipe", "none", ".", "file/socket", "x" * 200):
                with self.subTest(name), Client(socket=f"{folder}/{name}", flags=NO_PROGRAM) as client:
                    client.process(0.05)
                    self.assertEqual((client.path.status, client.path.reason), (UNKNOWN, b"noService"))


@needs(has_sanitizers(), "NOTHING IS TESTED WITH THE SANITIZERS: this compiler has none")
class Sanitized(unittest.TestCase):
    """The library and the toolkits' modules, built with the sanitizers of addresses and of what C does not define."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.built = folder.name
        compilers = [f"{name}={' '.join([program, *SANITIZERS])}" for name, program in (("CC", "cc"), ("CXX", "c++"))]
        subprocess.run(
            ["make", "-s", "-C", f"{ROOT}/Clients", f"OUT={cls.built}", "CFLAGS=-g -O1", "HARDENING=", *compilers, "c", "gio", "qt"],
            check=True)
        cls.programs = [[cls.built + "/follow"], [cls.built + "/gio-program", "192.0.2.1"]]
        if os.path.exists(cls.built + "/qt-program"):
            cls.programs.append([cls.built + "/qt-program"])

    def test_beside_strangers(self):
        whole = (LINE % "satisfied").encode()
        strangers = {
            "a reply of 100 MB": [b'{"schema":1,"x":"', *[b"x" * 1_000_000] * 100],
            "many lines": [whole * 5000],
            "half lines": [whole[:40], whole[40:] + whole[:9]],
            "every byte": [bytes([byte]) * 100 for byte in range(256)],
            "deep": [b'{"schema":1,"a":' + b"[" * 100_000],
            "zeros": [b"\0" * 100_000],
            "long texts": [b'{"schema":1,"status":"satisfied","reason":{"code":"%s","message":"%s"}}\n' % (b"c" * 9999, b"m" * 9999)],
            "newer": [b'{"schema":99999999999999999999,"status":"satisfied"}\n'],
            "a flood of refusals": [b'{"error":"no"}\n' * 1000],
        }
        # A toolkit's module listens to what has answered it once, and leaves the others alone.
        for begin in ([], [whole]):
            for closes in (False, True):
                for name, parts in strangers.items():
                    with self.subTest(name, begin=begin, closes=closes):
                        self.outlive(Stranger(*begin, *parts, then_close=closes))

    def outlive(self, stranger):
        environment = os.environ | {
            "NETPATH_PROGRAM": "", "ASAN_OPTIONS": "detect_leaks=0", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/none",
            "GIO_EXTRA_MODULES": self.built + "/gio", "QT_PLUGIN_PATH": self.built + "/qt", "LD_LIBRARY_PATH": self.built}
        with stranger, contextlib.ExitStack() as stack:
            errors = [stack.enter_context(tempfile.TemporaryFile()) for _ in self.programs]
            running = [
                stack.enter_context(subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=file, env=environment))
                for program, file in zip(self.programs, errors)]
            try:
                until(lambda: stranger.answered >= len(running))
                time.sleep(0.2)
                ended = [process.args for process in running if process.poll() is not None]
            finally:
                for process in running:
                    process.kill()
            for file in errors:
                file.seek(0)
                self.assertEqual(file.read(), b"")
            self.assertEqual(ended, [])


if __name__ == "__main__":
    unittest.main()
