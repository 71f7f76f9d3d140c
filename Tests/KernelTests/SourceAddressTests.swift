// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Routes and rules for some source addresses only: what netpath says is what a program gets that connects.
@Suite(.needsNamespaces)
struct SourceAddressTests {
    private let lab: NetworkNamespace
    private let wan: LabInterface

    init() throws {
        self.lab = try NetworkNamespace()
        self.wan = try self.lab.addUplink("wan0")
    }

    /// Whether a program can connect a datagram socket, which sends nothing.
    private func canConnect(_ family: NetworkNamespace.Family) throws -> Bool {
        let output = try self.lab.run(
            """
            perl -MSocket=:all -e '
                $six = "\(family.rawValue)" eq "-6";
                socket(S, $six ? AF_INET6 : AF_INET, SOCK_DGRAM, 0) or die;
                print connect(S, $six ? pack_sockaddr_in6(443, inet_pton(AF_INET6, "2600::1"))
                    : pack_sockaddr_in(443, inet_pton(AF_INET, "9.0.0.1"))) ? "yes" : "no"'
            """
        )
        return output == "yes"
    }

    /// Makes changes, and expects of netpath what programs get.
    @discardableResult
    private func expect(
        _ status: String,
        _ reason: String,
        of watched: Watched,
        _ family: NetworkNamespace.Family,
        sourceLocation: SourceLocation = #_sourceLocation,
        after changes: () throws -> Void = {}
    ) throws -> JSONLine {
        let line = try watched.expect(status, reason, sourceLocation: sourceLocation, after: changes)
        #expect(try self.canConnect(family) == (status == "satisfied"), sourceLocation: sourceLocation)
        return line
    }

    // MARK: IPv6

    /// A router gives its uplink's route to packets from the uplink's own prefix (RFC 8043), as OpenWrt does.
    @Test(arguments: [true, false])
    func defaultRouteOfAPrefix(connectForSource: Bool) throws {
        try self.wan.addAddress("2001:db8::2/64")
        let watched = try Watched(
            self.lab,
            configuration: "backends: [{type: netlink, connectForSource: \(connectForSource)}]"
        )
        try self.expect("unsatisfied", "noRoute", of: watched, .ipv6)
        let line = try self.expect("satisfied", "routed", of: watched, .ipv6) {
            try self.lab.ip("-6 route add default from 2001:db8::/64 via fe80::1 dev wan0")
        }
        #expect(line["supportsIPv6"] == true)
        #expect(line["supportsIPv4"] == false)
        #expect(line.gateways == ["fe80::1"])
        // An address of another prefix does not help.
        try self.expect("unsatisfied", "noRoute", of: watched, .ipv6) {
            try self.wan.addAddress("2001:db8:9::2/64")
            try self.lab.ip("-6 addr del 2001:db8::2/64 dev wan0")
        }
        try self.expect("satisfied", "routed", of: watched, .ipv6) { try self.wan.addAddress("2001:db8::2/64") }
        try self.expect("unsatisfied", "noRoute", of: watched, .ipv6) {
            try self.lab.ip("-6 route del default from 2001:db8::/64")
        }
    }

    @Test func twoUplinksWithAPrefixEach() throws {
        try self.wan.addAddress("2001:db8::2/64")
        try self.lab.addUplink("wan1", addresses: ["2001:db8:1::2/64"])
        try self.lab.ip("-6 route add default from 2001:db8::/64 via fe80::1 dev wan0")
        try self.lab.ip("-6 route add default from 2001:db8:1::/64 via fe80::1 dev wan1")
        let watched = try Watched(self.lab)
        let line = try self.expect("satisfied", "routed", of: watched, .ipv6)
        #expect(Set(line.interfaceNames) == ["wan0", "wan1"], "the other one is an alternative")
        let first = try #require(line.interfaceNames.first)
        // With the address of the one that was chosen goes its route.
        let other = try #require(["wan0", "wan1"].first { $0 != first })
        let address = first == "wan0" ? "2001:db8::2/64" : "2001:db8:1::2/64"
        try self.lab.ip("-6 addr del \(address) dev \(first)")
        try watched.monitor.next { $0["status"] == "satisfied" && $0.interfaceNames.first == other }
        try self.expect("unsatisfied", "noAddress", of: watched, .ipv6) {
            try self.lab.ip("-6 addr flush dev \(other) scope global")
        }
    }

    /// Hosts in clouds have a table for each address.
    @Test func rulesForAddresses() throws {
        try self.wan.addAddress("2001:db8::2/64")
        let watched = try Watched(self.lab)
        try self.lab.ip("-6 route add default via fe80::1 dev wan0 table 77")
        try self.expect("satisfied", "routed", of: watched, .ipv6) {
            try self.lab.ip("-6 rule add from 2001:db8::2 lookup 77")
        }
        try self.lab.ip("-6 route add unreachable default metric 4096")
        let line = try watched.monitor.lines(markedOn: self.wan) {
            try self.lab.ip("-6 route replace unreachable default metric 4097")
        }
        #expect(line.settled["status"] == "satisfied")
        #expect(try self.canConnect(.ipv6))
        try self.expect("unsatisfied", "routeRejects", of: watched, .ipv6) {
            try self.lab.ip("-6 rule del from 2001:db8::2 lookup 77")
        }
        try self.expect("satisfied", "routed", of: watched, .ipv6) {
            try self.lab.ip("-6 rule add from 2001:db8::/64 lookup 77")
        }
        try self.expect("unsatisfied", "routeRejects", of: watched, .ipv6) {
            try self.lab.ip("-6 route del default table 77")
        }
    }

    /// IPv6 looks up with a source address only when the first lookup failed.
    @Test func aRefusedSourceBesideAGoodDefaultRouteRefusesNothing() throws {
        try self.wan.addAddress("2001:db8::2/64")
        try self.lab.addFarAddress("2001:db8::1/64 nodad", behind: self.wan)
        try self.lab.addFarAddress("2600::1/128 nodad", behind: self.wan)
        try self.lab.addDefaultRoute(via: "2001:db8::1", through: self.wan)
        let watched = try Watched(self.lab)
        try watched.expect("satisfied", "routed")
        let line = try watched.monitor.lines(markedOn: self.wan) {
            try self.lab.ip("-6 rule add from 2001:db8::2 prohibit")
        }
        #expect(line.settled["status"] == "satisfied")
        #expect(line.settled["supportsIPv6"] == true)
        #expect(try self.datagramArrives())
    }

    /// Whether a datagram to an address of the internet arrives at the far side.
    private func datagramArrives() throws -> Bool {
        let file = "\(self.lab.directory)/arrived"
        try self.lab.runOnFarSide(
            """
            perl -MSocket=:all -e '
                socket(S, AF_INET6, SOCK_DGRAM, 0) or die;
                bind(S, pack_sockaddr_in6(443, IN6ADDR_ANY)) or die;
                open F, ">", "\(file)"; $| = 1; select F; $| = 1; print "ready\\n";
                recv(S, $d, 100, 0); print "$d\\n"' >/dev/null 2>&1 &
            for i in $(seq 100); do grep -q ready \(file) && exit 0; sleep 0.1; done; exit 1
            """
        )
        try self.lab.run(
            """
            perl -MSocket=:all -e '
                socket(S, AF_INET6, SOCK_DGRAM, 0) or die;
                connect(S, pack_sockaddr_in6(443, inet_pton(AF_INET6, "2600::1"))) or die; send(S, "here", 0) or die'
            """
        )
        let found =
            "for i in $(seq 100); do grep -q here \(file) && break; sleep 0.1; done; grep -c here \(file) || true"
        return try self.lab.run(found) == "1\n"
    }

    // MARK: IPv4

    /// IPv4 looks up again with the source address that the first lookup chose, and that answer decides.
    @Test func aRuleThatRefusesTheSource() throws {
        try self.wan.addAddress("192.0.2.2/24")
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: self.wan)
        let watched = try Watched(self.lab)
        try self.expect("satisfied", "routed", of: watched, .ipv4)
        try self.expect("unsatisfied", "routeRejects", of: watched, .ipv4) {
            try self.lab.ip("rule add from 192.0.2.2 prohibit")
        }
        try self.expect("satisfied", "routed", of: watched, .ipv4) {
            try self.lab.ip("rule del from 192.0.2.2 prohibit")
        }
        try self.lab.ip("route add blackhole default table 78")
        try self.expect("unsatisfied", "routeRejects", of: watched, .ipv4) {
            try self.lab.ip("rule add from 192.0.2.0/24 lookup 78")
        }
        // Another address is another source.
        try self.wan.addAddress("198.51.100.2/24")
        try self.expect("satisfied", "routed", of: watched, .ipv4) {
            try self.lab.ip("route replace default via 192.0.2.1 src 198.51.100.2")
        }
    }

    @Test func aRuleThatLeadsTheSourceElsewhere() throws {
        try self.wan.addAddress("192.0.2.2/24")
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: self.wan)
        try self.lab.addUplink("wan1", addresses: ["203.0.113.2/24"])
        try self.lab.ip("route add default via 203.0.113.1 table 78")
        let watched = try Watched(self.lab)
        try watched.expect("satisfied", "routed")
        try self.lab.ip("rule add from 192.0.2.2 lookup 78")
        try watched.monitor.next { $0.gateways == ["203.0.113.1"] && $0.interfaceNames.first == "wan1" }
        try self.lab.ip("rule del from 192.0.2.2 lookup 78")
        try watched.monitor.next { $0.gateways == ["192.0.2.1"] && $0.interfaceNames.first == "wan0" }
    }

    /// A table that only packets from a certain address come to is none for programs that choose no address.
    @Test func aTableForASourceIsNoRouteInIPv4() throws {
        try self.wan.addAddress("192.0.2.2/24")
        let watched = try Watched(self.lab)
        try watched.expect("unsatisfied", "noRoute")
        try self.lab.ip("route add default via 192.0.2.1 table 78")
        let lines = try watched.monitor.lines(markedOn: self.wan) {
            try self.lab.ip("rule add from 192.0.2.2 lookup 78")
        }
        #expect(lines.settled["status"] == "unsatisfied")
        #expect(try !self.canConnect(.ipv4))
    }

    // MARK: Rules about protocols and users

    @Test func rulesAboutTheProtocolAndTheUserOfAProgram() throws {
        try self.wan.addAddress("192.0.2.2/24")
        let watched = try Watched(self.lab)
        try watched.expect("unsatisfied", "noRoute")
        try self.lab.ip("route add default via 192.0.2.1 table 78")
        try watched.expect("satisfied", "routed") { try self.lab.ip("rule add ipproto tcp dport 443 lookup 78") }
        try watched.expect("unsatisfied", "noRoute") { try self.lab.ip("rule del ipproto tcp dport 443 lookup 78") }
        let user = try self.lab.run("printf %s $(id -u)")
        try watched.expect("satisfied", "routed") { try self.lab.ip("rule add uidrange \(user)-\(user) lookup 78") }
    }

    // MARK: Families that are switched off

    /// Other than on a kernel that was booted without IPv6, the kernel answers, and says no.
    @Test func ipv6SwitchedOffAtRunTime() throws {
        try self.wan.addAddress("192.0.2.2/24")
        try self.lab.setParameter("net/ipv6/conf/all/disable_ipv6", to: 1)
        let watched = try Watched(self.lab)
        try watched.expect("unsatisfied", "noRoute")
        try self.expect("satisfied", "routed", of: watched, .ipv4) {
            try self.lab.addDefaultRoute(via: "192.0.2.1", through: self.wan)
        }
        try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
        try watched.expect("satisfied", "routed") { try self.wan.setPeerCarrier(true) }
    }

    // MARK: Hosts

    @Test func reachAsksTheSameWay() throws {
        try self.wan.addAddress("2001:db8::2/64")
        try self.wan.addAddress("192.0.2.2/24")
        func status(_ host: String) throws -> String? {
            try JSONValue(json: self.lab.run("\(Watched.program) reach \(host) --json || test $? -le 2"))["status"]?
                .string
        }
        #expect(try status("2600::1") == "unreachable")
        try self.lab.ip("-6 route add default from 2001:db8::/64 via fe80::1 dev wan0")
        #expect(try status("2600::1") == "reachable")
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: self.wan)
        #expect(try status("9.0.0.1") == "reachable")
        try self.lab.ip("rule add from 192.0.2.2 prohibit")
        #expect(try status("9.0.0.1") == "unreachable")
    }
}
