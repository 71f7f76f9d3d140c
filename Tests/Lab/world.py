# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""The network of a scenario: a namespace `here` for netpath, `far` for what answers, and what runs in them."""

import ctypes
import os
import socket
import struct
import subprocess
import threading
import time
from fcntl import ioctl

libc = ctypes.CDLL(None, use_errno=True)
# Answers to these come from `far`: one address of each half that netpath takes for the internet, in both families.
INTERNET = {socket.AF_INET: ["9.0.0.1", "193.0.0.1"], socket.AF_INET6: ["2600::1", "3000::1"]}
PORT = 9999


class Wrong(Exception):
    """What was seen is not what had to be seen."""


def in_namespace(name, action):
    """What a function returns that is called in a network namespace, on a thread of its own."""
    result = []

    def call():
        descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY)
        if libc.setns(descriptor, 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        os.close(descriptor)
        result.append(action())

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return result[0]


def until(what, condition, limit=120):
    """Waits until a condition holds, and returns what it returned."""
    deadline = time.monotonic() + limit
    while True:
        begin = time.monotonic()
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise Wrong(f"after {limit} s there is still no {what}")
        # The machine has one processor, which what is waited for needs as well.
        time.sleep(max(0.05, time.monotonic() - begin))


def run(*command, check=True):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise Wrong(f"'{' '.join(command)}' fails: {done.stdout}{done.stderr}".strip())
    return done.stdout


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class World:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.modules = []
        # The descriptors of what is there only while a program has it open.
        self.held = []
        # Whether nothing in `far` answers datagrams.
        self.is_silent = False
        for space in ("here", "far"):
            run("ip", "netns", "add", space)
            self.link(space, "link set lo up")
        self.families = [socket.AF_INET] + ([socket.AF_INET6] if os.path.exists("/proc/sys/net/ipv6") else [])
        for family in self.families:
            self.link("far", *[f"address add {address} dev lo" for address in INTERNET[family]])
            echo = in_namespace("far", lambda: socket.socket(family, socket.SOCK_DGRAM))
            if family == socket.AF_INET6:
                echo.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            echo.bind(("", PORT))
            threading.Thread(target=self._answer, args=(echo,), daemon=True).start()

    def _answer(self, echo):
        while True:
            data, sender = echo.recvfrom(64)
            # No router forwards what comes from a link-local address.
            if self.is_silent or sender[0].startswith("fe80:"):
                continue
            try:
                echo.sendto(data, sender)
            except OSError:
                pass

    def datagrams_return(self):
        """Whether a datagram to one of the addresses comes back."""
        for attempt in range(4):
            for family in self.families:
                with in_namespace("here", lambda: socket.socket(family, socket.SOCK_DGRAM)) as client:
                    client.settimeout(0.3)
                    try:
                        client.sendto(b"%d" % attempt, (INTERNET[family][attempt % 2], PORT))
                        client.recv(64)
                        return True
                    except OSError:
                        time.sleep(0.05)
        return False

    def link(self, space, *lines):
        """`ip` with each of the lines."""
        done = subprocess.run(["ip", "-n", space, "-batch", "-"], input="\n".join(lines), capture_output=True, text=True)
        if done.returncode != 0:
            raise Wrong(f"ip: {done.stderr.strip()} in {'; '.join(lines)}")

    def here(self, *lines):
        self.link("here", *lines)

    def far(self, *lines):
        self.link("far", *lines)

    def load(self, module, *options):
        """Loads a module for this scenario alone, which is unloaded at its end."""
        run("modprobe", module, *options)
        self.modules.append(module)

    def run_in(self, space, *command, check=True):
        return run("ip", "netns", "exec", space, *command, check=check)

    def start(self, space, name, *command):
        """Starts a program whose messages go to a file of its name."""
        with open(f"{self.folder}/{name}.log", "w") as log:
            return subprocess.Popen(
                ["ip", "netns", "exec", space, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_for_link(self, name):
        until(f"{name} with a link", lambda: '"operstate":"UP"' in run("ip", "-n", "here", "-json", "link", "show", name))

    def veth(self, name, subnet, route=True):
        """A cable: NAME in `here`, NAME-far in `far`, with the subnet 10.SUBNET.0.0/24 between them."""
        self.here(f"link add {name} type veth peer name {name}-far netns far")
        self.far(f"address add 10.{subnet}.0.1/24 dev {name}-far", f"link set {name}-far up")
        self.here(f"link set {name} up")
        self.wait_for_link(name)
        if route:
            self.here(f"address add 10.{subnet}.0.2/24 dev {name}", f"route add default via 10.{subnet}.0.1 dev {name}")


    def talk(self, address):
        """Sends datagrams to an address of `far`, ten a second, until the scenario ends."""
        client = in_namespace("here", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))

        def send():
            while True:
                try:
                    client.sendto(b"x", (address, PORT))
                except OSError:
                    pass
                time.sleep(0.1)

        threading.Thread(target=send, daemon=True).start()

    def tap(self, name):
        """A tap device in `here` that a program holds, as that of a virtual machine: it has a carrier."""
        def hold():
            device = os.open("/dev/net/tun", os.O_RDWR)
            # TUNSETIFF: IFF_TAP and IFF_NO_PI.
            ioctl(device, 0x400454CA, struct.pack("16sH", name.encode(), 0x1002))
            return device

        run("modprobe", "tun")
        self.held.append(in_namespace("here", hold))
        self.here(f"link set {name} up")


def clean(modules=("mac80211_hwsim",)):
    """Takes away all that a scenario made, also one that was ended."""
    for space in run("ip", "netns", "list").split("\n"):
        name = space.split(" ")[0]
        if not name:
            continue
        for process in run("ip", "netns", "pids", name).split():
            try:
                os.kill(int(process), 9)
            except ProcessLookupError:
                pass
    time.sleep(0.2)
    run("ip", "-all", "netns", "delete", check=False)
    for module in modules:
        run("modprobe", "-r", module, check=False)
