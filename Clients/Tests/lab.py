# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""A network of its own, a netpath in it, and what answers in its place. `run` enters the namespaces."""

import contextlib
import ctypes
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = pathlib.Path(os.environ.get("NETPATH_CLIENTS", ROOT / ".build/clients"))
NETPATH = os.environ["NETPATH_BINARY"]
SOCKET = "/run/netpath/netpath.sock"
# How long a busy machine may take for anything.
PATIENCE = 30
NO_PROGRAM, NO_WATCH, AFTER_SERVICE, STALE = 1, 2, 4, 1
UNKNOWN, UNSATISFIED, REQUIRES_CONNECTION, SATISFIED = range(4)

LINE = (
    '{"schema":1,"status":"%s","reason":{"code":"routed","message":"as a test says"},"stale":false,"interfaces":[],'
    '"internet":"unknown","isExpensive":false,"isConstrained":false,"sequence":1}\n'
)


def needs(is_there, reason):
    """Skips what cannot be tested here, loudly; in CI that is a failure."""
    if not is_there and os.environ.get("NETPATH_CI"):
        def fail(*_):
            raise AssertionError(reason)
        return lambda test: type(test.__name__, (unittest.TestCase,), {"test_is_not_skipped": fail}) \
            if isinstance(test, type) else fail
    if not is_there:
        print(f"SKIPPED: {reason}", flush=True)
    return unittest.skipUnless(is_there, reason)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def cable(is_in):
    """Puts the cable in, or takes it out."""
    ip("link", "set", "far0", "up" if is_in else "down")
    if is_in:
        ip("route", "replace", "default", "via", "192.0.2.1")


def lay():
    """Makes the network anew: lan0 with an address and a gateway."""
    subprocess.run(["ip", "link", "del", "lan0"], stderr=subprocess.DEVNULL)
    ip("link", "set", "lo", "up")
    ip("link", "add", "lan0", "type", "veth", "peer", "name", "far0")
    ip("link", "set", "lan0", "up")
    ip("address", "add", "192.0.2.2/24", "dev", "lan0")
    ip("link", "set", "far0", "up")
    until(lambda: subprocess.run(["ip", "route", "replace", "default", "via", "192.0.2.1"]).returncode == 0)


def until(condition, patience=PATIENCE):
    """Waits for what has to become true, and returns it."""
    end = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError("this never came true")
        time.sleep(0.005)
    return value


def least(measure, limit):
    """The least of up to five measurements, to which a busy machine adds; the first one below the limit is enough."""
    values = [measure()]
    while values[-1] >= limit and len(values) < 5:
        values.append(measure())
    return min(values)


class Service:
    """A service of netpath; the one of this network, unless `prefix` says otherwise."""

    def __init__(self, *prefix):
        self.process = subprocess.Popen([*prefix, NETPATH, "run"], stderr=subprocess.DEVNULL)
        until(self.answers)

    @staticmethod
    def answers():
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            try:
                client.connect(SOCKET)
                client.sendall(b'{"request":"status"}\n')
                return b'"status":"' in client.recv(65536)
            except OSError:
                return False

    def send(self, number):
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            until(self.is_stopped)

    def is_stopped(self):
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        return all(thread.read_text().rpartition(")")[2].split()[0] in "Tt" for thread in threads)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.send_signal(signal.SIGCONT)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()
        shutil.rmtree("/run/netpath", ignore_errors=True)


class Stranger:
    """Listens where the service does, and writes what it is told to, once it was asked."""

    def __init__(self, *parts, path=SOCKET, reads=True, pause=0, then_close=False, is_full=False):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.parts, self.reads, self.pause, self.then_close = parts, reads, pause, then_close
        self.path, self.asked, self.held, self.answered = path, [], [], 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(0 if is_full else 64)
        self.room = threading.Event()
        with contextlib.suppress(BlockingIOError):
            while is_full:
                self.held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
                self.held[-1].connect(path)
        if not is_full:
            self.room.set()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        # Until then the queue of connections is full.
        self.room.wait()
        with contextlib.suppress(OSError):
            while True:
                self.held.append(self.listener.accept()[0])
                threading.Thread(target=self.answer, args=(self.held[-1],), daemon=True).start()

    def answer(self, client):
        with contextlib.suppress(OSError):
            if self.reads:
                self.asked.append(client.recv(4096))
            for part in self.parts:
                client.sendall(part.encode() if isinstance(part, str) else part)
                time.sleep(self.pause)
            if self.then_close:
                client.close()
        # One that has enough closes the connection.
        self.answered += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.room.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for client in self.held:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            client.close()
        shutil.rmtree(os.path.dirname(self.path), ignore_errors=True)


class Path(ctypes.Structure):
    _fields_ = [
        ("change", ctypes.c_uint64), ("status", ctypes.c_int32), ("internet", ctypes.c_int32), ("flags", ctypes.c_uint32),
        ("interface_index", ctypes.c_uint32), ("interface_name", ctypes.c_char * 32), ("interface_type", ctypes.c_char * 16),
        ("reason", ctypes.c_char * 48), ("message", ctypes.c_char * 256), ("portal", ctypes.c_char * 512),
    ]


class Host(ctypes.Structure):
    _fields_ = [
        ("question", ctypes.c_int64), ("status", ctypes.c_int32), ("reserved", ctypes.c_uint32),
        ("reason", ctypes.c_char * 48), ("message", ctypes.c_char * 256),
    ]


library = ctypes.CDLL(str(BUILT / "libnetpath.so"))
library.netpath_reach.restype = ctypes.c_int64
library.netpath_reach.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.netpath_cancel.argtypes = [ctypes.c_void_p, ctypes.c_int64]


class Client:
    """A handle of libnetpath, and how long the longest call took."""

    def __init__(self, socket=None, program=NETPATH, flags=0):
        self.handle, self.longest = ctypes.c_void_p(), 0.0
        arguments = [None if text is None else os.fsencode(text) for text in (socket, program)]
        result = self.timed(library.netpath_open, ctypes.byref(self.handle), *arguments, flags, handle=False)
        assert result == 0, os.strerror(-result)
        self.descriptor = library.netpath_fd(self.handle)

    def timed(self, function, *arguments, handle=True):
        before = self.own_time()
        result = function(*([self.handle] if handle else []), *arguments)
        self.longest = max(self.longest, self.own_time() - before)
        return result

    @staticmethod
    def own_time():
        """Seconds, without those in which this thread waited for a processor (proc(5), schedstat)."""
        with open("/proc/thread-self/schedstat") as file:
            return time.monotonic() - int(file.read().split()[1]) / 1e9

    def process(self, timeout=0.0):
        if select.select([self.descriptor], [], [], timeout)[0]:
            return self.timed(library.netpath_process)
        return 0

    @property
    def path(self):
        path = Path()
        assert self.timed(library.netpath_current, ctypes.byref(path), ctypes.sizeof(path)) == 0
        return path

    def next(self):
        path = Path()
        return path if self.timed(library.netpath_next, ctypes.byref(path), ctypes.sizeof(path)) == 1 else None

    def until(self, condition, patience=PATIENCE, asks=True):
        """Runs the loop until the path is as wanted; returns it."""
        end = time.monotonic() + patience
        path = self.path if asks else self.next() or Path()
        while not condition(path):
            if time.monotonic() > end:
                raise AssertionError(f"never so; last {path.status} {path.reason} {path.message} flags {path.flags}")
            self.process(0.05)
            path = self.path if asks else self.next() or path
        return path

    def until_status(self, status):
        return self.until(lambda path: path.status == status and not path.flags & STALE)

    def until_reason(self, reason):
        return self.until(lambda path: path.reason == reason.encode())

    def reach(self, host):
        question = self.timed(library.netpath_reach, host.encode())
        return question

    def reached(self):
        host = Host()
        return host if self.timed(library.netpath_reached, ctypes.byref(host), ctypes.sizeof(host)) == 1 else None

    def close(self):
        if self.handle:
            self.timed(library.netpath_close)
            self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
