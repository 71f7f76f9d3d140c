# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Tunnels whose packets leave through a radio or a cable that is lost."""

from radio import Radios
from scenario import scenario
from world import Wrong, run, until, write

LOOKING = "requiresConnection wifiNotAssociated"
JOINING = "requiresConnection authenticating"


def wireguard(world, peer, maker="here"):
    """A tunnel to PEER, as wg-quick makes it: all traffic through it but its own packets, which leave from the namespace MAKER
    in which it was made."""
    keys = {}
    for space in ("here", "far"):
        secret = run("wg", "genkey")
        write(f"{world.folder}/{space}.key", secret)
        keys[space] = run("sh", "-c", f"wg pubkey <{world.folder}/{space}.key").strip()
    world.far("link add wg0 type wireguard", "address add 10.8.0.1/24 dev wg0")
    world.run_in("far", "wg", "set", "wg0", "listen-port", "51820", "private-key", f"{world.folder}/far.key",
                 "peer", keys["here"], "allowed-ips", "10.8.0.2/32")
    world.far("link set wg0 up")
    world.link(maker, "link add wg0 type wireguard")
    if maker != "here":
        world.link(maker, "link set wg0 netns here")
    world.here("address add 10.8.0.2/24 dev wg0")
    world.run_in("here", "wg", "set", "wg0", "private-key", f"{world.folder}/here.key", "fwmark", "51820" if maker == "here" else "0",
                 "peer", keys["far"], "endpoint", f"{peer}:51820", "allowed-ips", "0.0.0.0/0")
    world.here("link set wg0 up")
    if maker != "here":
        world.here("route add default dev wg0")
        return
    world.here("route add default dev wg0 table 51820", "rule add not fwmark 51820 table 51820",
               "rule add table main suppress_prefixlength 0")


@scenario("WireGuard over Wi-Fi that is lost and comes back", quick=True)
def over_radio(world, watch):
    radios = Radios(world)
    radios.one_point()
    wireguard(world, "10.4.0.1")
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
    wireguard(world, "10.1.0.1")
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
    wireguard(world, "10.4.0.1")
    views = watch()
    views.expect("at the start", "satisfied routed other over wlan0", sysfs=["satisfied routed wifi"])
    radios.roam()
    views.expect("roamed", "?" + LOOKING, "?" + JOINING, "?satisfied routed other over wlan0",
                 sysfs=["?" + LOOKING, "?" + JOINING, "?satisfied routed wifi"])


@scenario("WireGuard that was made in another network namespace, beside a link that fails")
def made_elsewhere(world, watch):
    run("ip", "netns", "add", "outside")
    world.link("outside", "link add lan0 type veth peer name lan0-far netns far", "address add 10.1.0.2/24 dev lan0",
               "link set lan0 up")
    world.far("address add 10.1.0.1/24 dev lan0-far", "link set lan0-far up")
    world.veth("mgmt0", 5, route=False)
    world.here("address add 10.5.0.2/24 dev mgmt0")
    wireguard(world, "10.1.0.1", maker="outside")
    views = watch()
    through = "satisfied routed other"
    views.expect("at the start", through)
    world.far("link set mgmt0-far down")
    views.expect("the link beside it fails", through)
    world.here("link set wg0 down")
    # What is closest to a path is the link beside it.
    views.expect("it is set down", "unsatisfied noCarrier")
    world.here("link set wg0 up", "route add default dev wg0")
    views.expect("it is set up", "?unsatisfied noRoute", through)


def openvpn(world):
    """A tunnel of OpenVPN that takes both halves of the internet."""
    run("modprobe", "tun")
    # Beyond the gateway, so that a route leads to it past the tunnel.
    server = "198.51.100.9"
    world.far(f"address add {server}/32 dev lo")
    key = f"{world.folder}/openvpn.key"
    run("openvpn", "--genkey", "secret", key)
    both = ("--dev", "tun0", "--secret", key, "--cipher", "AES-256-CBC", "--ping", "1", "--ping-restart", "6", "--persist-tun",
            "--persist-key", "--verb", "3")
    # It would answer from the address of its own link, which the client does not expect.
    world.start("far", "openvpn-far", "openvpn", *both, "--ifconfig", "10.8.0.1", "10.8.0.2", "--local", server)
    world.start("here", "openvpn-here", "openvpn", *both, "--ifconfig", "10.8.0.2", "10.8.0.1", "--remote", server,
                "--nobind", "--redirect-gateway", "def1")
    until("tunnel of OpenVPN", lambda: "128.0.0.0/1 via 10.8.0.1" in world.run_in("here", "ip", "route")
          and world.datagrams_return())


@scenario("OpenVPN over Wi-Fi that is lost, comes back, and goes from 2.4 to 5 GHz")
def openvpn_over_radio(world, watch):
    radios = Radios(world, points=2)
    radios.two_points()
    openvpn(world)
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


def pull(world, watch):
    """The cable below a tunnel is pulled and plugged in again."""
    views = watch()
    views.expect("at the start", "?satisfied routed other", "satisfied routed other over lan0",
                 sysfs=["satisfied routed other"])
    world.far("link set lan0-far down")
    views.expect("pulled", "unsatisfied noCarrier", sysfs=["satisfied routed other"])
    world.far("link set lan0-far up")
    views.expect("plugged in", "satisfied routed other over lan0", sysfs=["satisfied routed other"])


def pull_below(world, watch, kind, addresses, default):
    """A tunnel over a cable, with the default route through it: the cable is pulled and plugged in again."""
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0")
    for space, mine, other in (("far", 1, 2), ("here", 2, 1)):
        world.link(space, f"link add {kind}1 type {kind} local 10.1.0.{mine} remote 10.1.0.{other}", f"link set {kind}1 up",
                   f"address add {addresses % mine} dev {kind}1")
    world.here(f"route add {default} dev {kind}1")
    # procfs does not tell a tunnel's far end, so that it is in doubt there; on a slow machine that is the first to speak.
    pull(world, watch)


@scenario("GRE over a cable that is pulled")
def gre(world, watch):
    pull_below(world, watch, "gre", "10.8.0.%d/30", "default")


@scenario("GRE whose far end a rule keeps from the user who asks, and not from the kernel", views=("netlink",))
def rule_of_a_user(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0", "link add gre1 type gre local 10.1.0.2 remote 10.1.0.1", "link set gre1 up",
               "address add 10.8.0.2/30 dev gre1", "route add default dev gre1",
               "route add blackhole 10.1.0.1 table 100", "rule add uidrange 65534-65534 lookup 100 priority 50")
    world.far("link add gre1 type gre local 10.1.0.1 remote 10.1.0.2", "link set gre1 up", "address add 10.8.0.1/30 dev gre1")
    views = watch()
    carried = "satisfied routed other over lan0"
    views.expect("for root", carried)
    seen = views.views[0].fresh(user=65534)
    if seen != carried:
        raise Wrong(f"for the user of the rule: {seen}, not {carried}")


@scenario("GRE in a VRF, over a cable that is pulled")
def gre_in_vrf(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("link add red type vrf table 77", "link set red up", "link set lan0 master red", "address add 10.1.0.2/24 dev lan0",
               "link add gre1 type gre local 10.1.0.2 remote 10.1.0.1 dev red", "link set gre1 up",
               "address add 10.8.0.2/30 dev gre1", "route add default dev gre1")
    world.far("link add gre1 type gre local 10.1.0.1 remote 10.1.0.2", "link set gre1 up", "address add 10.8.0.1/30 dev gre1")
    pull(world, watch)


@scenario("IP in IP without a remote, to the gateway of its route, over a cable that is pulled")
def many_ends(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0", "link add ipip1 type ipip local 10.1.0.2", "link set ipip1 up",
               "address add 10.8.0.2/32 dev ipip1", "route add default via 10.1.0.1 dev ipip1 onlink")
    world.far("link add ipip1 type ipip local 10.1.0.1 remote 10.1.0.2", "link set ipip1 up", "address add 10.8.0.1/32 dev ipip1",
              "route add 10.8.0.2 dev ipip1")
    pull(world, watch)


@scenario("a bond of two tunnels, over a cable that is pulled")
def bond_of_tunnels(world, watch):
    world.here("link add bond0 type bond mode active-backup miimon 100")
    world.far("link add br0 type bridge", "link set br0 up", "address add 10.8.0.1/24 dev br0")
    for number in (0, 1):
        world.veth(f"lan{number}", number + 1, route=False)
        world.here(f"address add 10.{number + 1}.0.2/24 dev lan{number}")
        for space, mine, other in (("far", 1, 2), ("here", 2, 1)):
            world.link(space, f"link add tap{number} type gretap local 10.{number + 1}.0.{mine} remote 10.{number + 1}.0.{other}")
        world.far(f"link set tap{number} master br0", f"link set tap{number} up")
        world.here(f"link set tap{number} master bond0")
    # A tunnel keeps its carrier, so that the bond stays with it.
    world.here("link set bond0 type bond primary tap0", "link set bond0 up", "address add 10.8.0.2/24 dev bond0",
               "route add default via 10.8.0.1")
    pull(world, watch)


@scenario("a bridge over a VLAN of a tunnel, over a cable that is pulled")
def bridge_over_tunnel(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("address add 10.1.0.2/24 dev lan0")
    for space, mine, other in (("far", 1, 2), ("here", 2, 1)):
        world.link(space, f"link add tap1 type gretap local 10.1.0.{mine} remote 10.1.0.{other}", "link set tap1 up",
                   "link add link tap1 name tap1.5 type vlan id 5", "link set tap1.5 up", "link add br0 type bridge",
                   "link set br0 up", "link set tap1.5 master br0", f"address add 10.8.0.{mine}/24 dev br0")
    world.here("route add default via 10.8.0.1")
    pull(world, watch)


@scenario("GRE over IPv6, whose own address is removed")
def source_gone(world, watch):
    world.veth("lan0", 1, route=False)
    for space, device, mine, other in (("far", "lan0-far", 1, 2), ("here", "lan0", 2, 1)):
        world.link(space, f"address add fd01::{mine}/64 dev {device} nodad",
                   f"link add gre1 type ip6gre local fd01::{mine} remote fd01::{other}", "link set gre1 up",
                   f"address add 10.8.0.{mine}/30 dev gre1")
    world.here("address add fd01::3/64 dev lan0 nodad", "route add default dev gre1")
    views = watch()
    blind = ["satisfied routed other"]
    views.expect("at the start", "?satisfied routed other", "satisfied routed other over lan0", sysfs=blind)
    # The route is there still, and the kernel answers with it for any source; the tunnel itself does not send.
    world.here("address del fd01::2/64 dev lan0")
    views.expect("its address is gone", "unsatisfied noAddress", sysfs=blind)
    world.here("address add fd01::2/64 dev lan0 nodad")
    views.expect("it is back", "satisfied routed other over lan0", sysfs=blind)


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
    # Policies say where the packets go, and are not asked: what they travel on is the route past the tunnel.
    world.here("route add default dev ipsec0", "route add default via 10.1.0.1 dev lan0 metric 100",
               "route add 10.1.0.1 dev lan0")
    views = watch()
    views.expect("at the start", "satisfied routed other over lan0")
    world.far("link set lan0-far down")
    # Where the uplink is no hardware, sysfs cannot tell a tunnel that is lost from one that goes another way.
    views.expect("pulled", "?satisfied routed other", "unsatisfied noCarrier", sysfs=["satisfied routed other"])
    world.far("link set lan0-far up")
    views.expect("plugged in", "satisfied routed other over lan0")
