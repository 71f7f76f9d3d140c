// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What counts as a change, and what does not.
@Suite(.needsNamespaces)
struct ChangeTests {
    @Test func whatDoesNotMatterIsNotDelivered() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("watch", in: lab)
        try scenario.next("path")
        // Routes to somewhere, containers that come and go, and what is the same again.
        try lab.addUnrelatedRoutes(100, through: wan)
        try lab.addUplink("veth1", isUp: false).delete()
        try lab.addUplink("veth2").delete()
        try lab.ip("link set wan0 alias uplink")
        try lab.ip("route replace default via 192.0.2.1")
        try lab.run("echo 'nameserver 192.0.2.53 ' >/etc/resolv.conf")
        try wan.setDown()
        let line = try scenario.next("path")
        #expect(line.status == "unsatisfied")
        #expect(line["differs"]?.bool == true)
        // That another interface has no path either is no news to an application.
        try lab.addUplink("wan1", addresses: ["203.0.113.2/24"])
        try wan.setUp()
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        #expect(try scenario.next("path").status == "satisfied")
    }

    @Test func hiddenChangesAreDeliveredAndUnequal() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("watch", in: lab)
        let first = try scenario.next("path")
        func expectHiddenChange(_ change: () throws -> Void) throws {
            try change()
            let line = try scenario.next("path")
            #expect(line["differs"]?.bool == true)
            #expect(line.pathText == first.pathText)
            #expect(line.strings("available") == first.strings("available"))
        }
        try expectHiddenChange { try wan.addAddress("192.0.2.77/24") }
        try expectHiddenChange { try lab.run("echo nameserver 192.0.2.54 >/etc/resolv.conf") }
        try expectHiddenChange { try lab.ip("route replace default via 192.0.2.9") }
    }

    @Test func gatewaysAreEndpoints() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("watch", in: lab)
        #expect(try scenario.next("path").strings("gateways") == ["192.0.2.1:0"])
        try wan.addAddress("2001:db8::2/64")
        try lab.addDefaultRoute(via: "fe80::1", through: wan)
        let (_, line) = try scenario.lines(until: "path") { $0["ipv6"]?.bool == true }
        #expect(line.strings("gateways") == ["192.0.2.1:0", "fe80::1%wan0.0"])
        #expect(line.pathText == "satisfied (Path is satisfied), interface: wan0, ipv4, ipv6, dns")
    }

    @Test func interfacesComeInOrderOfPreference() throws {
        let (lab, _) = try NetworkNamespace.online(metric: 100)
        let second = try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600)
        let scenario = try Scenario("watch", in: lab)
        #expect(try scenario.next("path").strings("available") == ["wan0", "wan1"])
        try lab.addDefaultRoute(via: "203.0.113.1", through: second, metric: 50)
        let (_, line) = try scenario.lines(until: "path") { $0.strings("available").first == "wan1" }
        #expect(line.strings("available") == ["wan1", "wan0"])
        #expect(line.strings("gateways") == ["203.0.113.1:0"])
        #expect(line.strings("types") == ["wiredEthernet", "wiredEthernet"])
    }
}

/// Monitors that may use some types of interfaces only.
@Suite(.needsNamespaces)
struct InterfaceTypeTests {
    /// An uplink below a VPN that takes everything.
    private func vpn() throws -> (lab: NetworkNamespace, wan: LabInterface) {
        let (lab, wan) = try NetworkNamespace.online(metric: 100)
        let tunnel = try lab.addTunnel("tun0", addresses: ["198.51.100.2/24"])
        try lab.addDefaultRoute(through: tunnel, metric: 50)
        return (lab, wan)
    }

    @Test func usedTypesAreFewerThanAvailableOnes() throws {
        let line = try Scenario("watch", in: self.vpn().lab).next("path")
        #expect(line.strings("available") == ["tun0", "wan0"])
        #expect(line.strings("types") == ["other", "wiredEthernet"])
        #expect(line.strings("uses") == ["other"])
    }

    @Test(arguments: ["no-other", "only-wired", "ethernet"])
    func looksThroughTheTunnel(_ filter: String) throws {
        let (lab, wan) = try self.vpn()
        let scenario = try Scenario("watch", filter, in: lab)
        let line = try scenario.next("path")
        #expect(line.status == "satisfied")
        #expect(line.strings("available") == ["wan0"])
        #expect(line.strings("uses") == ["wiredEthernet"])
        #expect(line.strings("gateways") == ["192.0.2.1:0"])
        #expect(line["ipv4"]?.bool == true)
        try wan.setDown()
        let (_, down) = try scenario.lines(until: "path") { $0.status == "unsatisfied" }
        #expect(down.strings("available").isEmpty)
    }

    @Test func prohibitedTypeIsAvoided() throws {
        let line = try Scenario("watch", "no-wired", in: self.vpn().lab).next("path")
        #expect(line.status == "satisfied")
        #expect(line.strings("available") == ["tun0"])
        #expect(line.strings("uses") == ["other"])
    }

    @Test func loopbackLeadsBackToThisMachine() throws {
        let lab = try NetworkNamespace()
        try lab.ip("link set lo up")
        let line = try Scenario("watch", "only-loopback", in: lab).next("path")
        #expect(line.pathText.hasPrefix("satisfied (Path is satisfied), interface: lo, ipv4, ipv6"))
        #expect(line.strings("available") == ["lo"])
        #expect(line.strings("uses") == ["loopback"])
        #expect(line.strings("gateways").isEmpty)
        try lab.ip("link set lo down")
        #expect(try Scenario("watch", "only-loopback", in: lab).next("path").status == "unsatisfied")
        #expect(try Scenario("watch", in: lab).next("path").strings("available").isEmpty)
    }

    @Test func requiredTypeThatIsMissing() throws {
        let line = try Scenario("watch", "only-wifi", in: NetworkNamespace.online().lab).next("path")
        #expect(line.status == "unsatisfied")
        #expect(line.strings("available").isEmpty)
        #expect(line["reason"]?.string == "notAvailable")
        let text = "unsatisfied (Interface type wifi is required by parameters), interface: wan0, scoped, ipv4, dns"
        #expect(line.pathText == text)
    }
}
