// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Routes of every shape the kernel knows.
@Suite(.needsNamespaces)
struct RouteTests {
    /// An uplink with an address and, unless it is told not to, nothing else.
    private func uplink(in lab: NetworkNamespace) throws -> LabInterface {
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
    }

    @Test(arguments: ["blackhole", "unreachable", "prohibit"])
    func rejectingDefault(_ rejection: String) throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.ip("route add \(rejection) default")
        let watched = try Watched(lab)
        let line = try watched.expect("unsatisfied", "routeRejects")
        #expect(line["reason"]?["message"]?.string?.contains(rejection) == true)
        // The other family still has its path.
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: "2001:db8::1", through: wan) }
        try watched.expect("unsatisfied", "routeRejects") {
            try lab.removeDefaultRoute(family: .ipv6)
            try lab.ip("-6 route add \(rejection) default")
        }
    }

    @Test func throwMeansToLookFurther() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.ip("route add throw default table 77")
        try lab.ip("rule add table 77 priority 100")
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noRoute")
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: "192.0.2.1", through: wan) }
    }

    /// What answers come to is found last, and the connected route before takes them.
    @Test func localAddressesBehindOtherRoutes() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        // As in the kernel's description of VRFs: behind other rules, and before the ordinary routes.
        try lab.ip("rule add priority 32765 lookup local")
        try lab.ip("rule add priority 5 to 203.0.113.9 lookup 77")
        let lines = try watched.monitor.lines(markedOn: wan) { try lab.ip("rule del priority 0") }
        #expect(lines.settled["status"] == "satisfied")
        try watched.expect("unsatisfied", "noAddress") {
            try lab.ip("rule add priority 32767 lookup local")
            try lab.ip("rule del priority 32765")
        }
        #expect(try lab.run("\(Watched.program) status --json; true").contains("\"noAddress\""))
        try watched.expect("satisfied", "routed") { try lab.ip("rule add priority 0 lookup local") }
    }

    /// An interface is asked about its routes once it has an address, of either family.
    @Test func theFirstAddressAsksAboutBothFamilies() throws {
        let lab = try NetworkNamespace()
        try lab.ip("addr add 2001:db8:9::9/128 dev lo")
        let wan = try lab.addUplink("wan0")
        try wan.addAddress("fe80::2/64")
        try lab.ip("-6 route add default via fe80::1 dev wan0 metric 50")
        try lab.ip("-6 route add unreachable default metric 1")
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noAddress")
        try wan.addAddress("198.51.100.2/24")
        let first = try watched.monitor.next { $0.holds("198.51.100.2/24", "wan0") }
        let gateways = first.interface(named: "wan0")?["gateways"]?.elements.compactMap(\.string)
        #expect(gateways == ["fe80::1"])
    }

    @Test func nextHopOfTheOtherFamily() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "fe80::1", through: wan, family: .ipv4)
        let line = try Watched(lab).expect("satisfied", "routed")
        #expect(line["supportsIPv4"] == true)
        #expect(line["supportsIPv6"] == false)
        #expect(line.gateways == ["fe80::1"])
    }

    @Test func defaultWithoutGateway() throws {
        let lab = try NetworkNamespace()
        let tunnel = try lab.addTunnel("tun0", addresses: ["10.8.0.2/24"])
        try lab.addDefaultRoute(through: tunnel)
        let line = try Watched(lab).expect("satisfied", "routed")
        #expect(line.interface(named: "tun0")?["type"] == "other")
        #expect(line.gateways == [])
        #expect(line["carriedBy"] == .null)
    }

    @Test func splitDefault() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noRoute")
        // Half of the internet is not the internet.
        let half = try watched.monitor.lines(markedOn: wan) { try lab.ip("route add 0.0.0.0/1 via 192.0.2.1") }
        #expect(half.settled["status"] == "unsatisfied")
        try watched.expect("satisfied", "routed") { try lab.ip("route add 128.0.0.0/1 via 192.0.2.1") }
        try lab.ip("-6 route add 2000::/3 via 2001:db8::1")
        try watched.monitor.next { $0["supportsIPv6"] == true }
        try lab.ip("-6 route del 2000::/3")
        try watched.monitor.next { $0["supportsIPv6"] == false }
        try watched.expect("unsatisfied", "noRoute") { try lab.ip("route del 0.0.0.0/1") }
    }

    @Test func partOfTheInternetThroughATunnel() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let tunnel = try lab.addTunnel("tun0", addresses: ["10.8.0.2/24"])
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        // 8.0.0.0/7 covers one of the reference addresses: the answer changes with it.
        try lab.ip("route add 8.0.0.0/7 dev \(tunnel.name)")
        try watched.monitor.next { $0.interfaceNames.first == "tun0" && $0["status"] == "satisfied" }
        try watched.expect("unsatisfied", "routeRejects") {
            try lab.ip("route replace blackhole 8.0.0.0/7")
        }
        try watched.expect("satisfied", "routed") { try lab.ip("route del blackhole 8.0.0.0/7") }
    }

    /// No connection is made to a group, or to all hosts of a link at once (ENETUNREACH).
    @Test(arguments: ["broadcast", "multicast"])
    func aRouteToManyHostsIsNoWay(kind: String) throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "routeRejects") { try lab.ip("route add \(kind) 9.0.0.1 dev wan0") }
        try watched.expect("satisfied", "routed") { try lab.ip("route del \(kind) 9.0.0.1 dev wan0") }
    }

    /// The kernel says "no route" of every interface where a reject route is the longest prefix.
    @Test(arguments: ["blackhole", "unreachable", "prohibit"])
    func aRouteThatRefusesAPartHidesNoGateway(kind: String) throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let line = try watched.expect("unsatisfied", "routeRejects") { try lab.ip("route add \(kind) 9.0.0.0/8") }
        #expect(line.interface(named: "wan0")?["gateways"]?[0] == "192.0.2.1")
        #expect(line["reason"]?["message"]?.string?.hasSuffix("route or rule refuses packets to 9.0.0.1") == true)
        #expect(line.reason(of: "wan0") == "alternative")
        #expect(try lab.run("\(Watched.program) explain || true").contains("IPv4 default route via 192.0.2.1"))
        #expect(try lab.run("\(Watched.program) status || true").contains("gateway 192.0.2.1"))
        let bySysfs = "--set backends.netlink.mode=off"
        #expect(try lab.run("\(Watched.program) status \(bySysfs) || true").contains("gateway 192.0.2.1"))
    }

    @Test(.enabled(if: TunDevice.isAvailable || Watched.isRequired, "this user may not open /dev/net/tun"))
    func tunnelOfWireGuardQuick() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        // The kernel sets no mark of its own accord: what the rules name is a program's, or WireGuard's.
        let tunnel = try lab.addTun("wg0", addresses: ["10.8.0.2/24"])
        try lab.routeEverything(into: tunnel.interface)
        let line = try watched.monitor.next { $0.interfaceNames.first == "wg0" }
        #expect(line["status"] == "satisfied")
        #expect(line.interfaceNames == ["wg0", "wan0"])
        #expect(line["carriedBy"] == line.interface(named: "wan0")?["index"])
        #expect(line.interface(named: "wg0")?["table"] == 51_820)
        #expect(line.reason(of: "wan0") == "alternative")
        // The rules are what makes it the path: without them the physical uplink is.
        try lab.ip("rule del not fwmark 51820 table 51820")
        try watched.monitor.next { $0.interfaceNames == ["wan0"] && $0["carriedBy"] == .null }
    }

    @Test(.enabled(if: TunDevice.isAvailable || Watched.isRequired, "this user may not open /dev/net/tun"))
    func tunDeviceWithAndWithoutItsProgram() throws {
        let lab = try NetworkNamespace()
        let device = try lab.addTun("tun0", addresses: ["10.8.0.2/24"], isPersistent: true)
        try lab.addDefaultRoute(through: device.interface)
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed").interface(named: "tun0")?["type"] == "other")
        try watched.expect("unsatisfied", "noCarrier") { try device.close() }
    }

    @Test func multipathWithADeadLeg() throws {
        let lab = try NetworkNamespace()
        let first = try self.uplink(in: lab)
        let second = try lab.addUplink("wan1", addresses: ["203.0.113.2/24"])
        try lab.ip("route add default nexthop via 192.0.2.1 dev wan0 nexthop via 203.0.113.1 dev wan1")
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed").gateways == ["192.0.2.1", "203.0.113.1"])
        try second.setPeerCarrier(false)
        let line = try watched.monitor.next { $0.gateways == ["192.0.2.1"] }
        #expect(line["status"] == "satisfied")
        let message = "IPv4 through wan0; half of the next hops, through wan1, lose packets"
        #expect(line["reason"]?["message"]?.string == message)
        #expect(line.interfaceNames == ["wan0", "wan1"])
        #expect(line.reason(of: "wan1") == "noCarrier")
        try watched.expect("unsatisfied", "noCarrier") { try first.setPeerCarrier(false) }
    }

    @Test(arguments: [
        (["192.0.2.2/24", "192.0.2.1"], ["203.0.113.2/24", "203.0.113.1"]),
        (["2001:db8:1::2/64", "2001:db8:1::1"], ["2001:db8:2::2/64", "2001:db8:2::1"]),
    ])
    func multipathPassesOverADeadLegWhereTheSystemSaysSo(near: [String], far: [String]) throws {
        let lab = try NetworkNamespace()
        let first = try lab.addUplink("wan0", addresses: [near[0]])
        let second = try lab.addUplink("wan1", addresses: [far[0]])
        for uplink in [first, second] { try uplink.ignoreRoutesWithoutCarrier() }
        let family = near[1].contains(":") ? "-6" : "-4"
        try lab.ip("\(family) route add default nexthop via \(near[1]) dev wan0 nexthop via \(far[1]) dev wan1")
        let watched = try Watched(lab)
        #expect(try Set(watched.expect("satisfied", "routed").gateways) == [near[1], far[1]])
        try second.setPeerCarrier(false)
        let line = try watched.monitor.next { $0.gateways == [near[1]] }
        #expect(line["reason"]?["message"]?.string == "\(family == "-6" ? "IPv6" : "IPv4") through wan0")
        #expect(line.interfaceNames == ["wan0"])
    }

    @Test(arguments: [0, 1])
    func nextHopObjects(compatibilityMode: Int) throws {
        let lab = try NetworkNamespace()
        _ = try self.uplink(in: lab)
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"])
        // With 0 the kernel's answers name the object only, neither its interface nor its gateway.
        try lab.setParameter("net/ipv4/nexthop_compat_mode", to: compatibilityMode)
        try lab.ip("nexthop add id 10 via 192.0.2.1 dev wan0")
        try lab.ip("route add default nhid 10")
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed").gateways == ["192.0.2.1"])
        // Removing the object removes its routes; the kernel announces the object only.
        try watched.expect("unsatisfied", "noRoute") { try lab.ip("nexthop del id 10") }
        try lab.ip("nexthop add id 10 via 192.0.2.1 dev wan0")
        try lab.ip("nexthop add id 11 via 203.0.113.1 dev wan1")
        let group = try watched.expect("satisfied", "routed") {
            try lab.ip("nexthop add id 12 group 10/11")
            try lab.ip("route add default nhid 12")
        }
        #expect(group.gateways == ["192.0.2.1", "203.0.113.1"])
    }

    @Test func metricFailoverAndBack() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100)
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600)
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed").interfaceNames == ["wan0", "wan1"])
        try lab.removeDefaultRoute(through: wan)
        // The second default remains: there is no moment without a path.
        try watched.monitor.next { line in
            #expect(line["status"] == "satisfied")
            return line.gateways == ["203.0.113.1"]
        }
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan, metric: 100)
        let back = try watched.monitor.next { line in
            #expect(line["status"] == "satisfied")
            return line.gateways == ["192.0.2.1"]
        }
        #expect(back.interfaceNames == ["wan0", "wan1"])
    }

    @Test func routeOfARouterAdvertisementExpires() throws {
        let lab = try NetworkNamespace()
        let wan = try self.uplink(in: lab)
        try lab.addDefaultRoute(via: "fe80::1", through: wan, options: "proto ra expires 10")
        let watched = try Watched(lab)
        #expect(try watched.expect("satisfied", "routed")["supportsIPv6"] == true)
        // The kernel stops using the route after 10 s and announces its end up to half a minute later.
        try watched.expect("unsatisfied", "noRoute", within: .seconds(22))
    }
}
