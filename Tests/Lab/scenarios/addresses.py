# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Addresses and their routes: leases that run out or change, router advertisements, duplicates, and portals."""

import http.server
import socket
import struct
import threading

from leases import Leases
from radio import ask_for_address
from scenario import scenario
from world import in_namespace, until, write

WIRED = "satisfied routed wired"
WAITING = "requiresConnection configuringAddress"


def lease(world, subnet, seconds):
    """A DHCP server with one subnet, whose leases are short; stop it with `kill`."""
    write(f"{world.folder}/leases", "")
    write(f"{world.folder}/udhcpd.conf", f"start 10.{subnet}.0.50\nend 10.{subnet}.0.59\ninterface lan0-far\n"
          f"lease_file {world.folder}/leases\npidfile {world.folder}/udhcpd.pid\nmin_lease {seconds}\n"
          f"option subnet 255.255.255.0\noption router 10.{subnet}.0.1\noption lease {seconds}\n")
    return world.start("far", "udhcpd", "busybox", "udhcpd", "-f", f"{world.folder}/udhcpd.conf")


@scenario("a lease of DHCP that runs out, and another address afterwards")
def lease_out(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("address add 10.11.0.1/24 dev lan0-far")
    server = lease(world, 1, 20)
    ask_for_address(world, "lan0")
    until("address", lambda: "10.1.0.5" in world.run_in("here", "ip", "address"))
    views = watch()
    views.expect("leased", WIRED)
    server.kill()
    server.wait()
    views.expect("the lease is out", "unsatisfied noAddress", fresh=("default",))
    lease(world, 11, 120)
    views.expect("another address", "?" + WAITING, "?unsatisfied noRoute", WIRED)


@scenario("a DHCP server on a cable that refuses: to renew a lease, then each address that it offers, and no more")
def refused(world, watch):
    world.veth("lan0", 1, route=False)
    leases = Leases("lan0-far", 1)
    ask_for_address(world, "lan0")
    until("route", lambda: "10.1.0.1" in world.run_in("here", "ip", "route", "show", "default"))
    views = watch()
    views.expect("leased", WIRED)
    leases.refuses = True
    until("refusal of a renewal", lambda: leases.refusals > 0)
    views.expect("its renewal is refused", "?" + WAITING, "unsatisfied noAddress", fresh=("default",))
    until("refusal of an offer", lambda: leases.refusals > 2)
    views.expect("each offer is refused", "unsatisfied noAddress", fresh=("default",))
    leases.refuses = False
    views.expect("it gives again", "?" + WAITING, "?unsatisfied noRoute", WIRED)


def advertise(world, lifetime):
    """A router advertisement of `far`, with a prefix and the router's lifetime in seconds."""
    with in_namespace("far", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)) as raw:
        index = in_namespace("far", lambda: socket.if_nametoindex("lan0-far"))
        raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 1800, 1800, 0) + socket.inet_pton(socket.AF_INET6, "2a00:1:2:3::")
        raw.sendto(struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0) + prefix, ("ff02::1", 0, 0, index))


@scenario("IPv6 by router advertisements: the router resigns, comes back, and falls silent")
def router(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("address flush dev lan0-far scope global", "address add 2a00:1:2:3::1/64 dev lan0-far nodad")
    # The kernel drops the routes through a neighbour that says it is no router.
    world.run_in("far", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    until("link-local address of the router", lambda: "tentative" not in
          world.run_in("far", "ip", "address", "show", "dev", "lan0-far", "scope", "link"))
    until("link-local address", lambda: "inet6 fe80" in world.run_in("here", "ip", "address", "show", "dev", "lan0")
          and "tentative" not in world.run_in("here", "ip", "address", "show", "dev", "lan0"))
    advertise(world, 1800)
    until("address", lambda: "2a00:1:2:3:" in world.run_in("here", "ip", "address", "show", "dev", "lan0", "-tentative"))
    views = watch("grace=8s")
    views.expect("advertised", WIRED)
    advertise(world, 0)
    # The address is young and of a router, so that a route may follow.
    views.expect("the router resigns", "?" + WAITING, "unsatisfied noRoute", fresh=())
    advertise(world, 12)
    views.expect("it is back", WIRED, fresh=())
    views.expect("its lifetime is out", WIRED, "?" + WAITING, "unsatisfied noRoute", fresh=())


@scenario("IPv6 address that another machine of the link has, and one that none has")
def duplicate(world, watch):
    world.veth("lan0", 1, route=False)
    world.far("address flush dev lan0-far scope global", "address add 2a00:1:2:3::1/64 dev lan0-far nodad",
              "address add 2a00:1:2:3::2/64 dev lan0-far nodad")
    until("link-local address", lambda: "inet6 fe80" in world.run_in("here", "ip", "address", "show", "dev", "lan0")
          and "tentative" not in world.run_in("here", "ip", "address", "show", "dev", "lan0"))
    views = watch("grace=8s")
    views.expect("without an address", "?" + WAITING, "unsatisfied noAddress", fresh=())
    world.here("address add 2a00:1:2:3::2/64 dev lan0", "route add default via 2a00:1:2:3::1 dev lan0")
    until("refusal", lambda: "dadfailed" in world.run_in("here", "ip", "address", "show", "dev", "lan0"))
    # It may be refused before anything was said of it.
    views.expect("a duplicate", "?" + WAITING, "?unsatisfied noAddress", fresh=("default",))
    world.here("address add 2a00:1:2:3::3/64 dev lan0")
    views.expect("one of its own", "?" + WAITING, WIRED)


class Portal(http.server.BaseHTTPRequestHandler):
    signed_in = False

    def do_GET(self):
        self.send_response(204 if Portal.signed_in else 302)
        if not Portal.signed_in:
            self.send_header("Location", "http://10.1.0.1/login")
        self.end_headers()

    def log_message(self, *words):
        pass


@scenario("a portal that wants a sign-in, and lets through afterwards", views=("default",))
def portal(world, watch):
    world.veth("lan0", 1)
    server = in_namespace("far", lambda: http.server.ThreadingHTTPServer(("9.0.0.1", 80), Portal))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world.is_silent = True
    config = f"{world.folder}/netpath.yaml"
    write(config, "backends:\n  - type: netlink\n  - type: httpProbe\n    checks:\n      - url: http://9.0.0.1/generate_204\n"
                  "merge:\n  portals: requiresConnection\n")
    views = watch(config=config)
    views.expect("at the start", "?" + WIRED, "requiresConnection captivePortal", fresh=())
    Portal.signed_in = True
    world.is_silent = False
    views.expect("signed in", WIRED, fresh=())
