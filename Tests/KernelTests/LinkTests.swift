// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Links and what becomes of the path when they come and go.
@Suite(.needsNamespaces)
struct LinkTests {
    @Test func withoutAnyLinkThereIsNoInterface() throws {
        try Watched(NetworkNamespace()).expect("unsatisfied", "noInterface")
    }

    @Test func loopbackNeverCarriesAPath() throws {
        let lab = try NetworkNamespace()
        try lab.ip("route add default dev lo")
        try Watched(lab).expect("unsatisfied", "noInterface")
    }

    @Test func linkAddressRouteOneAfterTheOther() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", isUp: false, hasCarrier: false)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "allDown")
        try watched.expect("unsatisfied", "noCarrier") { try wan.setUp() }
        try watched.expect("unsatisfied", "noAddress") { try wan.setPeerCarrier(true) }
        try watched.expect("unsatisfied", "noRoute") { try wan.addAddress("192.0.2.2/24") }
        let line = try watched.expect("satisfied", "routed") {
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan, metric: 7)
        }
        #expect(line.interfaceNames == ["wan0"])
        #expect(line.interface(named: "wan0")?["type"] == "wired")
        #expect(line.interface(named: "wan0")?["kind"] == "veth")
        #expect(line.interface(named: "wan0")?["addresses"] == ["192.0.2.2/24"])
        #expect(line.interface(named: "wan0")?["metric"] == 7)
        #expect(line.interface(named: "wan0")?["table"] == 254)
        #expect(line.gateways == ["192.0.2.1"])
        #expect(line["supportsIPv4"] == true)
        #expect(line["supportsIPv6"] == false)
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
    }

    @Test func adminDownTakesTheRouteWithoutAWord() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        // The kernel sends no RTM_DELROUTE here, and leaves the IPv4 address.
        try watched.expect("unsatisfied", "allDown") { try wan.setDown() }
        try watched.expect("unsatisfied", "noRoute") { try wan.setUp() }
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: "192.0.2.1", through: wan) }
    }

    /// The kernel tells that a link is down before its routes go: the later, the more IPv6 routes it looks through for them.
    @Test func adminDownShowsNoLossWhereAnotherPathIsReady() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8:1::2/64"])
        let backup = try lab.addUplink("wan1", addresses: ["2001:db8:2::2/64"])
        try lab.addDefaultRoute(via: "2001:db8:2::1", through: backup, metric: 600)
        try lab.setParameter("net/ipv6/conf/wan0/keep_addr_on_down", to: 1)
        // In a table that comes before the main one.
        try lab.ipBatch((0..<200_000).map { "route add unreachable \(Self.prefix($0)) table 99" })
        let watched = try Watched(lab)
        var losses: [String] = []
        for _ in 0..<20 {
            try lab.addDefaultRoute(via: "2001:db8:1::1", through: wan, metric: 100)
            try watched.monitor.next { $0.interfaceNames.first == "wan0" && $0["status"] == "satisfied" }
            try wan.setDown()
            try watched.monitor.next { line in
                if line["status"] != "satisfied" { losses.append(line.reason) }
                return line.interfaceNames.first == "wan1" && line["status"] == "satisfied"
            }
            try wan.setUp()
        }
        #expect(losses == [])
    }

    private static func prefix(_ number: Int) -> String {
        "fd00:\(String(number >> 16, radix: 16)):\(String(number & 0xFFFF, radix: 16))::/48"
    }

    @Test func carrierLossKeepsTheRouteAndLosesThePath() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100)
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600)
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed").interfaceNames == ["wan0", "wan1"])
        // The kernel goes on sending into the dead link although another default exists.
        let line = try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        #expect(line.reason(of: "wan0") == "noCarrier")
        #expect(line.interfaceNames.contains("wan1"))
        #expect(
            try watched.expect("satisfied", "routed") { try wan.setPeerCarrier(true) }.interfaceNames.first == "wan0"
        )
    }

    @Test func carrierLossFailsOverWhereRoutesWithoutLinkAreIgnored() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink(
            "wan0",
            addresses: ["192.0.2.2/24", "2001:db8:1::2/64"],
            gateway: "192.0.2.1",
            metric: 100
        )
        try lab.addDefaultRoute(via: "2001:db8:1::1", through: wan, metric: 100)
        let backup = try lab.addUplink(
            "wan1",
            addresses: ["203.0.113.2/24", "2001:db8:2::2/64"],
            gateway: "203.0.113.1",
            metric: 600
        )
        try lab.addDefaultRoute(via: "2001:db8:2::1", through: backup, metric: 600)
        try wan.ignoreRoutesWithoutCarrier()
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try wan.setPeerCarrier(false)
        let over = try watched.monitor.next { $0.interfaceNames.first == "wan1" && $0["supportsIPv6"] == true }
        #expect(over["status"] == "satisfied")
        #expect(over.gateways == ["203.0.113.1", "2001:db8:2::1"])
        try wan.setPeerCarrier(true)
        let back = try watched.monitor.next { $0.interfaceNames.first == "wan0" && $0["supportsIPv6"] == true }
        #expect(back["status"] == "satisfied")
    }

    @Test func renameKeepsTheInterface() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let before = try watched.expect("satisfied", "routed")
        _ = try wan.renamed(to: "uplink9")
        let after = try watched.monitor.next { $0.interfaceNames == ["uplink9"] }
        #expect(after["status"] == "satisfied")
        #expect(after["interfaces"]?[0]?["index"] == before["interfaces"]?[0]?["index"])
    }

    @Test func indexComesBackAsAnotherInterface() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let index = try wan.index()
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noInterface") { try wan.delete() }
        let line = try watched.expect("unsatisfied", "noAddress") { try lab.addUplink("other0", index: index) }
        #expect(line.interfaceNames == ["other0"])
        #expect(line["interfaces"]?[0]?["addresses"] == [])
    }

    @Test func interfaceMovedAwayIsGone() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noInterface") { try wan.moveToFarSide() }
        try watched.expect("unsatisfied", "allDown") { try wan.moveBack() }
    }

    @Test func bridgeCarriesThePathOfItsPort() throws {
        let lab = try NetworkNamespace()
        let port = try lab.addUplink("wan0")
        let bridge = try lab.addBridge("br0", ports: [port])
        try bridge.addAddress("192.0.2.2/24")
        try lab.addDefaultRoute(via: "192.0.2.1", through: bridge)
        let watched = try Watched(lab)
        let line = try watched.expect("satisfied", "routed")
        #expect(line.interfaceNames == ["br0"])
        #expect(line.interface(named: "br0")?["type"] == "wired")
        // Leaving the bridge is announced as RTM_DELLINK with family AF_BRIDGE, and the port lives.
        try watched.expect("unsatisfied", "noCarrier") { try lab.ip("link set wan0 nomaster") }
        let port2 = try watched.monitor.lines(markedOn: port)
        #expect(port2.settled.interfaceNames.contains("wan0"))
    }
}
