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


def card(mac):
    for folder in glob.glob("/sys/class/net/*"):
        if os.path.isdir(folder) and open(f"{folder}/address").read().strip() == mac:
            return os.path.basename(folder)
    raise Impossible(f"there is no card with the address {mac}")


def pull(world, watch, mine, other, number, driver):
    for module in ("e1000", "virtio_net"):
        run("modprobe", module)
    time.sleep(0.5)
    names = [card(mine), card(other)]
    run("ip", "link", "set", names[0], "netns", "here")
    run("ip", "link", "set", names[1], "netns", "far")
    world.far(f"link set {names[1]} name card", "address add 10.5.0.1/24 dev card", "link set card up")
    world.here(f"link set {names[0]} name card", "link set card up", "address add 10.5.0.2/24 dev card",
               "route add default via 10.5.0.1 dev card")
    views = watch()
    views.expect("at the start", WIRED)
    monitor(f"set_link card{number} off")
    views.expect("the cable is pulled", "unsatisfied noCarrier")
    monitor(f"set_link card{number} on")
    views.expect("it is plugged in", WIRED)
    for space in ("here", "far"):
        world.link(space, "link set card down", "link set card netns 1")
        run("ip", "link", "set", "card", "name", {"here": "cardA", "far": "cardB"}[space])


@scenario("an e1000 whose cable is pulled")
def e1000(world, watch):
    pull(world, watch, "52:54:00:00:00:10", "52:54:00:00:00:11", 0, "e1000")


@scenario("a virtio card whose cable is pulled", quick=True)
def virtio(world, watch):
    pull(world, watch, "52:54:00:00:00:11", "52:54:00:00:00:10", 1, "virtio_net")


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


@scenario("PPPoE: dialled, ended by the provider, dialled again, its cable pulled")
def pppoe(world, watch):
    world.veth("lan0", 1, route=False)
    for module in ("pppoe", "ppp_async"):
        run("modprobe", module)
    write(f"{world.folder}/server", "noauth\nlcp-echo-interval 1\nlcp-echo-failure 4\n")
    world.start("far", "pppoe-server", "pppoe-server", "-F", "-I", "lan0-far", "-L", "10.7.0.1", "-R", "10.7.0.50",
                "-O", f"{world.folder}/server")

    def dial():
        world.start("here", "pppd", "pppd", "plugin", "rp-pppoe.so", "lan0", "noauth", "defaultroute", "nodetach",
                    "lcp-echo-interval", "1", "lcp-echo-failure", "4", "noipdefault", "maxfail", "1")
        until("ppp0", lambda: " 10.7.0." in world.run_in("here", "ip", "address", "show", "dev", "ppp0", check=False))

    waiting = "requiresConnection configuringAddress"
    views = watch("grace=8s")
    views.expect("before", "?" + waiting, "unsatisfied noAddress", fresh=())
    dial()
    dialled = ("?" + waiting, "?unsatisfied noRoute", "satisfied routed other over lan0")
    views.expect("dialled", *dialled)
    for process in world.run_in("far", "pidof", "pppd").split():
        os.kill(int(process), signal.SIGTERM)
    # pppd takes the route away, then the address, then the interface.
    views.expect("ended by the provider", "?unsatisfied noRoute", "?" + waiting, "?unsatisfied noRoute",
                 "?unsatisfied interfaceDown", "unsatisfied noAddress", fresh=())
    dial()
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
