# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""A personal area network between two controllers that bluez's btvirt emulates."""

import glob
import shutil
import socket
import struct
import threading
from fcntl import ioctl

from scenario import Impossible
from world import run, until

CONNECTION_ADD = 0x400442C8
ROLES = {"far": 0x1116, "here": 0x1115}


class AreaNetwork:
    """`bnep0` in `here` and in `far`, as the two ends of one link."""

    def __init__(self, world):
        for program in ("btvirt", "hciconfig"):
            if not shutil.which(program):
                raise Impossible(f"there is no {program} (of bluez, bluez-test-tools)")
        for module in ("hci_vhci", "bnep"):
            run("modprobe", module)
        world.start("far", "btvirt", "btvirt", "-l2")
        self.controllers = {"here": "hci0", "far": "hci1"}
        until("controllers", lambda: len(glob.glob("/sys/class/bluetooth/hci?")) == 2)
        self.connect(world)

    def connect(self, world):
        addresses = {}
        for space, name in self.controllers.items():
            until(f"{name} that is up", lambda: run("hciconfig", name, "up", check=False) is not None
                  and "UP RUNNING" in run("hciconfig", name))
            # Without keys, as no agent answers for them.
            for setting in (("sspmode", "0"), ("noauth",), ("piscan",)):
                run("hciconfig", name, *setting)
            addresses[space] = run("hciconfig", name).split("BD Address: ")[1].split()[0]
        self.ends = {}
        server = self._channel()
        server.bind((addresses["far"], 15))
        server.listen(1)
        accept = threading.Thread(target=lambda: self.ends.update(far=server.accept()[0]), daemon=True)
        accept.start()
        client = self._channel()
        client.bind((addresses["here"], 0))
        client.settimeout(120)
        client.connect((addresses["far"], 15))
        client.settimeout(None)
        accept.join(120)
        self.ends["here"] = client
        for space in ("far", "here"):
            name = self._add(self.ends[space], ROLES[space])
            run("ip", "link", "set", name, "netns", space)
            world.link(space, f"link set {name} name bnep0")

    @staticmethod
    def _channel():
        return socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)

    @staticmethod
    def _add(channel, role):
        """Has the kernel make an interface of a channel, and returns its name."""
        with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, 4) as control:
            request = bytearray(struct.pack("iIH16s", channel.fileno(), 0, role, b"bnep%d") + bytes(2))
            ioctl(control, CONNECTION_ADD, request)
        return request[10:26].split(b"\0")[0].decode()

    def down(self, space):
        run("hciconfig", self.controllers[space], "down")
