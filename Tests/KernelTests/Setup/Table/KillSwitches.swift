// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Setups that would rather be offline than send anything beside the VPN.
extension SetupTable {
    static let killSwitches = [
        unreachableBehind, blackholeBehind, prohibitRule, leakProtectionIPv6, discardingInterface,
    ]

    private static let server: Command = "route replace 203.0.113.9 via 192.168.1.1 dev wlan0"

    private static let wlan0 = Uplink("wlan0", "address replace 192.168.1.2/24 dev wlan0")
    private static let losses = wlan0.failures([.carrier, .interface, .address, .removal], then: [server])

    private static func setup(_ title: String, guards: [Command], rules: String, losses: [Step]) -> Setup {
        let tun0 = Tunnel(
            "tun0",
            "address add 10.8.0.2/24 dev tun0",
            "route add default dev tun0 metric 50"
        )
        return Setup(
            title,
            uplinks: [wlan0],
            rules: rules,
            prepare: [server] + guards + [.start(tun0)],
            steps: tun0.restart(),
            losses,
            [
                Step("the VPN ends", .stop("tun0")),
                Step("the cable is unplugged", .unplug("wlan0")),
                Step("the cable is plugged in", .plugIn("wlan0")),
                Step("the VPN starts", .start(tun0)),
            ]
        )
    }

    private static var unreachableBehind: Setup {
        setup(
            "kill switch: unreachable defaults behind the VPN",
            guards: [
                "route add unreachable default metric 4278198272",
                "-6 route add unreachable default metric 4278198272",
            ],
            rules: Uplink.isHardware("wlan0"),
            losses: losses
        )
    }

    private static var blackholeBehind: Setup {
        setup(
            "kill switch: blackhole defaults behind the VPN, its server in the configuration",
            guards: ["route add blackhole default metric 9999", "-6 route add blackhole default metric 9999"],
            rules: "{match: {name: tun0}, tunnelEndpoint: [203.0.113.9]}",
            losses: losses
        )
    }

    private static var prohibitRule: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let wg0 = wireGuard
        return Setup(
            "kill switch: a rule prohibits what is not marked when the VPN's table has nothing",
            uplinks: [wlan0],
            prepare: [.start(wg0)] + wgQuickRules + [
                "rule add not fwmark 51820 prohibit priority 32765",
                "-6 rule add not fwmark 51820 prohibit priority 32765",
            ],
            steps: wg0.restart(),
            wlan0.failures().untold(serverMayBeOnLink, after: "wlan0: its routes are removed")
        )
    }

    /// NetworkManager makes `dummy` interfaces for it; `ifb` discards as well where the kernel has none.
    private static var discardingInterface: Setup {
        let make: Command = .shell(
            """
            ip link add pvpnksintrf0 type dummy || ip link add pvpnksintrf0 type ifb
            ip link set pvpnksintrf0 up
            ip address add 100.85.0.1/24 dev pvpnksintrf0
            ip route add default dev pvpnksintrf0 metric 98
            """
        )
        let wlan0 = Uplink.routed("wlan0", 1, .ipv4, metric: 600)
        let tun0 = Tunnel("tun0", "address add 10.8.0.2/24 dev tun0", "route add default dev tun0 metric 50")
        return Setup(
            "kill switch: the default route of an interface that discards, as of Proton VPN",
            uplinks: [wlan0],
            rules: Uplink.isHardware("wlan0"),
            prepare: [server, make],
            steps: [
                Step("the VPN starts", .start(tun0)),
                Step("the VPN ends", .stop("tun0")),
                Step("the cable is unplugged", .unplug("wlan0")),
                Step("the cable is plugged in", .plugIn("wlan0")),
                Step("the protection ends", "link del pvpnksintrf0"),
            ]
        )
    }

    private static var leakProtectionIPv6: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv4)
        return Setup(
            "IPv6 leak protection: an unreachable IPv6 default beside IPv4",
            uplinks: [wlan0],
            prepare: ["-6 route add unreachable default metric 4278198272"],
            steps: wlan0.failures()
        )
    }
}
