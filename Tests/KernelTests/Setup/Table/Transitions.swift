// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// One family carried in the other.
///
/// The kernel's own tunnels (sit, ip6tnl) know their far end, which a rule says for the program that stands for them.
extension SetupTable {
    static let transitions = [
        clat, clatKnownPrefix, dualStackLite, sixInFour, vpnOverClat, pppoeLike,
    ]

    private static func clat(_ endpoint: String = "2001:db8:64::9") -> Tunnel {
        Tunnel(
            "clat",
            to: endpoint,
            "address add 192.0.0.4/32 dev clat",
            "route add default dev clat metric 2048 mtu 1260"
        )
    }

    private static let pref64 = "{match: {name: clat}, tunnelEndpoint: [\"2001:db8:64::9\"]}"

    private static var clat: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv6)
        let clat = clat()
        return Setup(
            "464XLAT on an IPv6-only network",
            uplinks: [wlan0],
            prepare: [.start(clat)],
            steps: wlan0.failures().untold(serverIsUnknown, after: "wlan0: its routes are removed"),
            clat.restart()
        )
    }

    private static var clatKnownPrefix: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv6)
        let clat = clat()
        return Setup(
            "464XLAT on an IPv6-only network, its prefix in the configuration",
            uplinks: [wlan0],
            rules: pref64,
            prepare: [.start(clat)],
            steps: wlan0.failures(),
            clat.restart()
        )
    }

    private static var dualStackLite: Setup {
        let wan = Uplink.routed("wan", 1, .ipv6)
        let lite = Tunnel(
            "ds-wan",
            to: "2001:db8:aa::1",
            "address add 192.0.0.2/29 dev ds-wan",
            "route add default dev ds-wan"
        )
        return Setup(
            "DS-Lite: IPv4 to the provider's AFTR",
            uplinks: [wan],
            rules: "{match: {name: ds-wan}, tunnelEndpoint: [\"2001:db8:aa::1\"]}",
            prepare: [.start(lite)],
            steps: wan.failures(),
            lite.restart()
        )
    }

    private static var sixInFour: Setup {
        let wan = Uplink.routed("wan", 1, .ipv4)
        let he = Tunnel(
            "6in4-he",
            to: "216.66.80.30",
            "address add 2001:db8:6::2/64 dev 6in4-he nodad",
            "route add ::/0 dev 6in4-he"
        )
        return Setup(
            "6in4: IPv6 from a tunnel broker",
            uplinks: [wan],
            rules: "{match: {name: 6in4-he}, tunnelEndpoint: [216.66.80.30]}",
            prepare: [.start(he)],
            steps: wan.failures(),
            he.restart()
        )
    }

    private static var vpnOverClat: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv6)
        let clat = clat()
        // The translator's own packets are not marked, so IPv6 must stay out of the tunnel.
        let wg0 = Tunnel(
            "wg0",
            mark: 51_820,
            "address add 10.9.0.2/32 dev wg0",
            "route add default dev wg0 table 51820"
        )
        return Setup(
            "wg-quick for IPv4 over 464XLAT on an IPv6-only network",
            uplinks: [wlan0],
            prepare: [.start(clat), .start(wg0)] + wgQuickRules.prefix(2),
            steps: wlan0.failures().untold(serverIsUnknown, after: "wlan0: its routes are removed"),
            clat.restart().untold(
                "the mark of WireGuard has a way in IPv6, and nobody says that the server has an IPv4 address",
                after: "clat: the program ends"
            ),
            wg0.restart()
        )
    }

    private static var pppoeLike: Setup {
        let wan = Uplink("wan", "address replace fe80::2/64 dev wan nodad")
        let ppp = Tunnel(
            "pppoe-wan",
            to: "fe80::1%wan",
            device: "wan",
            "address add 203.0.113.5 peer 203.0.113.1/32 dev pppoe-wan",
            "route add default via 203.0.113.1 dev pppoe-wan"
        )
        return Setup(
            "PPPoE in a process, over a link without any address but link-local ones",
            uplinks: [wan],
            rules: "{match: {name: pppoe-wan}, tunnelEndpoint: [\"fe80::1%wan\"]}",
            prepare: [.start(ppp)],
            steps: wan.failures([.carrier, .interface]),
            ppp.restart(),
            [
                Step("the interface is removed", "link del wan"),
                Step(
                    "it is there again, and the program starts again",
                    [.connect("wan"), .stop("pppoe-wan")] + wan.configure + [.start(ppp)]
                ),
            ]
        )
    }
}
