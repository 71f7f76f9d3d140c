// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The sysfs backend alone, against the real kernel and beside the netlink one.
@Suite(.needsNamespaces)
struct SysfsTests {
    private static let sysfs = "backends: [{type: sysfs}]"
    private static let netlink = "backends: [{type: netlink}]"

    /// What one run of `netpath status` says.
    private func status(in lab: NetworkNamespace, _ configuration: String) throws -> JSONValue {
        let path = try Watched.write(configuration, in: lab)
        return try JSONValue(
            json: lab.run("\(Watched.program) status --json --config \(path) || test $? -le 2 -o $? -eq 69")
        )
    }

    /// What both backends say when each is asked alone; asked again while the kernel has not settled.
    private func expectAgreement(
        in lab: NetworkNamespace,
        _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var seen: [String] = []
        for _ in 0..<20 {
            seen = try [Self.netlink, Self.sysfs].map { configuration in
                let line = try self.status(in: lab, configuration)
                let names = ["interfaces", "gateways"].flatMap { list in
                    (line[list]?.elements ?? []).map { ($0["name"] ?? $0["address"])?.string ?? "?" }
                }
                let facts = ["status", "supportsIPv4", "supportsIPv6", "dnsServers"].map { "\(line[$0] ?? .null)" }
                return ([line.reason] + facts + names).joined(separator: " ")
            }
            if seen[0] == seen[1], seen[0].hasPrefix(expected) { return }
            try lab.run("sleep 0.1")
        }
        Issue.record(
            "expected \(expected), netlink says\n\(seen[0])\nsysfs says\n\(seen[1])",
            sourceLocation: sourceLocation
        )
    }

    // MARK: Agreement

    @Test func agreesOnLinksAndAddresses() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        try self.expectAgreement(in: lab, "noInterface")
        let wan = try lab.addUplink("wan0")
        try self.expectAgreement(in: lab, "noAddress")
        try wan.addAddress("192.0.2.2/24")
        try wan.addAddress("192.0.2.3/24", options: "label wan0:1")
        try self.expectAgreement(in: lab, "noRoute")
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        try self.expectAgreement(in: lab, "routed")
        try wan.addAddress("2001:db8::2/64")
        try lab.addDefaultRoute(via: "2001:db8::1", through: wan, metric: 700)
        try self.expectAgreement(in: lab, "routed")
        try wan.setPeerCarrier(false)
        try self.expectAgreement(in: lab, "noCarrier")
        try wan.setPeerCarrier(true)
        try wan.setDown()
        try self.expectAgreement(in: lab, "allDown")
    }

    @Test func aNamespaceWhereIPv4WasNeverConfiguredHasNoRoutes() throws {
        let lab = try NetworkNamespace()
        let path = try Watched.write(Self.sysfs, in: lab)
        // The loopback interface of a lab is up, which makes a table.
        let output = try lab.run(
            "unshare --net sh -c \"wc -c </proc/net/route; \(Watched.program) explain --config \(path) || true\""
        )
        #expect(output.hasPrefix("0\n"), "the kernel has a table, so nothing was tested")
        #expect(output.contains("To 9.0.0.1: no route"))
        #expect(!output.contains("routes are unknown"))
    }

    @Test func agreesOnTwoUplinks() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100)
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600)
        try self.expectAgreement(in: lab, "routed")
        try wan.setPeerCarrier(false)
        try self.expectAgreement(in: lab, "noCarrier")
        try wan.ignoreRoutesWithoutCarrier()
        try self.expectAgreement(in: lab, "routed")
    }

    @Test(arguments: ["blackhole", "unreachable", "prohibit"])
    func agreesOnRejectingRoutes(_ rejection: String) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
        try lab.ip("route add \(rejection) default")
        try self.expectAgreement(in: lab, "routeRejects")
        try lab.addDefaultRoute(via: "2001:db8::1", through: wan)
        try self.expectAgreement(in: lab, "routed")
        try lab.removeDefaultRoute(family: .ipv6)
        try lab.ip("-6 route add \(rejection) default")
        try self.expectAgreement(in: lab, "routeRejects")
    }

    @Test func agreesOnPartsOfTheInternet() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
        try lab.ip("route add 0.0.0.0/1 via 192.0.2.1")
        try self.expectAgreement(in: lab, "noRoute")
        try lab.ip("route add 128.0.0.0/1 via 192.0.2.1")
        try self.expectAgreement(in: lab, "routed")
        try lab.ip("route del 0.0.0.0/1")
        try lab.ip("-6 route add 2000::/3 via 2001:db8::1")
        try self.expectAgreement(in: lab, "routed")
    }

    @Test func agreesOnTentativeAndLinkLocalAddresses() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasLinkLocalAddress: true)
        try self.expectAgreement(in: lab, "noAddress")
        try wan.addAddress("169.254.7.7/16", options: "scope link")
        try self.expectAgreement(in: lab, "noAddress")
        try lab.ip("route add default dev wan0")
        try self.expectAgreement(in: lab, "routed")
    }

    @Test func agreesOnStackedInterfaces() throws {
        let lab = try NetworkNamespace()
        let ports = try [lab.addUplink("wan0"), lab.addUplink("wan1")]
        let bridge = try lab.addBridge("br0", ports: ports)
        try bridge.addAddress("192.0.2.2/24")
        try lab.addDefaultRoute(via: "192.0.2.1", through: bridge)
        try self.expectAgreement(in: lab, "routed")
        for port in ports { try port.setPeerCarrier(false) }
        try self.expectAgreement(in: lab, "noCarrier")
        try bridge.delete()
        // What the tunnel travels on.
        try ports[0].setPeerCarrier(true)
        try ports[0].addAddress("192.0.2.2/24")
        try lab.ip("route add default via 192.0.2.1 dev wan0 metric 500")
        try self.expectAgreement(in: lab, "routed")
        let tunnel = try lab.addTunnel("tun0", addresses: ["10.8.0.2/24"])
        try lab.addDefaultRoute(through: tunnel)
        try self.expectAgreement(in: lab, "routed")
    }

    /// A throw ends the search of its table, and the kernel goes on with the next rule.
    @Test func agreesOnThrowingRoutes() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
        try lab.ip("route add throw default")
        try self.expectAgreement(in: lab, "noRoute")
        try lab.ip("-6 route add throw default")
        try self.expectAgreement(in: lab, "noRoute")
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan, options: "table 100")
        try lab.ip("rule add table 100 priority 40000")
        // It cannot see the other table, but that something is there.
        #expect(try self.status(in: lab, Self.netlink).reason == "routed")
        #expect(try self.status(in: lab, Self.sysfs)["status"] == .null)
    }

    /// The file names no tables, and shows these between the main and the local one, whose number is 255.
    @Test(arguments: [511, 767, 4095])
    func tablesThatShareThePlaceOfTheLocalOneAreNotTheMainOne(_ number: Int) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8::2/64"])
        try lab.addDefaultRoute(via: "2001:db8::1", through: wan, options: "table \(number)")
        try self.expectAgreement(in: lab, "noRoute")
        try lab.addDefaultRoute(via: "2001:db8::1", through: wan)
        try lab.ip("-6 route flush table \(number)")
        try self.expectAgreement(in: lab, "routed")
    }

    // MARK: What it cannot see

    @Test func defaultOfAnotherTableIsNoPath() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
        for family in NetworkNamespace.Family.allCases {
            try lab.addDefaultRoute(through: wan, family: family, options: "table 51820")
        }
        try self.expectAgreement(in: lab, "noRoute")
        let line = try self.status(in: lab, Self.sysfs)
        // The rule that asks the table is what sysfs cannot know; only netlink sees the path now.
        try lab.ip("rule add table 51820 priority 100")
        #expect(line.reason == "noRoute")
        #expect(try self.status(in: lab, Self.sysfs).reason == "noRoute")
        #expect(try self.status(in: lab, Self.netlink).reason == "routed")
    }

    @Test func sysfsOfAnotherNamespaceIsNotBelieved() throws {
        let lab = try NetworkNamespace()
        // The lab's /sys, which the inner namespace sees, has a wan0 without carrier.
        try lab.addUplink("wan0", hasCarrier: false)
        let path = try Watched.write(Self.sysfs, in: lab)
        let output = try lab.run(
            """
            unshare --net sh -c 'ip link set lo up && ip link add wan0 type veth peer name peer0 &&
            ip link set wan0 up && ip link set peer0 up && ip addr add 192.0.2.2/24 dev wan0 &&
            ip route add default via 192.0.2.1 && \(try Watched.program) status --json --config \(path) &&
            ip link set peer0 down && \(try Watched.program) status --json --config \(path); test $? -eq 1'
            """
        )
        let lines = try output.split(separator: "\n").map { try JSONValue(json: String($0)) }
        #expect(lines.map(\.reason) == ["routed", "noCarrier"])
        for line in lines {
            let limitations = line["backends"]?.elements.first?["limitations"]?.elements.compactMap(\.string)
            #expect(limitations?.contains { $0.contains("another network namespace") } == true)
        }
    }

    // MARK: Watching

    @Test func followsChangesByItself() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab, configuration: "backends: [{type: sysfs, interval: 200ms}]")
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        try watched.expect("satisfied", "routed") { try wan.setPeerCarrier(true) }
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
        try watched.expect("unsatisfied", "noInterface") { try wan.delete() }
    }

    @Test func interfacesThatComeAndGoAreNeverAnError() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab, configuration: "backends: [{type: sysfs, interval: 100ms, fastInterval: 50ms}]")
        try watched.expect("satisfied", "routed")
        for round in 0..<20 {
            try lab.addInterfaces(50, prefix: "r\(round)x")
            try lab.ipBatch((0..<50).map { "link del r\(round)x\($0)" })
        }
        let lines = try watched.monitor.drain()
        #expect(lines.allSatisfy { $0["status"] == "satisfied" && $0["stale"] == false })
    }
}

extension JSONValue {
    /// The code of the path's reason.
    fileprivate var reason: String { self["reason"]?["code"]?.string ?? "none" }
}
