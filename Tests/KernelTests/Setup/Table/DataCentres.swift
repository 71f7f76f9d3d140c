// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Servers with several links to the fabric.
extension SetupTable {
    static let dataCentres = [
        multipath, multipathIPv6, nextHopGroup, unnumbered, unnumberedIPv6, gatewayOfTheOtherFamily, virtualAddress,
        rejectedAggregates,
    ]

    private static let nextHops = [
        Uplink("eth0", "address replace 192.168.1.2/24 dev eth0"),
        Uplink("eth1", "address replace 192.168.2.2/24 dev eth1"),
    ]

    /// What happens to the next hops of a route over both.
    private static func legSteps(_ nextHops: [Uplink], restore: [Command]) -> [Step] {
        [
            Step("the first cable is unplugged", .unplug(nextHops[0].name)),
            Step("and the second", .unplug(nextHops[1].name)),
            Step("the first is plugged in", .plugIn(nextHops[0].name)),
            Step("and the second again", .plugIn(nextHops[1].name)),
        ] + nextHops[0].failures([.interface, .address], then: restore)
            + [
                Step("the second interface is removed", .host("link del \(nextHops[1].name)")),
                Step("the second is back", [.connect(nextHops[1].name)] + nextHops[1].configure + restore),
            ]
    }

    private static var multipath: Setup {
        let route: Command = "route replace default nexthop via 192.168.1.1 dev eth0 nexthop via 192.168.2.1 dev eth1"
        return Setup(
            "ECMP over two links",
            uplinks: nextHops,
            prepare: [route],
            steps: legSteps(nextHops, restore: [route])
        )
    }

    private static var multipathIPv6: Setup {
        let nextHops = ["eth0", "eth1"].enumerated().map { number, name in
            Uplink(
                name,
                "address replace fe80::2/64 dev \(name) nodad",
                "address replace 2001:db8:\(number + 1)::2/64 dev \(name) nodad"
            )
        }
        let route: Command = "-6 route replace default nexthop via fe80::1 dev eth0 nexthop via fe80::1 dev eth1"
        return Setup(
            "ECMP over two links, IPv6",
            uplinks: nextHops,
            prepare: [route],
            steps: legSteps(nextHops, restore: ["-6 route flush exact default", route])
        )
    }

    private static var nextHopGroup: Setup {
        let restore: [Command] = [
            "nexthop replace id 1 via 192.168.1.1 dev eth0",
            "nexthop replace id 2 via 192.168.2.1 dev eth1",
            "nexthop replace id 10 group 1/2",
            "route replace default nhid 10",
        ]
        return Setup(
            "ECMP with next-hop objects",
            uplinks: nextHops,
            prepare: restore,
            steps: nextHops[0].failures([.carrier, .interface, .address], then: restore),
            nextHops[1].failures([.carrier, .removal], then: restore),
            [
                Step("the group is removed", "nexthop del id 10"),
                Step("the group is back", restore),
            ]
        )
    }

    private static var unnumbered: Setup {
        let route: Command =
            "route replace default src 203.0.113.77 nexthop via inet6 fe80::1 dev swp1 nexthop via inet6 fe80::1 dev swp2"
        let nextHops = ["swp1", "swp2"].map { Uplink($0, "address replace fe80::2/64 dev \($0) nodad") }
        return Setup(
            "BGP unnumbered: the address on lo, IPv4 through IPv6 next hops",
            uplinks: nextHops,
            prepare: ["address add 203.0.113.77/32 dev lo", route],
            steps: legSteps(nextHops, restore: [route]),
            [
                Step("the address of lo is removed", "address del 203.0.113.77/32 dev lo"),
                Step("the address of lo is back", "address add 203.0.113.77/32 dev lo", route),
            ]
        )
    }

    private static var unnumberedIPv6: Setup {
        let swp1 = Uplink(
            "swp1",
            "address replace fe80::2/64 dev swp1 nodad",
            "route replace default via fe80::1 dev swp1 proto bgp metric 20"
        )
        return Setup(
            "BGP unnumbered: the IPv6 address on lo",
            uplinks: [swp1],
            prepare: ["address add 2001:db8:77::1/128 dev lo"],
            steps: swp1.failures(),
            [
                Step("the address of lo is removed", "address del 2001:db8:77::1/128 dev lo"),
                Step("the address of lo is back", "address add 2001:db8:77::1/128 dev lo"),
            ]
        )
    }

    private static var gatewayOfTheOtherFamily: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace fe80::2/64 dev eth0 nodad",
            "address replace 203.0.113.5/32 dev eth0",
            "-4 route replace default via inet6 fe80::1 dev eth0"
        )
        return Setup("an IPv4 default through an IPv6 gateway", uplinks: [eth0], steps: eth0.failures())
    }

    private static var virtualAddress: Setup {
        let eth0 = Uplink.routed("eth0")
        return Setup(
            "keepalived: a virtual address comes and goes",
            uplinks: [eth0],
            steps: [
                Step("it becomes master", "address add 192.168.1.100/32 dev eth0", steady: true),
                Step("it becomes backup", "address del 192.168.1.100/32 dev eth0", steady: true),
            ],
            eth0.failures([.carrier, .address])
        )
    }

    private static var rejectedAggregates: Setup {
        let eth0 = Uplink.routed("eth0")
        return Setup(
            "FRR: blackholes for its aggregates and unreachable defaults of last resort",
            uplinks: [eth0],
            prepare: [
                "route add blackhole 10.0.0.0/8 proto static", "route add blackhole 203.0.113.0/24 proto static",
                "-6 route add blackhole 2001:db8:ff00::/40 proto static",
                "route add unreachable default metric 4278198272",
                "-6 route add unreachable default metric 4278198272",
            ],
            steps: eth0.failures()
        )
    }
}
