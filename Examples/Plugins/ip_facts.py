#!/usr/bin/env python3
"""What ip(8) sees of the network, as facts for netpath: interfaces, and what the kernel would do with packets.

Needs Python 3.8 and iproute2 5.15 or newer; no package of Python's, and no privilege. Events of the kernel say when to
look, and `ip -json` what there is. netpath works out the path from the facts, as it does for its own backends.

    backends:
      - type: exec
        name: ip
        command: [/usr/bin/python3, /usr/local/lib/netpath/ip_facts.py]

`netpath plugin compare -- /usr/bin/python3 "$PWD/ip_facts.py"` plays it beside the backend netlink.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time

HEARTBEAT = 60
# Links; addresses, routes and rules of both families; settings; next hops (RTMGRP_*, rtnetlink(7)).
GROUPS = 0x1 | 0x10 | 0x40 | 0x80 | 0x100 | 0x400 | 1 << 18 | 1 << 23 | 1 << 24 | 1 << 31
# The names of netpath for what `ip` calls otherwise; the rest is the same but for its case.
STATES = {"NOTPRESENT": "notPresent", "LOWERLAYERDOWN": "lowerLayerDown"}
FLAGS = {"tentative": "tentative", "dadfailed": "duplicate", "deprecated": "deprecated", "optimistic": "optimistic"}
# How the kernel refuses: a route of this type, or a rule.
REJECTIONS = {"Invalid argument": "blackhole", "Permission denied": "prohibit", "No route to host": "unreachable"}
STACKED = {"veth", "bridge", "bond", "team", "vlan", "macvlan", "ipvlan"}


class CannotLook(Exception):
    """What keeps `ip` from telling anything."""


def say(**message):
    print(json.dumps(message), flush=True)


def ip(*arguments):
    """Asks `ip`; returns its answer, and what it complains of."""
    done = subprocess.run(["ip", "-json", *arguments], capture_output=True, text=True, check=False)
    if "netlink socket" in done.stderr:
        raise CannotLook(done.stderr.strip())
    try:
        return json.loads(done.stdout or "[]"), done.stderr
    except ValueError as error:
        raise CannotLook(f"ip {' '.join(arguments)}: {error}") from error


def gateway(hop):
    return hop.get("gateway") or hop.get("via", {}).get("host")


def kind(link):
    return link.get("linkinfo", {}).get("info_kind")


def type_of(link):
    if link.get("link_type") == "loopback":
        return "loopback"
    is_hardware = "parentdev" in link
    if is_hardware and os.path.exists(f"/sys/class/net/{link['ifname']}/phy80211"):
        return "wifi"
    return "wired" if kind(link) in STACKED or (is_hardware and link.get("link_type") == "ether") else "other"


def address(entry):
    return {
        "address": f"{entry['local']}/{entry['prefixlen']}",
        "scope": entry["scope"] if entry["scope"] in ("global", "site", "link", "host") else "global",
        "state": [name for flag, name in FLAGS.items() if entry.get(flag)],
    }


def default_routes():
    """The default routes of the main tables, by interface; those that refuse packets have none."""
    routes = {}
    for family, name in (("-4", "ipv4"), ("-6", "ipv6")):
        for entry in ip(family, "route", "show", "default")[0]:
            for hop in entry.get("nexthops") or [entry]:
                found = {"family": name, "gateway": gateway(hop), "metric": entry.get("metric")}
                routes.setdefault(hop.get("dev"), []).append(found)
    return routes


def interfaces():
    routes = default_routes()
    found = []
    links = list(filter(None, ip("-details", "address", "show")[0]))
    ways = {link.get("master") for link in links if "LOWER_UP" in link["flags"]}
    for link in links:
        flags = link["flags"]
        interface = {
            "name": link["ifname"], "index": link["ifindex"],
            "type": type_of(link), "kind": kind(link),
            "isUp": "UP" in flags,
            "operationalState": STATES.get(link["operstate"], link["operstate"].lower()),
            "hasCarrier": "LOWER_UP" in flags if "UP" in flags else None,
            "isHardware": "parentdev" in link,
            "controller": link.get("master"),
            "hasPorts": link["ifname"] in ways if kind(link) == "bridge" else None,
            "addresses": [address(entry) for entry in link["addr_info"] if "local" in entry],
            "defaultRoutes": routes.get(link["ifname"], []),
        }
        # The index below one that leads into another namespace is of that namespace.
        if "link_netnsid" not in link:
            interface["underlying"] = link.get("link")
        found.append(interface)
    return found


def route(destination, names):
    """What the kernel would do with a packet: the route that matches, and the source that a program gets."""
    packet = (destination, "ipproto", "tcp", "dport", "443")
    found, complaint = ip("route", "get", "fibmatch", *packet)
    if not found:
        rejections = [REJECTIONS[words] for words in REJECTIONS if words in complaint]
        return {"destination": destination, "rejected": rejections[0] if rejections else None}
    match = found[0]
    hops = []
    for hop in match.get("nexthops") or [match]:
        if hop.get("dev") not in names:
            # It came since the interfaces were listed.
            return None
        down = {"linkdown", "dead"} & set(hop.get("flags", []))
        leg = {"interface": hop["dev"], "gateway": gateway(hop), "weight": hop.get("weight")}
        hops.append({**leg, "isDown": bool(down), "isPassedOver": "dead" in down})
    plain = ip("route", "get", *packet)[0]
    source = plain[0].get("prefsrc") if plain else None
    return {"destination": destination, "nextHops": hops, "metric": match.get("metric"), "source": source or "none"}


def open_events():
    """A socket that becomes readable when something changes; None where a sandbox allows none."""
    try:
        events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
        events.bind((0, GROUPS))
        return events
    except OSError:
        return None


def drain(events):
    """Takes the events, which tell that something changed and not what there is now."""
    try:
        while events and events.recv(1 << 16):
            pass
    except OSError:
        # There are no more, or some were lost, which matters as little as what was in them.
        pass


def look(destinations, events):
    """Everything there is to know now; read again where something changed meanwhile."""
    word = None
    for _ in range(5):
        began = time.monotonic()
        drain(events)
        try:
            listed = interfaces()
            names = {interface["name"] for interface in listed}
            routes = [route(destination, names) for destination in destinations]
        except (CannotLook, OSError) as error:
            return {"unavailable": str(error)}
        if None not in routes:
            age = int((time.monotonic() - began) * 1000)
            word = {"evidence": {"interfaces": listed, "routes": routes, "ageMilliseconds": age}}
            if not events or not select.select([events], [], [], 0)[0]:
                break
    return word


def main():
    say(netpath=1, name="ip", requests=["refresh"], heartbeat=HEARTBEAT)
    greeting = json.loads(sys.stdin.buffer.raw.readline())
    events = open_events()
    watched = [sys.stdin] + ([events] if events else [])
    said, asked, pending = None, True, b""
    while True:
        word = look(greeting["referenceDestinations"], events)
        new = {**word.get("evidence", word), "ageMilliseconds": None} if word else said
        say(**word if word and (asked or new != said) else {"heartbeat": True})
        said, asked = new, False
        if greeting.get("once"):
            return
        if sys.stdin in select.select(watched, [], [], HEARTBEAT / 2 if word else 0.1)[0]:
            octets = os.read(sys.stdin.fileno(), 1 << 16)
            *lines, pending = (pending + octets).split(b"\n")
            words = [json.loads(line).get("request") for line in lines]
            if not octets or "shutdown" in words:
                return
            asked = "refresh" in words


if __name__ == "__main__":
    main()
