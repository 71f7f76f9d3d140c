# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""`Clients/Tests/run table`: what GLib and Qt programs say with netpath's module or plugin, and with GLib's and Qt's own, in the
same run."""

import contextlib
import os
import signal
import tempfile
import time
import unittest

from lab import *
from test_gio import OWN, program
from test_qt import PROGRAM as QT, program as qt_program

# How long each may take to say what is so.
LIMIT = 3.0


def batch(lines):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("\n".join(lines))
        file.flush()
        subprocess.run(["ip", "-batch", file.name], check=True)


def storm(stopped):
    """More events than the socket of one who does not read them holds."""
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    for word in ("add", "del"):
        batch(f"route {word} 10.{index >> 8 & 255}.{index & 255}.0/24 dev lo" for index in range(20_000))
    for process in stopped:
        os.kill(process, signal.SIGCONT)


def tunnel():
    ip("link", "add", "vpn0", "type", "vxlan", "id", "1", "remote", "198.51.100.1", "dstport", "4789", "dev", "lan0")
    ip("link", "set", "vpn0", "up")
    ip("route", "add", "198.51.100.1", "via", "192.0.2.1")
    ip("address", "add", "10.9.0.2/24", "dev", "vpn0")
    ip("route", "replace", "default", "via", "10.9.0.1")


def after_storm(stopped):
    storm(stopped)
    begin = time.time()
    ip("route", "del", "default")
    return begin


def costly_default():
    ip("route", "del", "default")
    ip("route", "add", "default", "via", "192.0.2.1", "metric", "10")


# What happens; what is laid before; the event; whether there is a network then.
ROWS = [
    ("the cable is out", None, lambda _: cable(False), False),
    ("the cable is in again", lambda: cable(False), lambda _: cable(True), True),
    ("the default route is gone", None, lambda _: ip("route", "del", "default"), False),
    ("a route rejects what would go out", costly_default, lambda _: ip("route", "add", "unreachable", "default", "metric", "1"), False),
    ("a rule drops what would go out", None, lambda _: ip("rule", "add", "priority", "99", "blackhole"), False),
    ("the only default is in a table that no rule leads to",
     lambda: ip("route", "del", "default"),
     lambda _: ip("route", "add", "default", "via", "192.0.2.1", "table", "77"), False),
    ("a VPN is there, and nothing carries it", tunnel, lambda _: cable(False), False),
    ("the default route is gone after a storm of events", None,
     after_storm, False),
]


class Table(unittest.TestCase):
    def test_who_is_right(self):
        names = ["netpath's module", "GLib's own", *(["netpath's plugin", "Qt's own (`glib`)"] if QT.exists() else [])]
        print(f"\n| what happens | truth | {' | '.join(names)} |\n|{'---|' * (2 + len(names))}")
        wrong = []
        for name, before, event, truth in ROWS:
            try:
                answers = self.row(before, event, truth)
            except subprocess.CalledProcessError as error:
                print(f"| {name} | not here: {error} |{' |' * len(names)}")
                continue
            finally:
                subprocess.run(["ip", "rule", "del", "priority", "99"], stderr=subprocess.DEVNULL)
                subprocess.run(["ip", "link", "del", "vpn0"], stderr=subprocess.DEVNULL)
                subprocess.run(["ip", "route", "flush", "table", "77"], stderr=subprocess.DEVNULL)
            print(f"| {name} | {'available' if truth else 'unavailable'} | {' | '.join(answers)} |", flush=True)
            wrong += [name] * (not all(answer.startswith("right") for answer in answers[::2]))
        self.assertEqual(wrong, [])

    def row(self, before, event, truth):
        lay()
        if before:
            before()
        own = {"GIO_USE_NETWORK_MONITOR": "netlink"}
        with contextlib.ExitStack() as stack:
            stack.enter_context(Service())
            programs = [program(), program(kind=OWN, **own)]
            if QT.exists():
                programs += [qt_program("netpath", backend="netpath"), qt_program("glib", backend="glib", **own)]
            programs = [stack.enter_context(each) for each in programs]
            begin = time.time()
            begin = event([each.process.pid for each in programs[1::2]]) or begin
            end = time.monotonic() + LIMIT
            until(lambda: time.monotonic() > end or all(self.says(each) == truth for each in programs))
            return [self.verdict(each, truth, begin) for each in programs]

    @staticmethod
    def is_available(line):
        return " available " in line or "reachability=4" in line

    def says(self, lines):
        return self.is_available(lines.lines[-1][1])

    def verdict(self, lines, truth, begin):
        if self.says(lines) != truth:
            return f"WRONG after {LIMIT:.0f} s"
        # The first of the last lines that say so.
        moment = None
        for _, line in reversed(lines.lines[1:]):
            if self.is_available(line) != truth:
                break
            moment = float(line.split()[0])
        if moment < begin:
            return "right, as before"
        return f"right after {(moment - begin) * 1000:.0f} ms"


if __name__ == "__main__":
    unittest.main()
