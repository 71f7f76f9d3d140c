// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// VPNs whose program marks its own packets, so that rules lead them past the tunnel.
extension SetupTable {
    static let virtualPrivateNetworks = [
        wgQuick, wgQuickIPv4, wgQuickOverIPv6, wgQuickKnownServer, wgQuickServerOnLink, tailscaleExitNode,
        tailscaleWithoutExitNode, transparentProxy, roaming, killSwitchOfWgQuick,
    ]

    /// The rules of wg-quick(8); the tunnel's table is also its mark.
    static let wgQuickRules: [Command] = ["-4", "-6"].flatMap { family -> [Command] in
        [
            .host("\(family) rule add not fwmark 51820 table 51820"),
            .host("\(family) rule add table main suppress_prefixlength 0"),
        ]
    }

    static let wgQuickRulesRemoved: [Command] = ["-4", "-6"].flatMap { family -> [Command] in
        [
            .host("\(family) rule del not fwmark 51820 table 51820"),
            .host("\(family) rule del table main suppress_prefixlength 0"),
        ]
    }

    static var wireGuard: Tunnel {
        Tunnel(
            "wg0",
            mark: 51_820,
            "address add 10.9.0.2/32 dev wg0",
            "address add fd09::2/128 dev wg0 nodad",
            "route add default dev wg0 table 51820",
            "route add ::/0 dev wg0 table 51820"
        )
    }

    /// wg-quick(8) over an uplink, and what its `down` does.
    private static func wgQuick(
        _ title: String,
        over uplink: Uplink,
        rules: String = ""
    ) -> Setup {
        let wg0 = wireGuard
        return Setup(
            title,
            uplinks: [uplink],
            rules: rules,
            prepare: [.start(wg0)] + wgQuickRules,
            steps: uplink.failures()
                .untold(serverMayBeOnLink, after: rules.isEmpty ? "wlan0: its routes are removed" : ""),
            wg0.restart(ending: wgQuickRulesRemoved, starting: wgQuickRules),
            [
                Step(
                    "the uplink is unplugged and the VPN ended",
                    [.unplug("wlan0"), .stop("wg0")] + wgQuickRulesRemoved
                ),
                Step("the uplink is plugged in", .plugIn("wlan0")),
            ]
        )
    }

    private static var wgQuick: Setup { wgQuick("wg-quick", over: .routed("wlan0")) }

    private static var wgQuickIPv4: Setup { wgQuick("wg-quick over IPv4 only", over: .routed("wlan0", 1, .ipv4)) }

    private static var wgQuickOverIPv6: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv6)
        // Without an IPv6 address of its own, which its packets would have when the uplink has none.
        let wg0 = Tunnel(
            "wg0",
            to: "2001:db8:53::9",
            mark: 51_820,
            "address add 10.9.0.2/32 dev wg0",
            "route add default dev wg0 table 51820"
        )
        return Setup(
            "wg-quick for IPv4 over IPv6 only",
            uplinks: [wlan0],
            prepare: [.start(wg0)] + wgQuickRules.prefix(2),
            steps: wlan0.failures().untold(serverMayBeOnLink, after: "wlan0: its routes are removed"),
            wg0.restart()
        )
    }

    private static var wgQuickServerOnLink: Setup {
        let lan0 = Uplink("lan0", "address replace 192.168.1.2/24 dev lan0")
        let wg0 = Tunnel(
            "wg0",
            to: "192.168.1.9",
            mark: 51_820,
            "address add 10.9.0.2/32 dev wg0",
            "route add default dev wg0 table 51820"
        )
        return Setup(
            "wg-quick to a gateway in a LAN that has no other way out",
            uplinks: [lan0],
            prepare: [.start(wg0)] + wgQuickRules.prefix(2),
            steps: lan0.failures([.carrier, .interface, .address, .removal]),
            wg0.restart()
        )
    }

    private static var wgQuickKnownServer: Setup {
        wgQuick(
            "wg-quick with its server in the configuration",
            over: .routed("wlan0"),
            rules: "{match: {name: wg0}, tunnelEndpoint: [203.0.113.9], tunnelMark: 51820}"
        )
    }

    /// The rules of tailscaled, router_linux.go.
    private static let tailscaleRules: [Command] = ["-4", "-6"].flatMap { family -> [Command] in
        [
            .host("\(family) rule add fwmark 0x80000/0xff0000 lookup main priority 5210"),
            .host("\(family) rule add fwmark 0x80000/0xff0000 lookup default priority 5230"),
            .host("\(family) rule add fwmark 0x80000/0xff0000 unreachable priority 5250"),
            .host("\(family) rule add lookup 52 priority 5270"),
        ]
    }

    private static func tailscale(_ configuration: [String]) -> Tunnel {
        Tunnel(
            "tailscale0",
            mark: 0x80000,
            [
                "address add 100.64.0.2/32 dev tailscale0", "address add fd7a:115c:a1e0::2/128 dev tailscale0 nodad",
                "route add 100.64.0.0/10 dev tailscale0 table 52",
            ] + configuration
        )
    }

    private static var tailscaleExitNode: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let defaults = ["route add default dev tailscale0 table 52", "route add ::/0 dev tailscale0 table 52"]
        let tailscale0 = tailscale(defaults)
        return Setup(
            "Tailscale with an exit node",
            uplinks: [wlan0],
            prepare: [.start(tailscale0)] + tailscaleRules,
            steps: wlan0.failures().untold(serverMayBeOnLink, after: "wlan0: its routes are removed"),
            tailscale0.restart(),
            [
                Step("the exit node is given up", ["route del default table 52", "-6 route del default table 52"]),
                Step("the exit node is chosen again", defaults.map { .host($0) }),
            ]
        )
    }

    private static var tailscaleWithoutExitNode: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let tailscale0 = tailscale([])
        return Setup(
            "Tailscale without an exit node",
            uplinks: [wlan0],
            prepare: [.start(tailscale0)] + tailscaleRules,
            steps: wlan0.failures(),
            tailscale0.restart()
        )
    }

    private static var transparentProxy: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let wg0 = wireGuard
        return Setup(
            "TPROXY's mark beside wg-quick",
            uplinks: [wlan0],
            prepare: [.start(wg0)] + wgQuickRules + [
                "rule add fwmark 1 lookup 100", "route add local default dev lo table 100",
                "-6 rule add fwmark 1 lookup 100", "-6 route add local default dev lo table 100",
            ],
            steps: wlan0.failures([.carrier, .route, .removal])
                .untold(serverMayBeOnLink, after: "wlan0: its routes are removed")
        )
    }

    private static var roaming: Setup {
        let eth0 = Uplink.routed("eth0", 1, metric: 100)
        let wlan0 = Uplink.routed("wlan0", 2, metric: 600)
        let wg0 = wireGuard
        return Setup(
            "wg-quick roams from cable to Wi-Fi",
            uplinks: [eth0],
            prepare: [.start(wg0)] + wgQuickRules,
            steps: [
                Step("Wi-Fi joins", [.connect("wlan0")] + wlan0.configure, steady: true),
                Step("the routes of the cable are removed", eth0.removal(of: "route"), steady: true),
                Step("the cable is unplugged", .unplug("eth0"), steady: true),
                Step("the cable is plugged in", .plugIn("eth0"), steady: true),
                Step("the routes of the cable are back", eth0.configure, steady: true),
                Step("Wi-Fi is removed", "link del wlan0", steady: true),
                Step("and the cable unplugged", .unplug("eth0")),
                Step("Wi-Fi joins, but the cable's routes win", [.connect("wlan0")] + wlan0.configure),
                Step("the routes of the cable are removed at last", eth0.removal(of: "route")),
            ]
        )
    }

    private static var killSwitchOfWgQuick: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let wg0 = wireGuard
        return Setup(
            "wg-quick whose program is killed: its rules stay",
            uplinks: [wlan0],
            prepare: [.start(wg0)] + wgQuickRules + [
                "route add unreachable default table 51820 metric 4278198272",
                "-6 route add unreachable default table 51820 metric 4278198272",
            ],
            steps: wg0.restart(),
            wlan0.failures([.carrier, .address]),
            [
                Step("the program is killed", .stop("wg0")),
                Step("the cable is unplugged meanwhile", .unplug("wlan0")),
                Step("the cable is plugged in", .plugIn("wlan0")),
                Step("the program starts", .start(wg0)),
            ]
        )
    }
}
