# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""A DHCP server that refuses when it is told to."""

import socket
import struct
import threading

from world import in_namespace

DISCOVER, OFFER, REQUEST, ACKNOWLEDGE, REFUSE = 1, 2, 3, 5, 6
COOKIE = bytes.fromhex("63825363")


class Leases:
    """Gives 10.SUBNET.0.50 for 20 s, so that a client renews every 10 s; while it `refuses`, it still offers the address, and
    answers each request for it with a NAK."""

    def __init__(self, interface, subnet):
        self.refuses = False
        self.refusals = 0
        self.server, self.address = (socket.inet_aton(f"10.{subnet}.0.{host}") for host in (1, 50))
        self.socket = in_namespace("far", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        self.socket.bind(("", 67))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            question = self.socket.recv(1500)
            kind = self._kind(question)
            if kind == DISCOVER:
                self._answer(question, OFFER)
            elif kind == REQUEST and self.refuses:
                self._answer(question, REFUSE)
                self.refusals += 1
            elif kind == REQUEST:
                self._answer(question, ACKNOWLEDGE)

    @staticmethod
    def _kind(question):
        options = question[240:]
        while options and options[0] != 255:
            if options[0] == 53:
                return options[2]
            options = options[1:] if options[0] == 0 else options[2 + options[1]:]
        return None

    def _answer(self, question, kind):
        given = bytes(4) if kind == REFUSE else self.address
        options = bytes([53, 1, kind, 54, 4]) + self.server
        if kind != REFUSE:
            options += bytes([51, 4]) + struct.pack("!I", 20) + bytes([1, 4, 255, 255, 255, 0, 3, 4]) + self.server
        answer = bytes([2, 1, 6, 0]) + question[4:8] + bytes(8) + given + self.server + bytes(4) + question[28:44] + bytes(192)
        self.socket.sendto(answer + COOKIE + options + b"\xff", ("255.255.255.255", 68))
