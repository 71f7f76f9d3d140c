// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ScenarioTable {
    static let tunnels = ScenarioSection(
        title: "Tunnels and policy routing",
        note: "The tunnels' far ends are silent: only a probe can see that.",
        rows: [
            lost(
                "a tunnel takes everything, with the rules of wg-quick",
                why: "\(ScenarioTable.beyond); netlink names the tunnel, sysfs the uplink of the main table"
            ) { stage in
                let tunnel = try stage.lab.addTunnel("tunnel0", addresses: ["10.8.0.2/24"])
                try stage.lab.routeEverything(into: tunnel)
            },
            lost("a tunnel takes both halves of the internet, as OpenVPN does it") { stage in
                let tunnel = try stage.lab.addTunnel("tunnel0", addresses: ["10.8.0.2/24"])
                try stage.lab.ip("route add 0.0.0.0/1 dev \(tunnel.name)")
                try stage.lab.ip("route add 128.0.0.0/1 dev \(tunnel.name)")
            },
            lost("a point-to-point tunnel becomes the default, its peer's address beside its own") { stage in
                let tunnel = try stage.lab.addTunnel("ppp0")
                try stage.lab.ip("address add 10.0.0.1 peer 10.0.0.2/32 dev \(tunnel.name)")
                try stage.lab.ip("route replace default dev \(tunnel.name)")
            },
            Scenario(
                "a tunnel becomes the only interface, and no interface has an address",
                netlink: .no(.noAddress)
            ) { stage in
                let tunnel = try stage.lab.addTunnel("tunnel0")
                try stage.wan.delete()
                try stage.lab.addDefaultRoute(through: tunnel)
            },
            Scenario(
                "the only uplink is a tunnel, and its program ends",
                netlink: .no(.noCarrier)
            ) { stage in
                let device = try stage.lab.addTun("tun0", addresses: ["10.8.0.2/24"], isPersistent: true)
                try stage.wan.delete()
                try stage.lab.addDefaultRoute(through: device.interface)
                try device.close()
            }.with(need: .tun),
            Scenario(
                "the uplink becomes a member of a VRF, and its routes move to the table of that",
                netlink: .no(.noAddress)
            ) { stage in
                try stage.lab.ip("link add vrf0 up type vrf table 10")
                try stage.lab.ip("link set wan0 master vrf0")
                try stage.lab.addDefaultRoute(via: "192.0.2.1", through: stage.wan, options: "table 10")
            }.with(need: .vrf),
            Scenario(
                "the only default route moves to another table, that a policy rule names",
                netlink: .routed,
                sysfs: .no(.noRoute),
                why: ScenarioTable.mainTableOnly
            ) { stage in
                try stage.lab.addDefaultRoute(via: "192.0.2.1", through: stage.wan, options: "table 52")
                try stage.lab.ip("rule add table 52 priority 100")
                try stage.lab.removeDefaultRoute()
            },
            Scenario(
                "the kill switch of a VPN: its table, found by a rule, holds a blackhole",
                netlink: .no(.routeRejects),
                sysfs: .routed,
                why: ScenarioTable.mainTableOnly
            ) { stage in
                try stage.lab.ip("route add blackhole default table 51820")
                try stage.lab.ip("rule add not fwmark 51820 table 51820 priority 100")
            },
            Scenario("the cable is pulled below the kill switch of a VPN", netlink: .no(.noCarrier)) { stage in
                try stage.lab.ip("route add blackhole default table 51820")
                try stage.lab.ip("rule add not fwmark 51820 table 51820 priority 100")
                try stage.wan.setPeerCarrier(false)
            },
        ]
    )

    static let uplinks = ScenarioSection(
        title: "Two uplinks",
        note: "wan0 with metric 0, and wan1 with metric 600 through another gateway.",
        rows: [
            Scenario(
                "the preferred default route is removed: there is no moment without a path",
                steady: true,
                netlink: .routed,
                prepare: { try $0.addBackup() },
                change: { try $0.lab.removeDefaultRoute(through: $0.wan) }
            ),
            Scenario(
                "the preferred uplink's cable is pulled: the kernel goes on sending into it",
                netlink: .no(.noCarrier),
                prepare: { try $0.addBackup() },
                change: { try $0.wan.setPeerCarrier(false) }
            ),
            Scenario(
                "the same where ignore_routes_with_linkdown is set: the kernel fails over",
                netlink: .routed,
                prepare: { stage in
                    try stage.addBackup()
                    try stage.wan.ignoreRoutesWithoutCarrier()
                },
                change: { try $0.wan.setPeerCarrier(false) }
            ),
            lost(
                "the gateway of the preferred uplink is silently dead",
                prepare: { try $0.addBackup() },
                change: { try $0.dropPackets(of: $0.wan) }
            ),
            Scenario("the gateway of the other uplink is silently dead", steady: true, netlink: .routed) {
                try $0.dropPackets(of: $0.addBackup())
            },
            Scenario(
                "a route over both next hops (multipath), the second one's cable pulled",
                netlink: .routed,
                prepare: { try $0.makeMultipath() },
                change: { try $0.setLegs([true, false]) }
            ),
            Scenario(
                "a route over both next hops (multipath), the first one's cable pulled",
                netlink: .routed,
                sysfs: .no(.noRoute),
                why: "procfs shows the first next hop of a multipath route only",
                prepare: { try $0.makeMultipath() },
                change: { try $0.setLegs([false, true]) }
            ),
            Scenario(
                "a route over both next hops (multipath), both cables pulled",
                netlink: .no(.noCarrier),
                prepare: { try $0.makeMultipath() },
                change: { try $0.setLegs([false, false]) }
            ),
        ]
    )
}
