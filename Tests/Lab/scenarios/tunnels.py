# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Tunnels whose packets leave through a radio or a cable that is lost."""

from radio import Radios
from scenario import scenario
from world import run, until, write

LOOKING = "requiresConnection wifiNotAssociated"
JOINING = "requiresConnection authenticating"


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


@scenario("WireGuard over Wi-Fi that is lost and comes back", quick=True)
def over_radio(world, watch):
    radios = Radios(world)
    radios.one_point()
    wireguard(world, "wlan0", "10.4.0.1")
    views = watch()
    # sysfs reads main tables only, and takes no rules into account.
    views.expect("at the start", "satisfied routed other over wlan0", sysfs=["satisfied routed wifi"])
    radios.point_gone()
    views.expect("the radio is lost", LOOKING)
    radios.point(address="10.4.0.1")
    views.expect("it is back", "?" + JOINING, "satisfied routed other over wlan0",
                 sysfs=["?" + JOINING, "satisfied routed wifi"])


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


@scenario("WireGuard over Wi-Fi that goes from 2.4 to 5 GHz")
def over_roaming(world, watch):
    radios = Radios(world, points=2)
    radios.two_points()
    wireguard(world, "wlan0", "10.4.0.1")
    views = watch()
    views.expect("at the start", "satisfied routed other over wlan0", sysfs=["satisfied routed wifi"])
    radios.roam()
    views.expect("roamed", "?" + LOOKING, "?" + JOINING, "?satisfied routed other over wlan0",
                 sysfs=["?" + LOOKING, "?" + JOINING, "?satisfied routed wifi"])


def openvpn(world, peer):
    """A tunnel of OpenVPN to PEER that takes both halves of the internet."""
    run("modprobe", "tun")
    key = f"{world.folder}/openvpn.key"
    run("openvpn", "--genkey", "secret", key)
    both = ("--dev", "tun0", "--secret", key, "--cipher", "AES-256-CBC", "--ping", "1", "--ping-restart", "6", "--persist-tun",
            "--persist-key", "--verb", "3")
    world.start("far", "openvpn-far", "openvpn", *both, "--ifconfig", "10.8.0.1", "10.8.0.2")
    world.start("here", "openvpn-here", "openvpn", *both, "--ifconfig", "10.8.0.2", "10.8.0.1", "--remote", peer, "--nobind",
                "--redirect-gateway", "local", "def1")
    until("tunnel of OpenVPN", lambda: "128.0.0.0/1 via 10.8.0.1" in world.run_in("here", "ip", "route")
          and world.datagrams_return())


@scenario("OpenVPN over Wi-Fi that is lost, comes back, and goes from 2.4 to 5 GHz")
def openvpn_over_radio(world, watch):
    radios = Radios(world, points=2)
    radios.two_points()
    openvpn(world, "10.4.0.1")
    views = watch()
    through = "satisfied routed other over wlan0"
    views.expect("at the start", through)
    radios.roam()
    until("answer", world.datagrams_return)
    views.expect("roamed", "?" + LOOKING, "?" + JOINING, "?" + through)
    radios.point_gone(0)
    radios.point_gone(1)
    views.expect("the radio is lost", LOOKING)
    radios.point(0, channel=1)
    world.far("link set ap0 master br0")
    until("join", radios.is_joined)
    # OpenVPN itself begins anew when nothing came for six seconds.
    until("answer", world.datagrams_return)
    views.expect("it is back", "?" + JOINING, through)


def pull_below(world, watch, kind, addresses, default):
    """A tunnel over a cable, with the default route through it: the cable is pulled and plugged in again."""
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0")
    for space, mine, other in (("far", 1, 2), ("here", 2, 1)):
        world.link(space, f"link add {kind}1 type {kind} local 10.1.0.{mine} remote 10.1.0.{other}", f"link set {kind}1 up",
                   f"address add {addresses % mine} dev {kind}1")
    world.here(f"route add {default} dev {kind}1")
    views = watch()
    # procfs does not tell a tunnel's far end; on a slow machine the sysfs backend is the first to speak.
    views.expect("at the start", "?satisfied routed other", "satisfied routed other over lan0",
                 sysfs=["satisfied routed other"])
    world.far("link set lan0-far down")
    # Without the far end it is in doubt, and says so.
    views.expect("pulled", "unsatisfied noCarrier", sysfs=["satisfied routed other"])
    world.far("link set lan0-far up")
    views.expect("plugged in", "satisfied routed other over lan0", sysfs=["satisfied routed other"])


@scenario("GRE over a cable that is pulled")
def gre(world, watch):
    pull_below(world, watch, "gre", "10.8.0.%d/30", "default")


@scenario("SIT (6in4) over a cable that is pulled")
def sit(world, watch):
    pull_below(world, watch, "sit", "2a00:1:2:8::%d/64", "::/0")


@scenario("IPsec behind an xfrm interface, over a cable that is pulled")
def ipsec(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0")
    secret = f"auth hmac(sha256) 0x{'01' * 32} enc cbc(aes) 0x{'02' * 16}"
    for space, mine, other in (("far", 1, 2), ("here", 2, 1)):
        device = "lan0-far" if space == "far" else "lan0"
        ways = (("out", mine, other), ("in", other, mine))
        for way, source, target in ways:
            world.link(space, f"xfrm state add src 10.1.0.{source} dst 10.1.0.{target} proto esp spi 0x{source} reqid 1 "
                              f"mode tunnel {secret} if_id 42",
                       f"xfrm policy add src 0.0.0.0/0 dst 0.0.0.0/0 dir {way} tmpl src 10.1.0.{source} dst 10.1.0.{target} "
                       "proto esp reqid 1 mode tunnel if_id 42")
        world.link(space, f"link add ipsec0 type xfrm dev {device} if_id 42", "link set ipsec0 up",
                   f"address add 10.8.0.{mine}/30 dev ipsec0")
    # Policies say where the packets go, and are not asked: what they travel on is the best default route beside.
    world.here("route add default dev ipsec0", "route add default via 10.1.0.1 dev lan0 metric 100")
    views = watch()
    views.expect("at the start", "satisfied routed other over lan0")
    world.far("link set lan0-far down")
    # Where the uplink is no hardware, sysfs cannot tell a tunnel that is lost from one that goes another way.
    views.expect("pulled", "?satisfied routed other", "unsatisfied noCarrier", sysfs=["satisfied routed other"])
    world.far("link set lan0-far up")
    views.expect("plugged in", "satisfied routed other over lan0")
