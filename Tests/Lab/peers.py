# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Others beside netpath, for the table of `make lab-table`: GLib's monitor and systemd-networkd; and datagrams."""

import ctypes
import json
import os
import select
import socket
import subprocess
import threading
import time
import timeit

from world import INTERNET, PORT, in_namespace, run

NETWORKD = "/lib/systemd/systemd-networkd"
STATE = "/run/systemd/netif/state"


def versions():
    """What the machine is made of, as its parts print themselves."""
    glib = ctypes.CDLL("libglib-2.0.so.0")
    numbers = [ctypes.c_uint.in_dll(glib, f"glib_{part}_version").value for part in ("major", "minor", "micro")]
    networkd = [run(NETWORKD, "--version").split("\n")[0]] if os.access(NETWORKD, os.X_OK) else []
    with open("/etc/debian_version") as file:
        debian = file.read().strip()
    system = os.uname()
    return ", ".join([f"Debian {debian}", f"Linux {system.release} {system.version}", f"GLib {'.'.join(map(str, numbers))}"]
                     + networkd)


def pace():
    """How long this processor takes for a loop, in seconds."""
    return min(timeit.repeat("sum(range(100_000))", number=10, repeat=5))


class Watcher:
    """What says, line by line, whether there is a network."""

    def __init__(self, name):
        self.name = name
        self.says = []

    def take(self, online):
        if not self.says or self.says[-1][1] != online:
            self.says.append((time.monotonic(), online))


class GLib(Watcher):
    def __init__(self, folder):
        super().__init__("GLib")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", "here", f"{os.environ['LAB_PEERS']}/gnetworkmonitor"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=open(f"{folder}/glib.log", "w"), text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.take(json.loads(line)["available"])


class Networkd(Watcher):
    """Online where its state is `routable`. It configures nothing here; with /sys not to be written it does not wait for udev."""

    def __init__(self, folder):
        super().__init__("networkd")
        os.makedirs("/run/systemd/netif/links", exist_ok=True)
        if os.path.exists(STATE):
            os.unlink(STATE)
        log = open(f"{folder}/networkd.log", "w")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", "here", "bash", "-c",
             f"chown -R systemd-network /run/systemd/netif; mount -o remount,bind,ro /sys; exec {NETWORKD}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while self.process.poll() is None:
            try:
                with open(STATE) as file:
                    self.take("OPER_STATE=routable\n" in file.read())
            except OSError:
                pass
            time.sleep(0.05)


class Truth(Watcher):
    """Datagrams of both families, 20 times a second: lost from the first on that has no answer within a second."""

    def __init__(self, world):
        super().__init__("datagrams")
        self.clients = {family: in_namespace("here", lambda: socket.socket(family, socket.SOCK_DGRAM))
                        for family in world.families}
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self):
        number, answered = 0, None
        begin = time.monotonic()
        while True:
            for family, client in self.clients.items():
                try:
                    client.sendto(b"%d" % number, socket.MSG_DONTWAIT, (INTERNET[family][number % 2], PORT))
                except OSError:
                    pass
            number += 1
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                for client in select.select(list(self.clients.values()), [], [], max(0, until - time.monotonic()))[0]:
                    try:
                        client.recv(64)
                        answered = time.monotonic()
                        self.take(True)
                    except OSError:
                        pass
            if time.monotonic() - (answered or begin) > 1 and (not self.says or self.says[-1][1]):
                self.says.append(((answered or begin) + 0.05, False))


class Peers:
    def __init__(self, world, title, netpath):
        self.title = title
        self.truth = Truth(world)
        self.others = [GLib(world.folder)]
        self.others += [Networkd(world.folder)] if os.access(NETWORKD, os.X_OK) else []
        self.watchers = [netpath] + self.others
        self.file = open(f"{world.folder}/table.jsonl", "w")
        self.begin = time.monotonic()

    def write(self, step):
        """What each says at the end of a step, in how many changes, and how long after the step began it came to say so."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and not all(watcher.says for watcher in [self.truth] + self.watchers):
            time.sleep(0.05)
        told = {}
        for watcher in [self.truth] + self.watchers:
            changes = [moment for moment, _ in watcher.says if moment >= self.begin]
            told[watcher.name] = {"online": watcher.says[-1][1] if watcher.says else None, "changes": len(changes),
                                  "after": round(changes[-1] - self.begin, 3) if changes else None}
        self.file.write(json.dumps({"row": self.title, "step": step, "told": told}) + "\n")
        self.file.flush()
        self.begin = time.monotonic()

    def end(self):
        for other in self.others:
            other.process.kill()
