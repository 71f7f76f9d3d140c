# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Cards, modems and tethers: emulated ones at QEMU's hub, gadgets of USB looped back, PPPoE, and kernels without IPv6."""

import glob
import os
import signal
import time

from bluetooth import AreaNetwork
from gadget import Gadget, QMIModem
from scenario import Impossible, scenario
from world import run, until, write

WIRED = "satisfied routed wired"


def monitor(command):
    write("/dev/lab-monitor", command + "\n")


class Card:
    """One of the two cards at QEMU's hub, as `card` in `here`; the other one is its peer in `far`. 0: e1000, 1: virtio."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        for module in ("e1000", "virtio_net"):
            run("modprobe", module)
        time.sleep(0.5)
        for space, name in (("here", self._name(number)), ("far", self._name(1 - number))):
            run("ip", "link", "set", name, "netns", space)
            world.link(space, f"link set {name} name card")
        world.far("address add 10.5.0.1/24 dev card", "link set card up")
        world.here("link set card up", "address add 10.5.0.2/24 dev card", "route add default via 10.5.0.1 dev card")

    @staticmethod
    def _name(number):
        for folder in glob.glob("/sys/class/net/*"):
            if os.path.isdir(folder) and open(f"{folder}/address").read().strip() == f"52:54:00:00:00:1{number}":
                return os.path.basename(folder)
        raise Impossible(f"there is no card {number}")

    def pull(self):
        monitor(f"set_link card{self.number} off")

    def plug(self):
        monitor(f"set_link card{self.number} on")

    def give_back(self):
        for space in ("here", "far"):
            self.world.link(space, "link set card down", "link set card netns 1")
            run("ip", "link", "set", "card", "name", {"here": "cardA", "far": "cardB"}[space])


def pull(world, watch, number):
    card = Card(world, number)
    views = watch()
    views.expect("at the start", WIRED)
    card.pull()
    views.expect("the cable is pulled", "unsatisfied noCarrier")
    card.plug()
    views.expect("it is plugged in", WIRED)
    card.give_back()


@scenario("an e1000 whose cable is pulled")
def e1000(world, watch):
    pull(world, watch, 0)


@scenario("a virtio card whose cable is pulled", quick=True)
def virtio(world, watch):
    pull(world, watch, 1)


def usb(world, watch, function, product, kind, lost, vendor="0x1d6b", sees_carrier=True):
    gadget = Gadget(function, vendor, product)
    gadget.connect(world)
    views = watch()
    views.expect("at the start", f"satisfied routed {kind}")
    if sees_carrier:
        world.far("link set device down")
        views.expect("the far side is down", lost)
        world.far("link set device up")
        views.expect("the far side is up", f"satisfied routed {kind}")
    gadget.plug(False)
    views.expect("unplugged", "?" + lost, "?unsatisfied interfaceDown", "?unsatisfied allDown", "unsatisfied noInterface")


@scenario("a modem at USB (NCM) that loses its bearer and is unplugged")
def modem(world, watch):
    usb(world, watch, "ncm", "0x1900", "cellular", "requiresConnection modemNotConnected", vendor="0x0bdb")


@scenario("a modem at USB (QMI), which claims a carrier without a bearer, with Ethernet headers and without, unplugged")
def qmi(world, watch):
    modem = QMIModem()
    modem.connect(world)
    views = watch()
    views.expect("down", "unsatisfied allDown")
    idle = "requiresConnection modemNotConnected"
    connected = "satisfied routed cellular"
    connecting = ("?requiresConnection configuringAddress", "?unsatisfied noRoute")
    bearer = ("address add 10.6.0.2/24 dev wwan0", "route add default via 10.6.0.1 dev wwan0")
    world.here("link set wwan0 up")
    views.expect("up without a bearer", idle)
    world.here(*bearer)
    views.expect("a bearer", *connecting, connected)
    world.here("address flush dev wwan0 scope global")
    views.expect("the bearer is gone", "?unsatisfied noRoute", idle)
    modem.without_headers(world)
    views.expect("down again", "?" + idle, "?unsatisfied interfaceDown", "unsatisfied allDown")
    world.here("link set wwan0 up", bearer[0], "route add default dev wwan0")
    views.expect("a bearer without headers", "?" + idle, *connecting, connected)
    modem.plug(False)
    views.expect("unplugged", "?unsatisfied interfaceDown", "?unsatisfied allDown", "?" + idle, "unsatisfied noInterface")


@scenario("a tether at USB (ECM) that goes down and is unplugged")
def tether(world, watch):
    usb(world, watch, "ecm", "0x0104", "wired", "unsatisfied noCarrier")


@scenario("a tether at USB (RNDIS), which does not tell of its far side, unplugged")
def android(world, watch):
    usb(world, watch, "rndis", "0x4ee3", "wired", "unsatisfied noCarrier", vendor="0x18d1", sees_carrier=False)


@scenario("a network of Bluetooth (PAN): without an address, with one, its controller off")
def bluetooth(world, watch):
    network = AreaNetwork(world)
    views = watch("grace=8s")
    views.expect("down", "unsatisfied allDown")
    world.far("address add 10.6.0.1/24 dev bnep0", "link set bnep0 up")
    world.here("link set bnep0 up")
    views.expect("up", "?requiresConnection configuringAddress", "unsatisfied noAddress", fresh=("default",))
    world.here("address add 10.6.0.2/24 dev bnep0", "route add default via 10.6.0.1 dev bnep0")
    views.expect("an address", "?requiresConnection configuringAddress", "?unsatisfied noRoute", "satisfied routed other")
    network.down("here")
    views.expect("the controller is off", "?unsatisfied noRoute", "?unsatisfied noAddress", "?unsatisfied interfaceDown",
                 "?unsatisfied allDown", "unsatisfied noInterface")


class Dialling:
    """PPPoE over the cable lan0."""

    def __init__(self, world):
        self.world = world
        world.veth("lan0", 1, route=False)
        for module in ("pppoe", "ppp_async"):
            run("modprobe", module)
        write(f"{world.folder}/server", "noauth\nlcp-echo-interval 1\nlcp-echo-failure 4\n")
        world.start("far", "pppoe-server", "pppoe-server", "-F", "-I", "lan0-far", "-L", "10.7.0.1", "-R", "10.7.0.50",
                    "-O", f"{world.folder}/server")

    def dial(self):
        self.world.start("here", "pppd", "pppd", "plugin", "rp-pppoe.so", "lan0", "noauth", "defaultroute", "nodetach",
                         "lcp-echo-interval", "1", "lcp-echo-failure", "4", "noipdefault", "maxfail", "1")
        until("ppp0", lambda: " 10.7.0." in self.world.run_in("here", "ip", "address", "show", "dev", "ppp0", check=False))

    def hang_up(self):
        """The provider ends the session."""
        for process in self.world.run_in("far", "pidof", "pppd").split():
            os.kill(int(process), signal.SIGTERM)


@scenario("PPPoE: dialled, ended by the provider, dialled again, its cable pulled")
def pppoe(world, watch):
    dialling = Dialling(world)
    waiting = "requiresConnection configuringAddress"
    views = watch("grace=8s")
    views.expect("before", "?" + waiting, "unsatisfied noAddress", fresh=())
    dialling.dial()
    dialled = ("?" + waiting, "?unsatisfied noRoute", "satisfied routed other over lan0")
    views.expect("dialled", *dialled)
    dialling.hang_up()
    # pppd takes the route away, then the address, then the interface.
    views.expect("ended by the provider", "?unsatisfied noRoute", "?" + waiting, "?unsatisfied noRoute",
                 "?unsatisfied interfaceDown", "unsatisfied noAddress", fresh=())
    dialling.dial()
    views.expect("dialled again", *dialled)
    world.far("link set lan0-far down")
    views.expect("the cable is pulled", "unsatisfied noCarrier")


@scenario("a kernel without IPv6: a cable is pulled and plugged in", without_ipv6=True)
def without_ipv6(world, watch):
    world.veth("lan0", 1)
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set lan0-far down")
    views.expect("pulled", "unsatisfied noCarrier")
    world.far("link set lan0-far up")
    views.expect("plugged in", WIRED)
    world.here("link set lan0 down")
    views.expect("down", "?unsatisfied interfaceDown", "unsatisfied allDown")
