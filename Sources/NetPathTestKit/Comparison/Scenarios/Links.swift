// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ScenarioTable {
    static let links = ScenarioSection(
        title: "Links",
        note: "The only uplink, and what becomes of it.",
        rows: [
            Scenario("the uplink disappears", netlink: .no(.noInterface)) { try $0.wan.delete() },
            Scenario(
                "the uplink disappears, and the default route leads to loopback",
                netlink: .no(.noInterface)
            ) { stage in
                try stage.wan.delete()
                try stage.lab.ip("route add default dev lo")
            },
            Scenario("the uplink is set down: IPv4 routes go without a word", netlink: .no(.allDown)) {
                try $0.wan.setDown()
            },
            Scenario(
                "set down and up again: the address is there, the default route is not",
                netlink: .no(.noRoute)
            ) { stage in
                try stage.wan.setDown()
                try stage.wan.setUp()
            },
            Scenario("the cable is pulled: the route stays", netlink: .no(.noCarrier)) {
                try $0.wan.setPeerCarrier(false)
            },
            Scenario("the cable is pulled and plugged in again", netlink: .routed) { stage in
                try stage.wan.setPeerCarrier(false)
                try stage.wan.setPeerCarrier(true)
            },
            Scenario("the cable is pulled of an uplink without address and route", netlink: .no(.noCarrier)) { stage in
                try stage.lab.ip("address flush dev wan0")
                try stage.wan.setPeerCarrier(false)
            },
            Scenario(
                "an authentication is pending (dormant), and the switch lets packets through all the same",
                netlink: .step(.authenticating),
                probe: .answered,
                why: "the supplicant sets dormant; the probe sees that the switch does not enforce it"
            ) { stage in
                try stage.lab.ip("link set wan0 mode dormant")
                try stage.wan.setPeerCarrier(false)
                // The mode applies when the operational state becomes up the next time.
                try stage.awaitOperationalState { $0 != "up" }
                try stage.wan.setPeerCarrier(true)
            },
            Scenario("the uplink is renamed", steady: true, netlink: .routed) { _ = try $0.wan.renamed(to: "uplink9") },
            Scenario("the uplink is moved into a container", netlink: .no(.noInterface)) { try $0.wan.moveToFarSide() },
            Scenario(
                "the uplink comes back from a container, down and without addresses",
                netlink: .no(.allDown)
            ) { stage in
                try stage.wan.moveToFarSide()
                try stage.wan.moveBack()
            },
            Scenario("another interface gets the index of the deleted uplink", netlink: .no(.noAddress)) { stage in
                let index = try stage.wan.index()
                try stage.wan.delete()
                try stage.lab.addUplink("other0", index: index)
            },
        ]
    )

    static let stacks = ScenarioSection(
        title: "Stacked interfaces and containers",
        note: "Interfaces made of others, and those that come and go without a meaning.",
        rows: [
            Scenario(
                "the uplink becomes a port of a bridge that has its address and route",
                netlink: .routed
            ) { try $0.moveAddress(to: $0.lab.addBridge("br0", ports: [$0.wan])) },
            Scenario(
                "a bridge loses its only port (RTM_DELLINK of AF_BRIDGE: the port lives)",
                netlink: .no(.noCarrier)
            ) { stage in
                try stage.moveAddress(to: stage.lab.addBridge("br0", ports: [stage.wan]))
                try stage.lab.ip("link set wan0 nomaster")
            },
            Scenario("the default route leads to a bridge that has no port yet", netlink: .no(.noCarrier)) {
                try $0.moveAddress(to: $0.lab.addBridge("br0"))
            },
            Scenario(
                "a kill switch leads the default route into an interface that discards",
                netlink: .no(.routeRejects),
                sysfs: .routed,
                why: "sysfs does not tell the kind of the interface"
            ) { stage in
                // Not every kernel has the first one.
                try stage.lab.run("ip link add ks0 type dummy 2>/dev/null || ip link add ks0 type ifb")
                try stage.lab.ip("link set ks0 up")
                try stage.lab.ip("address add 100.85.0.1/24 dev ks0")
                try stage.lab.ip("route replace default dev ks0")
            },
            Scenario(
                "a macvlan is the path, and the interface below it is set down: the macvlan stays up",
                netlink: .no(.noCarrier),
                prepare: { stage in
                    try stage.lab.ip("link add link wan0 name macvlan0 up type macvlan")
                    try stage.moveAddress(to: LabInterface("macvlan0", in: stage.lab))
                },
                change: { try $0.wan.setDown() }
            ),
            Scenario(
                "a macvlan is the path, and the cable of the interface below it is pulled",
                netlink: .no(.noCarrier),
                prepare: { stage in
                    try stage.lab.ip("link add link wan0 name macvlan0 up type macvlan")
                    try stage.moveAddress(to: LabInterface("macvlan0", in: stage.lab))
                },
                change: { try $0.wan.setPeerCarrier(false) }
            ),
            Scenario(
                "a container engine makes a bridge and twenty containers, and takes them away",
                steady: true,
                netlink: .routed
            ) { stage in
                let bridge = try stage.lab.addBridge("docker0")
                try bridge.addAddress("172.17.0.1/16")
                for number in 0..<20 {
                    let container = try stage.lab.addUplink("veth\(number)", isUp: false)
                    try stage.lab.ip("link set veth\(number) master docker0 up")
                    try container.delete()
                }
                try bridge.delete()
            },
            Scenario("only the bridge of a container engine is left", netlink: .no(.noRoute)) { stage in
                let bridge = try stage.lab.addBridge("docker0")
                try bridge.addAddress("172.17.0.1/16")
                try stage.wan.delete()
            },
            Scenario(
                "five hundred tunnels without addresses appear beside the uplink",
                steady: true,
                netlink: .routed
            ) { try $0.lab.addInterfaces(500, prefix: "tunnel") },
            Scenario(
                "the uplink changes its MTU, its alias and its promiscuous mode",
                steady: true,
                netlink: .routed
            ) { stage in
                for _ in 0..<5 {
                    try stage.lab.ip("link set wan0 promisc on allmulticast on mtu 1400")
                    try stage.lab.ip("link set wan0 promisc off allmulticast off mtu 1500")
                }
                try stage.lab.ip("link set wan0 alias something")
            },
        ]
    )
}
