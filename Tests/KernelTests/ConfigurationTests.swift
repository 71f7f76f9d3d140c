// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What the configuration changes about the answer, with the shipped program against the real kernel.
@Suite(.needsNamespaces)
struct ConfigurationTests {
    private static func configuration(_ text: String) -> String { "backends: [{type: netlink}]\n\(text)\n" }

    private func watched(_ lab: NetworkNamespace, _ text: String) throws -> Watched {
        try Watched(lab, configuration: Self.configuration(text))
    }

    @Test func ignoredInterfacesAreHiddenAndCarryNothing() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: 100)
        try lab.addUplink("box0", addresses: ["172.17.0.1/16"], gateway: "172.17.0.9", metric: 600)
        let watched = try self.watched(lab, "interfaces: [{match: {name: \"box*\"}, ignore: true}]")
        #expect(try watched.expect("satisfied", "routed").interfaceNames == ["wan0"])
        // The route goes first, then the link.
        try watched.expect("unsatisfied", "ignoredInterface") { try wan.delete() }
        try lab.ip("route del default")
        try watched.monitor.next { $0.reason == "noInterface" && $0.interfaceNames == [] }
    }

    @Test func typeIsTheRulesWord() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", isUp: false)
        try lab.ip("link set wan0 address 02:1a:7f:00:00:01")
        try wan.setUp()
        try wan.addAddress("192.0.2.2/24")
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let watched = try self.watched(lab, "interfaces: [{match: {kind: veth, mac: 02:1A}, type: wifi}]")
        #expect(try watched.expect("satisfied", "routed").interface(named: "wan0")?["type"] == "wifi")
        try watched.expect("requiresConnection", "wifiNotAssociated") { try wan.setPeerCarrier(false) }
        // Another address, and the rule is about another interface.
        try wan.setPeerCarrier(true)
        try lab.ip("link set wan0 address 02:1b:7f:00:00:01")
        let other = try watched.monitor.next { $0.interface(named: "wan0")?["type"] == "wired" }
        #expect(other.interfaceNames == ["wan0"])
    }

    @Test func costIsTheRulesWord() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let rules = "interfaces: [{match: {name: \"wan?\"}, expensive: true, constrained: true}]"
        let line = try self.watched(lab, rules).expect("satisfied", "routed")
        #expect(line["isExpensive"] == true)
        #expect(line["isConstrained"] == true)
    }

    @Test func dialOnDemandIsAStepThatCanBeStarted() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasCarrier: false)
        let watched = try self.watched(lab, "interfaces: [{match: {name: wan0}, dialOnDemand: true}]")
        try watched.expect("requiresConnection", "dialOnDemand")
        try watched.expect("satisfied", "routed") {
            try wan.setPeerCarrier(true)
            try wan.addAddress("192.0.2.2/24")
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        }
    }

    @Test func referenceDestinationsAreTheInternet() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        let watched = try self.watched(lab, "referenceDestinations: [198.18.5.1, \"2001:db8::1\"]")
        try watched.expect("unsatisfied", "noRoute")
        // Only these addresses are asked about, and only events about them wake the program.
        try watched.expect("satisfied", "routed") {
            try lab.ip("route add 198.18.0.0/15 via 192.0.2.1 dev \(wan.name)")
        }
        try watched.expect("unsatisfied", "noRoute") { try lab.ip("route del 198.18.0.0/15") }
    }

    @Test func graceIsHowLongAnAddressIsWaitedFor() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasCarrier: false)
        let watched = try self.watched(lab, "grace: 1s")
        try watched.expect("unsatisfied", "noCarrier")
        // An address with a lifetime was configured by somebody, who will do it again.
        try wan.addAddress("192.0.2.2/24", options: "valid_lft 600 preferred_lft 600")
        try watched.expect("requiresConnection", "configuringAddress") {
            try wan.removeAddress("192.0.2.2/24")
            try wan.setPeerCarrier(true)
        }
        // Nothing happens any more but that the time is over.
        try watched.expect("unsatisfied", "noAddress")
    }

    /// There is no hardware in a namespace: the rule makes an interface expect what hardware expects.
    @Test(arguments: ["netlink", "sysfs"])
    func anExpectedAddressIsWaitedFor(backend: String) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasCarrier: false)
        let rules = "grace: 2s\ninterfaces: [{match: {name: wan0}, expectsAddress: true}]\n"
        let watched = try Watched(lab, configuration: "backends: [{type: \(backend)}]\n\(rules)")
        try watched.expect("unsatisfied", "noCarrier")
        try watched.expect("requiresConnection", "configuringAddress") { try wan.setPeerCarrier(true) }
        // Nothing happens any more but that the time is over.
        try watched.expect("unsatisfied", "noAddress")
        try watched.expect("satisfied", "routed") {
            try wan.addAddress("192.0.2.2/24")
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        }
    }

    @Test(arguments: [
        ("netlink", "192.0.2.2/24", "192.0.2.1"), ("netlink", "2001:db8::2/64", "2001:db8::1"),
        // procfs does not tell which IPv4 addresses have a lifetime.
        ("sysfs", "2001:db8::2/64", "2001:db8::1"),
    ])
    func theRouteOfALeaseIsWaitedFor(backend: String, address: String, gateway: String) throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        let rules = "grace: 2s\ninterfaces: [{match: {name: wan0}, expectsAddress: true}]\n"
        let watched = try Watched(lab, configuration: "backends: [{type: \(backend)}]\n\(rules)")
        try watched.monitor.next { $0.interfaceNames == ["wan0"] }
        let lifetime = "valid_lft 600 preferred_lft 600"
        let waiting = try self.awaitRoute(of: address, on: wan, watched, options: lifetime)
        #expect(waiting["reason"]?["message"] == "wan0 has an address and is waiting for a route")
        try watched.expect("unsatisfied", "noRoute")
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: gateway, through: wan) }
        // The same moment, seen for the first time long after: a fresh monitor knows the age.
        try lab.removeDefaultRoute(family: address.contains(":") ? .ipv6 : .ipv4)
        try Watched(lab, configuration: "backends: [{type: \(backend)}]\n\(rules)").expect("unsatisfied", "noRoute")
    }

    /// Adds an address, again and again until a route is seen to be awaited: on a busy machine the time may be over by then.
    private func awaitRoute(
        of address: String,
        on wan: LabInterface,
        _ watched: Watched,
        options: String = ""
    ) throws -> JSONLine {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            try wan.addAddress(address, options: options)
            let line = try watched.monitor.next {
                $0.holds(address, "wan0") && ["configuringAddress", "noRoute"].contains($0.reason)
            }
            if line.reason == "configuringAddress" { return line }
            try #require(ContinuousClock.now < deadline, "\(line)")
            try wan.removeAddress(address)
            try watched.monitor.next { !$0.holds(address, "wan0") }
        }
    }

    /// By `watch` and by a fresh look alike: the kernel tells the age of an address.
    @Test func theRouteOfAStaticAddressIsWaitedForAMoment() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        let rules = "interfaces: [{match: {name: wan0}, expectsAddress: true}]\n"
        let path = try Watched.write(Self.configuration(rules), in: lab)
        let watched = try self.watched(lab, rules)
        try watched.monitor.next { $0.interfaceNames == ["wan0"] }
        #expect(try self.awaitRoute(of: "192.0.2.2/24", on: wan, watched)["status"] == "requiresConnection")
        // Nothing happens any more but that the time is over.
        try watched.expect("unsatisfied", "noRoute", within: .seconds(20))
        try watched.expect("satisfied", "routed") { try lab.addDefaultRoute(via: "192.0.2.1", through: wan) }
        // Within the time of one shell, which is much less than a second, mostly.
        let look = "\(try Watched.program) --config \(path) --field reason.code; true"
        let young = "ip address del 192.0.2.2/24 dev wan0; ip address add 192.0.2.3/24 dev wan0"
        try waitUntil { (try? lab.run("\(young); \(look)"))?.contains("configuringAddress") == true }
        try waitUntil { (try? lab.run(look))?.contains("noRoute") == true }
    }

    /// Where the carrier's age is not known, a DHCP client at work tells that an address is on its way.
    @Test func aFreshLookSeesADHCPClient() throws {
        let lab = try NetworkNamespace()
        try lab.setParameter("net/ipv6/conf/default/disable_ipv6", to: 1)
        let wan = try lab.addUplink("wan0")
        let rules = "interfaces: [{match: {name: wan0}, expectsAddress: true}]\n"
        let path = try Watched.write(Self.configuration(rules), in: lab)
        let look = "\(try Watched.program) --config \(path) --field reason.code; true"
        #expect(try lab.run(look) == "noAddress\n")
        // What every DHCP client does: a packet socket for IPv4 that is bound to the interface.
        let script = """
            use Socket; $| = 1;
            socket(my $client, 17, 3, 8) or die $!;
            bind($client, pack("SnIx12", 17, 0x0800, \(try wan.index()))) or die $!;
            print "1\\n"; sleep 1000;
            """
        let client = try lab.start("perl", ["-e", script])
        try client.next()
        #expect(try lab.run(look) == "configuringAddress\n")
        try Watched(lab, configuration: Self.configuration(rules)).expect("requiresConnection", "configuringAddress")
        try client.stop()
        #expect(try lab.run(look) == "noAddress\n")
    }

    /// An interface that carried the path explains more than one that never did.
    @Test func theNetworkOfADeviceExplainsNothing() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.addUplink("plc0", addresses: ["10.1.2.3/24"])
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let line = try watched.expect("unsatisfied", "noCarrier") {
            try wan.setPeerCarrier(false)
            try wan.removeAddress("192.0.2.2/24")
        }
        #expect(line["reason"]?["message"] == "wan0 has no carrier")
        let settled = try watched.monitor.lines(markedOn: wan) {}.settled
        #expect(settled["reason"]?["message"] == "wan0 has no carrier")
        try watched.expect("satisfied", "routed") {
            try wan.setPeerCarrier(true)
            try wan.addAddress("192.0.2.2/24")
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        }
    }

    @Test func hardwareMayBeToldNotToExpectAnAddress() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasCarrier: false)
        let watched = try self.watched(lab, "interfaces: [{match: {name: wan0}, type: wifi, expectsAddress: false}]")
        try watched.expect("requiresConnection", "wifiNotAssociated")
        try watched.expect("unsatisfied", "noAddress") { try wan.setPeerCarrier(true) }
    }

    @Test(arguments: [("warning", true), ("error", false)])
    func messagesMatterEnoughOrStayAway(level: String, isShown: Bool) throws {
        let lab = try NetworkNamespace()
        let text = "backends: [{type: netlink, sysfs: /nowhere}]\nlogging: {level: \(level)}\n"
        let watched = try Watched(lab, configuration: text)
        try watched.expect("unsatisfied", "noInterface")
        // Ended, so that everything it had to say is said.
        #expect(try watched.monitor.stop() == 0)
        #expect(watched.monitor.standardError.contains("warning: netlink: there is no /nowhere/class/net") == isShown)
    }

    @Test func explainFollowsTheSameRules() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let path = try Watched.write(
            Self.configuration("interfaces: [{match: {name: wan0}, ignore: true}]"),
            in: lab
        )
        let output = try lab.run("\(Watched.program) explain --config \(path); true")
        #expect(output.contains("Ignored, because the configuration says so: wan0"))
        #expect(output.contains("Rule 2"))
    }

    @Test func overridesWinOverTheFile() throws {
        let lab = try NetworkNamespace()
        let path = try Watched.write(Self.configuration("grace: 7s"), in: lab)
        let program = try Watched.program
        let output = try lab.run(
            "NETPATH_SET='grace=8s;logging.level=info' \(program) config show --config \(path) --set grace=9s"
        )
        let lines = output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("grace: 9s ") && $0.hasSuffix("# --set 1") })
        #expect(lines.contains { $0.hasPrefix("  level: info ") && $0.hasSuffix("# $NETPATH_SET") })
        #expect(lines.contains { $0.hasPrefix("  - type: netlink ") && $0.hasSuffix("# \(path):1") })
        #expect(try lab.run("\(program) status --config \(path) --set grace=never 2>&1; echo $?").hasSuffix("78\n"))
    }
}
