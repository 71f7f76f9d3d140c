// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Home and office routers, most of them as OpenWrt configures them.
extension SetupTable {
    static let routers = [
        sourceSpecific, twoUplinks, failoverByCarrier, sourceSpecificTwice, markedPolicies, delegatedPrefix,
        lanBridge, cellularBackup, sameNetworkTwice,
    ]

    private static func sourceSpecific(_ name: String, _ number: Int, metric: Int = 512) -> Uplink {
        Uplink(
            name,
            "address replace fe80::2/64 dev \(name) nodad",
            "address replace 2001:db8:\(number)::2/64 dev \(name) nodad",
            "route replace ::/0 from 2001:db8:\(number)::/64 via fe80::1 dev \(name) metric \(metric)"
        )
    }

    private static var sourceSpecific: Setup {
        let wan = sourceSpecific("wan", 1)
        return Setup("OpenWrt: a source-specific IPv6 default", uplinks: [wan], steps: wan.failures())
    }

    private static var twoUplinks: Setup {
        let (wan, wanb) = (Uplink.routed("wan", 1, metric: 10), Uplink.routed("wanb", 2, metric: 20))
        return Setup(
            "OpenWrt: two uplinks with metrics",
            uplinks: [wan, wanb],
            steps: wan.failures(),
            wanb.failures([.carrier, .removal])
        )
    }

    private static var failoverByCarrier: Setup {
        let (wan, wanb) = (Uplink.routed("wan", 1, metric: 10), Uplink.routed("wanb", 2, metric: 20))
        return Setup(
            "OpenWrt: two uplinks, failover by carrier",
            uplinks: [wan, wanb],
            prepare: ["ipv4", "ipv6"].flatMap { family in
                ["all", "default", "wan", "wanb"].map {
                    .parameter("\(family)/conf/\($0)/ignore_routes_with_linkdown", 1)
                }
            },
            steps: wan.failures(),
            [
                Step("both cables are unplugged", .unplug("wan"), .unplug("wanb")),
                Step("the second cable is plugged in", .plugIn("wanb")),
                Step("both cables are plugged in", .plugIn("wan")),
            ]
        )
    }

    private static var sourceSpecificTwice: Setup {
        let (wan, wanb) = (sourceSpecific("wan", 1), sourceSpecific("wanb", 2, metric: 1024))
        return Setup(
            "OpenWrt: two uplinks with source-specific IPv6 defaults",
            uplinks: [wan, wanb],
            steps: wan.failures(),
            wanb.failures([.carrier, .address])
        )
    }

    private static var markedPolicies: Setup {
        let (wan, wanb) = (Uplink.routed("wan", 1, .ipv4, metric: 10), Uplink.routed("wanb", 2, .ipv4, metric: 20))
        return Setup(
            "OpenWrt: mwan3 and its marks",
            uplinks: [wan, wanb],
            prepare: [
                "route add default via 192.168.1.1 dev wan table 1",
                "route add default via 192.168.2.1 dev wanb table 2",
                "rule add iif wan lookup 1 priority 1001",
                "rule add iif wanb lookup 2 priority 1002",
                "rule add fwmark 0x100/0x3f00 lookup 1 priority 2001",
                "rule add fwmark 0x200/0x3f00 lookup 2 priority 2002",
                "rule add fwmark 0x3d00/0x3f00 blackhole priority 2061",
                "rule add fwmark 0x3e00/0x3f00 unreachable priority 2062",
            ],
            steps: wan.failures(),
            wanb.failures([.carrier])
        )
    }

    private static var delegatedPrefix: Setup {
        let wan = Uplink(
            "wan",
            "address replace fe80::2/64 dev wan nodad",
            "route replace default via fe80::1 dev wan metric 512"
        )
        return Setup(
            "OpenWrt: a delegated prefix on the bridge, none on the uplink",
            uplinks: [wan],
            prepare: [
                "link add br-lan up type bridge",
                "address add 2001:db8:100::1/64 dev br-lan nodad",
                "route add unreachable 2001:db8:100::/48",
            ],
            steps: wan.failures(),
            [
                Step("the bridge loses the prefix", "address del 2001:db8:100::1/64 dev br-lan"),
                Step("the bridge has the prefix", "address add 2001:db8:100::1/64 dev br-lan nodad"),
                Step("the bridge is removed", "link del br-lan"),
            ]
        )
    }

    private static var lanBridge: Setup {
        let wan = Uplink.routed("wan")
        return Setup(
            "OpenWrt: an uplink beside a bridge of LAN ports",
            uplinks: [wan, Uplink("lan1"), Uplink("lan2")],
            prepare: [
                "link add br-lan up type bridge", "link set lan1 master br-lan", "link set lan2 master br-lan",
                "address add 10.0.0.1/24 dev br-lan",
            ],
            steps: wan.failures(),
            [
                Step("a machine of the LAN is unplugged", .unplug("lan1"), steady: true),
                Step("and the other one", .unplug("lan2"), steady: true),
                Step("a machine of the LAN is plugged in", .plugIn("lan1"), steady: true),
            ]
        )
    }

    private static var cellularBackup: Setup {
        let (wan, wwan) = (Uplink.routed("wan", 1, metric: 10), Uplink.routed("wwan0", 2, .ipv4, metric: 700))
        return Setup(
            "a router with a modem as backup",
            uplinks: [wan, wwan],
            rules: "{match: {name: \"wwan*\"}, type: cellular}",
            steps: wan.failures([.interface, .route, .removal]),
            wwan.failures([.carrier, .removal]),
            [
                Step("the first uplink is removed", "link del wan"),
                Step("and the modem", "link del wwan0"),
                Step("the modem is back", [.connect("wwan0")] + wwan.configure),
            ]
        )
    }

    private static var sameNetworkTwice: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 192.168.1.2/24 dev eth0",
            "route replace default via 192.168.1.1 dev eth0 metric 100"
        )
        let wlan0 = Uplink(
            "wlan0",
            "address replace 192.168.1.3/24 dev wlan0",
            "route replace default via 192.168.1.1 dev wlan0 metric 600"
        )
        return Setup(
            "a laptop with cable and Wi-Fi in the same network",
            uplinks: [eth0, wlan0],
            steps: eth0.failures(),
            wlan0.failures([.carrier, .address])
        )
    }
}
