# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Interfaces on top of others: bonds, VLANs, bridges, VRFs, macvlans, and one that swallows everything."""

import json

from scenario import scenario
from world import until

WIRED = "satisfied routed wired"


@scenario("a cable whose far end goes down and up", quick=True)
def cable(world, watch):
    world.veth("lan0", 1)
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set lan0-far down")
    views.expect("the far end is down", "unsatisfied noCarrier")
    world.far("link set lan0-far up")
    views.expect("the far end is up", WIRED)


def bond(world, *options):
    for name in ("port0", "port1"):
        world.here(f"link add {name} type veth peer name {name}-far netns far")
        world.far(f"link set {name}-far up")
    world.far("link add br0 type bridge", "link set port0-far master br0", "link set port1-far master br0",
              "link set br0 up", "address add 10.2.0.1/24 dev br0")
    world.here(f"link add bond0 type bond {' '.join(options)}", "link set port0 master bond0", "link set port1 master bond0",
               "link set bond0 up", "address add 10.2.0.2/24 dev bond0", "route add default via 10.2.0.1 dev bond0")


@scenario("active-backup bond with miimon: a member fails, both fail, one comes back")
def active_backup(world, watch):
    bond(world, "mode active-backup", "miimon 100")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set port0-far down")
    views.expect("the active member fails", WIRED)
    world.far("link set port1-far down")
    views.expect("both fail", "unsatisfied noCarrier")
    world.far("link set port0-far up")
    views.expect("one comes back", WIRED)


@scenario("active-backup bond that monitors nothing: its active member fails")
def unmonitored(world, watch):
    bond(world, "mode active-backup", "miimon 0")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set port0-far down")
    # The sysfs backend does not look at the members of a bond.
    views.expect("the active member fails", "unsatisfied noCarrier", sysfs=[WIRED])
    world.far("link set port0-far up")
    views.expect("it comes back", WIRED)


@scenario("802.3ad bond that needs two members, whose partner does not speak LACP")
def lacp(world, watch):
    bond(world, "mode 802.3ad", "miimon 100", "min_links 2")
    views = watch()
    views.expect("at the start", "unsatisfied noCarrier")


@scenario("802.3ad bond that needs two members: one fails and comes back")
def min_links(world, watch):
    for space, peer in (("far", "here"), ("here", "far")):
        world.link(space, "link add bond0 type bond mode 802.3ad miimon 100 lacp_rate fast min_links 2")
    for name in ("port0", "port1"):
        world.here(f"link add {name} type veth peer name {name}-far netns far", f"link set {name} master bond0")
        world.far(f"link set {name}-far master bond0")
    world.far("link set bond0 up", "address add 10.2.0.1/24 dev bond0")
    world.here("link set bond0 up", "address add 10.2.0.2/24 dev bond0", "route add default via 10.2.0.1 dev bond0")
    world.wait_for_link("bond0")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set port0-far down")
    views.expect("one member is too few", "unsatisfied noCarrier")
    world.far("link set port0-far up")
    # The member that is back is in an aggregator of its own until the partners have agreed.
    views.expect("both are back", "?" + WIRED, "?unsatisfied noCarrier", WIRED)


@scenario("VLAN whose parent loses its carrier, and goes down")
def vlan(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("link add link lan0-far name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.1/24 dev v7")
    world.here("link add link lan0 name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.2/24 dev v7",
               "route add default via 10.3.0.1 dev v7")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set lan0-far down")
    views.expect("the parent has no carrier", "unsatisfied noCarrier")
    world.far("link set lan0-far up", "link set v7 up")
    views.expect("the parent has a carrier", WIRED)


@scenario("macvlan whose parent goes down")
def macvlan(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("link add link lan0 name mac0 type macvlan mode bridge", "link set mac0 up", "address add 10.1.0.3/24 dev mac0",
               "route add default via 10.1.0.1 dev mac0")
    views = watch()
    views.expect("at the start", WIRED)
    world.here("link set lan0 down")
    views.expect("the parent is down", "unsatisfied noCarrier")
    world.here("link set lan0 up")
    views.expect("the parent is up", WIRED)


@scenario("ipvlan whose parent goes down")
def ipvlan(world, watch):
    world.veth("lan0", 1, route=False)
    world.here("link add link lan0 name ip0 type ipvlan mode l2", "link set ip0 up", "address add 10.1.0.3/24 dev ip0",
               "route add default via 10.1.0.1 dev ip0")
    views = watch()
    views.expect("at the start", WIRED)
    world.here("link set lan0 down")
    views.expect("the parent is down", "unsatisfied noCarrier")
    world.here("link set lan0 up")
    views.expect("the parent is up", WIRED)


@scenario("MACsec whose parent loses its carrier, and goes down")
def macsec(world, watch):
    world.veth("lan0", 1, route=False)
    address = {space: json.loads(world.run_in(space, "ip", "-json", "link", "show", "dev", device))[0]["address"]
               for space, device in (("here", "lan0"), ("far", "lan0-far"))}
    for space, device, mine, other in (("far", "lan0-far", 1, 2), ("here", "lan0", 2, 1)):
        peer = address["here" if space == "far" else "far"]
        world.link(space, f"link add link {device} name sec0 type macsec encrypt on",
                   f"macsec add sec0 tx sa 0 pn 1 on key 0{mine} {f'0{mine}' * 16}",
                   f"macsec add sec0 rx port 1 address {peer}",
                   f"macsec add sec0 rx port 1 address {peer} sa 0 pn 1 on key 0{other} {f'0{other}' * 16}",
                   "link set sec0 up", f"address add 10.3.0.{mine}/24 dev sec0")
    world.here("route add default via 10.3.0.1 dev sec0")
    views = watch()
    # It sends packets inside packets, and is no uplink itself.
    through = "satisfied routed other over lan0"
    views.expect("at the start", through)
    world.far("link set lan0-far down")
    views.expect("the parent has no carrier", "unsatisfied noCarrier")
    world.far("link set lan0-far up", "link set sec0 up")
    views.expect("the parent has a carrier", through)
    world.here("link set lan0 down")
    views.expect("the parent is down", "unsatisfied noCarrier")


@scenario("team with a standby: a member fails, both fail, one comes back")
def team(world, watch):
    for name in ("port0", "port1"):
        world.here(f"link add {name} type veth peer name {name}-far netns far")
        world.far(f"link set {name}-far up")
    world.far("link add br0 type bridge", "link set port0-far master br0", "link set port1-far master br0",
              "link set br0 up", "address add 10.2.0.1/24 dev br0")
    world.start("here", "teamd", "teamd", "-c", json.dumps({
        "device": "team0", "runner": {"name": "activebackup"}, "link_watch": {"name": "ethtool"},
        "ports": {"port0": {}, "port1": {}}}))
    until("members of the team", lambda: world.run_in("here", "ip", "-o", "link", "show", "master", "team0", check=False)
          .count("state UP") == 2)
    world.here("link set team0 up", "address add 10.2.0.2/24 dev team0", "route add default via 10.2.0.1 dev team0")
    world.wait_for_link("team0")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set port0-far down")
    views.expect("a member fails", WIRED)
    world.far("link set port1-far down")
    views.expect("both fail", "unsatisfied noCarrier")
    world.far("link set port0-far up")
    views.expect("one comes back", WIRED)


@scenario("bridge with the tap of a virtual machine: the uplink fails while the tap is alive")
def bridge(world, watch):
    world.veth("lan0", 1, route=False)
    world.tap("tap0")
    world.here("link add br0 type bridge", "link set lan0 master br0", "link set tap0 master br0", "link set br0 up",
               "address add 10.1.0.2/24 dev br0", "route add default via 10.1.0.1 dev br0")
    world.wait_for_link("br0")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set lan0-far down")
    # sysfs does not see behind which port the gateway was, and a netpath that is started now did not.
    views.expect("the uplink fails", "unsatisfied noCarrier", sysfs=["satisfied routed other"], fresh=())
    world.far("link set lan0-far up")
    views.expect("the uplink is back", WIRED)


@scenario("bridge that filters VLANs, with the tap of a virtual machine: the uplink fails while the tap is alive")
def filtering_bridge(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("link add link lan0-far name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.1/24 dev v7")
    world.tap("tap0")
    world.here("link add br0 type bridge vlan_filtering 1", "link set lan0 master br0", "link set tap0 master br0",
               "link set br0 up", "link add link br0 name v7 type vlan id 7", "link set v7 up", "address add 10.3.0.2/24 dev v7",
               "route add default via 10.3.0.1 dev v7")
    for port in (["lan0"], ["tap0"], ["br0", "self"]):
        world.run_in("here", "bridge", "vlan", "add", "vid", "7", "dev", *port)
    world.wait_for_link("br0")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set lan0-far down")
    views.expect("the uplink fails", "unsatisfied noCarrier", sysfs=["satisfied routed other over br0"], fresh=())
    world.far("link set lan0-far up", "link set v7 up")
    views.expect("the uplink is back", WIRED)


@scenario("bridge port with a backup port: its cable fails, and then it has no backup")
def backup_port(world, watch):
    bridge = ("link add br0 type bridge",) + tuple(f"link set port{n}{{}} master br0" for n in (0, 1)) + ("link set br0 up",)
    for name in ("port0", "port1"):
        world.here(f"link add {name} type veth peer name {name}-far netns far", f"link set {name} up")
        world.far(f"link set {name}-far up")
    world.far(*(line.format("-far") for line in bridge), "address add 10.2.0.1/24 dev br0")
    world.here(*(line.format("") for line in bridge), "address add 10.2.0.2/24 dev br0", "route add default via 10.2.0.1 dev br0")
    gateway = json.loads(world.run_in("far", "ip", "-json", "link", "show", "dev", "br0"))[0]["address"]
    # No frame goes round in the two bridges.
    for name in ("port0", "port1"):
        world.run_in("here", "bridge", "link", "set", "dev", name, "isolated", "on")
    world.run_in("here", "bridge", "fdb", "replace", gateway, "dev", "port0", "master", "static", "sticky")
    world.run_in("here", "bridge", "link", "set", "dev", "port0", "backup_port", "port1")
    views = watch()
    views.expect("at the start", WIRED)
    world.far("link set port0-far down")
    views.expect("the backup port carries what was for the port", WIRED)
    world.run_in("here", "bridge", "link", "set", "dev", "port0", "nobackup_port")
    views.expect("there is no backup port", "unsatisfied noCarrier", sysfs=[WIRED])
    world.far("link set port0-far up")
    views.expect("the port's cable is back", WIRED)


@scenario("VRF that takes the uplink away from everything else")
def vrf(world, watch):
    world.veth("lan0", 1)
    views = watch()
    views.expect("at the start", WIRED)
    world.here("link add red type vrf table 77", "link set red up", "link set lan0 master red")
    # What is left is the VRF itself, which has no address.
    views.expect("the uplink is in the VRF", "?unsatisfied noRoute", "unsatisfied noAddress")
    world.here("link set lan0 nomaster", "route replace default via 10.1.0.1 dev lan0")
    # The kernel takes an interface that leaves a VRF down, and up again.
    views.expect("the uplink is out of it", "?unsatisfied noAddress", "?unsatisfied noRoute", "?unsatisfied interfaceDown", WIRED)


@scenario("dummy interface as a kill switch", quick=True)
def kill_switch(world, watch):
    world.veth("lan0", 1)
    views = watch()
    views.expect("at the start", WIRED)
    world.here("link add kill type dummy", "link set kill up", "address add 10.9.0.1/32 dev kill",
               "route add 0.0.0.0/1 dev kill", "route add 128.0.0.0/1 dev kill")
    # sysfs shows no kind of a dummy, so that it is an interface as any other there.
    views.expect("everything goes to the dummy", "?unsatisfied interfaceDown", "unsatisfied routeRejects",
                 sysfs=["satisfied routed other"])
    world.here("link del kill")
    views.expect("the dummy is gone", WIRED)


@scenario("dummy interface whose packets tc sends on")
def redirected(world, watch):
    world.veth("lan0", 1)
    gateway = json.loads(world.run_in("far", "ip", "-json", "link", "show", "dev", "lan0-far"))[0]["address"]
    world.far("route add 10.9.0.1 via 10.1.0.2 dev lan0-far")
    views = watch()
    views.expect("at the start", WIRED)
    # A dummy has no neighbours: what it sends is for its own MAC address.
    world.here("link add out type dummy", f"link set out address {gateway}", "link set out up", "address add 10.9.0.1/32 dev out")
    world.run_in("here", "tc", "qdisc", "add", "dev", "out", "clsact")
    world.run_in("here", "tc", "filter", "add", "dev", "out", "egress", "matchall",
                 "action", "mirred", "egress", "redirect", "dev", "lan0")
    world.here("route replace default dev out")
    views.expect("everything goes to the dummy", "satisfied routed other")
    world.run_in("here", "tc", "qdisc", "del", "dev", "out", "clsact")
    views.expect("tc sends nothing on", "unsatisfied routeRejects", sysfs=["satisfied routed other"])
    world.here("link del out", "route replace default via 10.1.0.1 dev lan0")
    views.expect("the dummy is gone", "?unsatisfied noRoute", WIRED)
