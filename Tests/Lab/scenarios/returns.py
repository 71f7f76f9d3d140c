# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Links of each kind that are lost and come back again and again, at rest and under traffic: nothing false in between, and no
word about a gateway that answers. LAB_ROUNDS says how often."""

import os

from bluetooth import AreaNetwork
from gadget import Gadget, QMIModem
from hardware import Card, Dialling
from radio import Radios
from scenario import scenario
from tunnels import wireguard
from virtual import bond
from world import until

ROUNDS = int(os.environ.get("LAB_ROUNDS") or 1)
WIRED = "satisfied routed wired"
WAITING = "?requiresConnection configuringAddress"
PULLED = ("unsatisfied noCarrier",)


def returns(title):
    return scenario(f"{title}: lost and back, again and again", views=("netlink",))


def play(world, watch, gateway, back, lose, restore, lost=PULLED, up=()):
    """`lost` and `up`: the states on the way, and the last one that there is without the link; `back`: the one with it."""
    views = watch("grace=10m")
    views.expect("at the start", back)
    for traffic in ("at rest", "under traffic"):
        if traffic == "under traffic":
            world.talk(gateway)
        for number in range(1, ROUNDS + 1):
            lose()
            # From a link that is back at once to one of which everything has noticed that it is gone.
            views.follow(f"loss {number} {traffic}", number % 5 * 0.4, *lost)
            restore()
            views.follow(f"return {number} {traffic}", number % 3 * 0.4, *up, back)
    views.expect("at the end", back)
    views.expect_answers()


def far_side(world, name, *then):
    """What takes a link away and gives it back at its other end."""
    return lambda: world.far(f"link set {name} down"), lambda: world.far(f"link set {name} up", *then)


@returns("a cable")
def cable(world, watch):
    world.veth("lan0", 1)
    play(world, watch, "10.1.0.1", WIRED, *far_side(world, "lan0-far"))


@returns("an e1000 whose address and route go and come with its cable")
def managed(world, watch):
    card = Card(world, 0)

    def lose():
        card.pull()
        until("loss", lambda: "NO-CARRIER" in world.run_in("here", "ip", "link", "show", "card"))
        world.here("address flush dev card")

    def restore():
        card.plug()
        world.wait_for_link("card")
        # Each by a program of its own, as managers set one after the other.
        world.here("address add 10.5.0.2/24 dev card")
        world.here("route add default via 10.5.0.1 dev card")

    play(world, watch, "10.5.0.1", WIRED, lose, restore, up=[WAITING])
    card.give_back()


@returns("an interface that is taken down")
def administrator(world, watch):
    world.veth("lan0", 1)
    play(world, watch, "10.1.0.1", WIRED, lambda: world.here("link set lan0 down"),
         lambda: world.here("link set lan0 up", "route add default via 10.1.0.1 dev lan0"),
         lost=["?unsatisfied interfaceDown", "unsatisfied allDown"], up=["?unsatisfied noCarrier", "?unsatisfied noRoute"])


def pulled(world, watch, number):
    card = Card(world, number)
    play(world, watch, "10.5.0.1", WIRED, card.pull, card.plug)
    card.give_back()


@returns("an e1000")
def e1000(world, watch):
    pulled(world, watch, 0)


@returns("a virtio card")
def virtio(world, watch):
    pulled(world, watch, 1)


@returns("a bond")
def bonded(world, watch):
    bond(world, "mode active-backup", "miimon 100")
    ports = [f"link set {port}-far {{}}" for port in ("port0", "port1")]
    play(world, watch, "10.2.0.1", WIRED, lambda: world.far(*(port.format("down") for port in ports)),
         lambda: world.far(*(port.format("up") for port in ports)))


@returns("a VLAN")
def vlan(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("link add link lan0-far name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.1/24 dev v7")
    world.here("link add link lan0 name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.2/24 dev v7",
               "route add default via 10.3.0.1 dev v7")
    play(world, watch, "10.3.0.1", WIRED, *far_side(world, "lan0-far", "link set v7 up"))


@returns("a bridge with a cable")
def bridge(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("link add br0 type bridge", "link set lan0 master br0", "link set br0 up", "address add 10.1.0.2/24 dev br0",
               "route add default via 10.1.0.1 dev br0")
    world.wait_for_link("br0")
    play(world, watch, "10.1.0.1", WIRED, *far_side(world, "lan0-far"))


@returns("a macvlan")
def macvlan(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("link add link lan0 name mac0 type macvlan mode bridge", "link set mac0 up", "address add 10.1.0.3/24 dev mac0",
               "route add default via 10.1.0.1 dev mac0")
    play(world, watch, "10.1.0.1", WIRED, *far_side(world, "lan0-far"))


def tethered(world, watch, function, vendor, product, kind, lost):
    Gadget(function, vendor, product).connect(world)
    play(world, watch, "10.6.0.1", f"satisfied routed {kind}", *far_side(world, "device"), lost=[lost])


@returns("a tether at USB (ECM)")
def tether(world, watch):
    tethered(world, watch, "ecm", "0x1d6b", "0x0104", "wired", "unsatisfied noCarrier")


@returns("a modem at USB (NCM)")
def modem(world, watch):
    tethered(world, watch, "ncm", "0x0bdb", "0x1900", "cellular", "requiresConnection modemNotConnected")


@returns("a bearer of a modem (QMI)")
def bearer(world, watch):
    modem = QMIModem()
    modem.connect(world)
    address, route = "address add 10.6.0.2/24 dev wwan0", "route add default via 10.6.0.1 dev wwan0"
    world.here("link set wwan0 up", address, route)

    def restore():
        world.here(address)
        world.here(route)

    play(world, watch, "10.6.0.1", "satisfied routed cellular",
         lambda: world.here("address flush dev wwan0 scope global"), restore,
         lost=["requiresConnection modemNotConnected"], up=[WAITING])
    modem.plug(False)


@returns("Wi-Fi")
def wifi(world, watch):
    radios = Radios(world)
    radios.one_point()

    def leave():
        radios.ask("disconnect")

    def join():
        radios.ask("reconnect")
        until("join", radios.is_joined)

    play(world, watch, "10.4.0.1", "satisfied routed wifi", leave, join, lost=["requiresConnection wifiNotAssociated"],
         up=["?requiresConnection authenticating"])


@returns("a network of Bluetooth (PAN)")
def area(world, watch):
    network = AreaNetwork(world)

    def join():
        world.far("address add 10.6.0.1/24 dev bnep0", "link set bnep0 up")
        world.here("link set bnep0 up", "address add 10.6.0.2/24 dev bnep0", "route add default via 10.6.0.1 dev bnep0")

    def leave():
        for space in ("here", "far"):
            network.down(space)
            until("end of the link", lambda: "bnep0" not in world.run_in(space, "ip", "link"))

    def rejoin():
        network.connect(world)
        join()

    join()
    play(world, watch, "10.6.0.1", "satisfied routed other", leave, rejoin,
         lost=["?unsatisfied noRoute", "?unsatisfied noAddress", "?unsatisfied interfaceDown", "?unsatisfied allDown",
               "unsatisfied noInterface"],
         up=["?unsatisfied allDown", WAITING])


@returns("PPPoE")
def dialled(world, watch):
    dialling = Dialling(world)
    dialling.dial()
    # pppd takes the route away, then the address, then the interface.
    play(world, watch, "10.7.0.1", "satisfied routed other over lan0", dialling.hang_up, dialling.dial,
         lost=["?unsatisfied noRoute", WAITING, "?unsatisfied noRoute", "?unsatisfied interfaceDown", "unsatisfied noAddress"],
         # On an emulated processor it may take longer from the address to the route than the second that netpath waits for one.
         up=[WAITING, "?unsatisfied noRoute"])


@returns("WireGuard over a cable")
def tunnel(world, watch):
    world.veth("lan0", 1)
    wireguard(world, "10.1.0.1")
    play(world, watch, "10.8.0.1", "satisfied routed other over lan0", *far_side(world, "lan0-far"))
