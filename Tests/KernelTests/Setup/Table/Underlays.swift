// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// WireGuard over uplinks that are not as simple as most, and beside marks of others.
extension SetupTable {
    static let underlays = [
        overUnnumbered, overDelegatedPrefix, overSourceRoute, besidePolicyMarks, besideCilium,
    ]

    /// A tunnel for IPv4 only, with the rules of wg-quick(8).
    private static func wireGuardForIPv4(to endpoint: String = "203.0.113.9") -> Tunnel {
        Tunnel(
            "wg0",
            to: endpoint,
            mark: 51_820,
            "address add 10.9.0.2/32 dev wg0",
            "route add default dev wg0 table 51820"
        )
    }

    private static let rulesForIPv4 = Array(wgQuickRules.prefix(2))

    private static var overUnnumbered: Setup {
        let swp1 = Uplink(
            "swp1",
            "address replace fe80::2/64 dev swp1 nodad",
            "-4 route replace default via inet6 fe80::1 dev swp1 src 203.0.113.77"
        )
        let wg0 = wireGuardForIPv4(to: "198.51.100.9")
        return Setup(
            "wg-quick over BGP unnumbered, the address on lo",
            uplinks: [],
            prepare: ["address add 203.0.113.77/32 dev lo", .connect("swp1")] + swp1.configure + [.start(wg0)]
                + rulesForIPv4,
            steps: swp1.failures(),
            [
                Step("the address of lo is removed", "address del 203.0.113.77/32 dev lo"),
                Step("the address of lo is back", ["address add 203.0.113.77/32 dev lo"] + swp1.configure),
            ],
            wg0.restart()
        )
    }

    private static var overDelegatedPrefix: Setup {
        let wan = Uplink(
            "wan",
            "address replace fe80::2/64 dev wan nodad",
            "route replace default via fe80::1 dev wan metric 512"
        )
        let wg0 = wireGuardForIPv4(to: "2001:db8:53::9")
        return Setup(
            "wg-quick on a router with a delegated prefix on its bridge",
            uplinks: [wan],
            prepare: [
                "link add br-lan up type bridge", "address add 2001:db8:100::1/64 dev br-lan nodad", .start(wg0),
            ] + rulesForIPv4,
            steps: wan.failures(),
            [
                Step("the bridge loses the prefix", "address del 2001:db8:100::1/64 dev br-lan"),
                Step("the bridge has the prefix", "address add 2001:db8:100::1/64 dev br-lan nodad"),
            ],
            wg0.restart()
        )
    }

    private static var overSourceRoute: Setup {
        let wan = Uplink(
            "wan",
            "address replace 2001:db8:1::2/64 dev wan nodad",
            "-6 route replace default from 2001:db8:1::/64 via fe80::1 dev wan metric 512"
        )
        let wg0 = wireGuardForIPv4(to: "2001:db8:53::9")
        return Setup(
            "wg-quick on a router whose default route is for one source prefix",
            uplinks: [wan],
            prepare: [.start(wg0)] + rulesForIPv4,
            steps: wan.failures().untold(serverMayBeOnLink, after: "wan: its routes are removed"),
            wg0.restart()
        )
    }

    private static var besidePolicyMarks: Setup {
        let (wan, wanb) = (Uplink.routed("wan", 1, .ipv4, metric: 10), Uplink.routed("wanb", 2, .ipv4, metric: 20))
        let wg0 = wireGuardForIPv4()
        return Setup(
            "wg-quick beside the marks of mwan3",
            uplinks: [wan, wanb],
            prepare: [
                "route add default via 192.168.1.1 dev wan table 1",
                "route add default via 192.168.2.1 dev wanb table 2",
                "rule add fwmark 0x100/0x3f00 lookup 1 priority 2001",
                "rule add fwmark 0x200/0x3f00 lookup 2 priority 2002",
                "rule add fwmark 0x3d00/0x3f00 blackhole priority 2061",
                .start(wg0),
            ] + rulesForIPv4,
            steps: wan.failures(),
            [
                Step("the first uplink is removed", "link del wan"),
                Step("and the second", "link del wanb"),
                Step("the second is back", [.connect("wanb")] + wanb.configure),
            ],
            wg0.restart()
        )
    }

    private static var besideCilium: Setup {
        let eth0 = Uplink.routed("eth0", 1, .ipv4)
        let wg0 = wireGuardForIPv4()
        return Setup(
            "wg-quick beside the marks of Cilium",
            uplinks: [eth0],
            prepare: [
                "route add local default dev lo table 2004",
                "rule add fwmark 0x200/0xf00 lookup 2004 priority 9",
                .start(wg0),
            ] + rulesForIPv4,
            steps: eth0.failures().untold(serverMayBeOnLink, after: "eth0: its routes are removed"),
            wg0.restart()
        )
    }
}
