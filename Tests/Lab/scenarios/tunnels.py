# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Tunnels whose packets leave through a radio or a cable that is lost."""

from radio import Radios
from scenario import scenario
from world import run, until, write


def wireguard(world, carrier, peer):
    """A tunnel to PEER, as wg-quick makes it: all traffic through it but its own packets."""
    keys = {}
    for space in ("here", "far"):
        secret = run("wg", "genkey")
        write(f"{world.folder}/{space}.key", secret)
        keys[space] = run("sh", "-c", f"wg pubkey <{world.folder}/{space}.key").strip()
    world.far("link add wg0 type wireguard", "address add 10.8.0.1/24 dev wg0")
    world.run_in("far", "wg", "set", "wg0", "listen-port", "51820", "private-key", f"{world.folder}/far.key",
                 "peer", keys["here"], "allowed-ips", "10.8.0.2/32")
    world.far("link set wg0 up")
    world.here("link add wg0 type wireguard", "address add 10.8.0.2/24 dev wg0")
    world.run_in("here", "wg", "set", "wg0", "private-key", f"{world.folder}/here.key", "fwmark", "51820",
                 "peer", keys["far"], "endpoint", f"{peer}:51820", "allowed-ips", "0.0.0.0/0")
    world.here("link set wg0 up", "route add default dev wg0 table 51820", "rule add not fwmark 51820 table 51820",
               "rule add table main suppress_prefixlength 0")


@scenario("WireGuard over Wi-Fi that is lost and comes back", limit=240, quick=True)
def over_radio(world, watch):
    radios = Radios(world)
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    radios.static()
    radios.join()
    until("join", radios.is_joined)
    wireguard(world, "wlan0", "10.4.0.1")
    views = watch()
    # sysfs reads main tables only, and takes no rules into account.
    views.expect("at the start", "satisfied routed other over wlan0", sysfs=["satisfied routed wifi"])
    radios.point_gone()
    views.expect("the radio is lost", "requiresConnection wifiNotAssociated", limit=60)
    radios.point(address="10.4.0.1")
    views.expect("it is back", "?requiresConnection authenticating", "satisfied routed other over wlan0",
                 sysfs=["?requiresConnection authenticating", "satisfied routed wifi"], limit=60)


@scenario("WireGuard over a cable that is pulled")
def over_cable(world, watch):
    world.veth("lan0", 1)
    wireguard(world, "lan0", "10.1.0.1")
    views = watch()
    views.expect("at the start", "satisfied routed other over lan0", sysfs=["satisfied routed wired"])
    world.far("link set lan0-far down")
    views.expect("pulled", "unsatisfied noCarrier")
    world.far("link set lan0-far up")
    views.expect("plugged in", "satisfied routed other over lan0", sysfs=["satisfied routed wired"])
