// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ScenarioTable {
    static let routes = ScenarioSection(
        title: "Default routes",
        note: "Default routes of every shape.",
        rows: [
            Scenario("the default route is removed", netlink: .no(.noRoute)) { try $0.lab.removeDefaultRoute() },
            Scenario("it is removed and added three hundred times, at last added", netlink: .routed) { stage in
                let flap = ["route del default", "route add default via 192.0.2.1"]
                try stage.lab.ipBatch((0..<300).flatMap { _ in flap })
            },
            Scenario("it is removed and added three hundred times, at last removed", netlink: .no(.noRoute)) { stage in
                let flap = ["route del default", "route add default via 192.0.2.1"]
                try stage.lab.ipBatch((0..<300).flatMap { _ in flap } + ["route del default"])
            },
            Scenario("the IPv6 default route is removed", in: .ipv6, netlink: .no(.noRoute)) {
                try $0.lab.removeDefaultRoute(family: .ipv6)
            },
            Scenario("one of two families loses its default route", in: .dual, netlink: .routed) {
                try $0.lab.removeDefaultRoute()
            },
            Scenario("the IPv4 gateway becomes an IPv6 address (RTA_VIA)", netlink: .routed) { stage in
                try stage.lab.runOnFarSide("ip address add fe80::1/64 dev \(stage.peer) nodad")
                try stage.wan.addAddress("fe80::2/64")
                try stage.lab.ip("-4 route replace default via inet6 fe80::1 dev wan0")
            },
            Scenario(
                "the default route has no gateway: destinations are resolved on the link itself",
                netlink: .routed
            ) { try $0.lab.ip("route replace default dev wan0") },
            Scenario(
                "the default route becomes a next-hop object, and answers name only that",
                netlink: .routed
            ) { stage in
                try stage.lab.setParameter("net/ipv4/nexthop_compat_mode", to: 0)
                try stage.lab.ip("nexthop add id 10 via 192.0.2.1 dev wan0")
                try stage.lab.ip("route replace default nhid 10")
            },
            Scenario(
                "the next-hop object is deleted: its route goes without a word",
                netlink: .no(.noRoute),
                prepare: { stage in
                    try stage.lab.ip("nexthop add id 10 via 192.0.2.1 dev wan0")
                    try stage.lab.ip("route replace default nhid 10")
                },
                change: { try $0.lab.ip("nexthop del id 10") }
            ),
            Scenario(
                "the route of a router advertisement expires; its removal comes up to half a minute late",
                in: .ipv6,
                netlink: .no(.noRoute),
                sysfs: .routed,
                why: "procfs goes on listing an expired route until the kernel removes it, and tells no lifetimes"
            ) { stage in
                try stage.lab.ip("-6 route replace default via 2001:db8:1::1 dev wan0 proto ra expires 1")
                try stage.lab.ip("-6 route flush proto boot default")
                try stage.awaitExpiry()
            },
            Scenario("twenty thousand unrelated routes are added", steady: true, netlink: .routed) {
                try $0.lab.addUnrelatedRoutes(20_000, through: $0.wan)
            },
        ]
    )

    static let rejections = ScenarioSection(
        title: "Rejecting routes and rules",
        note: "The kernel answers in the network's place.",
        rows: [
            Scenario("the default route becomes a blackhole", netlink: .no(.routeRejects)) {
                try $0.lab.ip("route replace blackhole default")
            },
            Scenario("the default route becomes unreachable", netlink: .no(.routeRejects)) {
                try $0.lab.ip("route replace unreachable default")
            },
            Scenario("the default route becomes prohibited", netlink: .no(.routeRejects)) {
                try $0.lab.ip("route replace prohibit default")
            },
            Scenario("the IPv6 default route becomes a blackhole", in: .ipv6, netlink: .no(.routeRejects)) { stage in
                try stage.lab.removeDefaultRoute(family: .ipv6)
                try stage.lab.ip("-6 route add blackhole default")
            },
            Scenario("one of two families gets a blackhole", in: .dual, netlink: .routed) {
                try $0.lab.ip("route replace blackhole default")
            },
            Scenario(
                "the IPv4 default route is removed beside an unreachable one of IPv6",
                in: .dual,
                netlink: .no(.noRoute)
            ) { stage in
                try stage.lab.removeDefaultRoute(family: .ipv6)
                try stage.lab.ip("-6 route add unreachable default")
                try stage.lab.removeDefaultRoute()
            },
            Scenario(
                "the cable is pulled beside an unreachable IPv6 default route, as a protection against leaks has it",
                netlink: .no(.noCarrier),
                prepare: { try $0.lab.ip("-6 route add unreachable default") },
                change: { try $0.wan.setPeerCarrier(false) }
            ),
            Scenario(
                "IPv6 is off and has a blackhole, and the IPv4 default route is removed",
                netlink: .no(.noRoute),
                prepare: { stage in
                    try stage.lab.setParameter("net/ipv6/conf/all/disable_ipv6", to: 1)
                    try stage.lab.ip("-6 route add blackhole default")
                },
                change: { try $0.lab.removeDefaultRoute() }
            ),
            Scenario(
                "a policy rule says that everything is unreachable",
                netlink: .no(.routeRejects),
                sysfs: .routed,
                why: ScenarioTable.mainTableOnly
            ) { try $0.lab.ip("rule add unreachable priority 100") },
            Scenario(
                "a policy rule prohibits everything",
                netlink: .no(.routeRejects),
                sysfs: .routed,
                why: ScenarioTable.mainTableOnly
            ) { try $0.lab.ip("rule add prohibit priority 100") },
            Scenario("the default route says throw, and there is nowhere else to look", netlink: .no(.noRoute)) {
                try $0.lab.ip("route replace throw default")
            },
            Scenario(
                "a route of another table says throw: the search goes on in the main table",
                netlink: .routed
            ) { stage in
                try stage.lab.ip("route add throw default table 77")
                try stage.lab.ip("rule add table 77 priority 100")
            },
        ]
    )

    static let pieces = ScenarioSection(
        title: "The internet in pieces",
        note: "Routes that cover the internet together, or only a part of it.",
        rows: [
            Scenario("two halves (0.0.0.0/1 and 128.0.0.0/1) replace the default route", netlink: .routed) { stage in
                try stage.lab.ip("route add 0.0.0.0/1 via 192.0.2.1")
                try stage.lab.ip("route add 128.0.0.0/1 via 192.0.2.1")
                try stage.lab.removeDefaultRoute()
            },
            Scenario(
                "only the upper half is routed, where the probe's target is",
                netlink: .no(.noRoute),
                probe: .answered,
                why: "a probe knows about its targets, and half of the internet is not the internet"
            ) { stage in
                try stage.lab.ip("route add 128.0.0.0/1 via 192.0.2.1")
                try stage.lab.removeDefaultRoute()
            },
            Scenario("2000::/3 replaces the IPv6 default route", in: .ipv6, netlink: .routed) { stage in
                try stage.lab.ip("-6 route add 2000::/3 via 2001:db8:1::1")
                try stage.lab.removeDefaultRoute(family: .ipv6)
            },
            Scenario(
                "8.0.0.0/7 becomes a blackhole",
                netlink: .no(.routeRejects),
                probe: .answered,
                why: "the probe's target is elsewhere"
            ) { try $0.lab.ip("route add blackhole 8.0.0.0/7") },
            Scenario(
                "192.0.0.0/7 becomes a blackhole, behind five hundred other routes",
                netlink: .no(.routeRejects),
                sysfs: .routed,
                probe: .answered,
                why: "\(ScenarioTable.firstRoutesOnly); the probe's target is elsewhere",
                prepare: { try $0.lab.addUnrelatedRoutes(500, through: $0.wan) },
                change: { try $0.lab.ip("route add blackhole 192.0.0.0/7") }
            ),
            Scenario(
                "two halves replace the default route, with five hundred other routes between them",
                .atStart,
                netlink: .routed,
                sysfs: .silent,
                why: ScenarioTable.firstRoutesOnly
            ) { stage in
                try stage.lab.addUnrelatedRoutes(500, through: stage.wan)
                try stage.lab.ip("route add 0.0.0.0/1 via 192.0.2.1")
                try stage.lab.ip("route add 128.0.0.0/1 via 192.0.2.1")
                try stage.lab.removeDefaultRoute()
            },
            Scenario("8.0.0.0/7 is routed into a tunnel", netlink: .routed) { stage in
                let tunnel = try stage.lab.addTunnel("tunnel0", addresses: ["10.8.0.2/24"])
                try stage.lab.ip("route add 8.0.0.0/7 dev \(tunnel.name)")
            },
        ]
    )
}
