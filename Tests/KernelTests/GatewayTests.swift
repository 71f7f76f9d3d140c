// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What decides about the path and comes with no event about a route: gateways that fail, advertisements, settings.
@Suite(.needsNamespaces)
struct GatewayTests {
    /// Two uplinks with a router of the given lifetime each, as router advertisements make them.
    private func twoRouters() throws -> (NetworkNamespace, [LabInterface]) {
        let lab = try NetworkNamespace()
        let uplinks = try (0..<2).map { number in
            let uplink = try lab.addUplink(
                "wan\(number)",
                addresses: ["2001:db8:\(number)::2/64"],
                hasLinkLocalAddress: true
            )
            try uplink.answerAsRouter(true)
            // A neighbour that is used is asked again soon.
            try lab.setParameter("net/ipv6/neigh/\(uplink.name)/base_reachable_time_ms", to: 1000)
            try lab.setParameter("net/ipv6/neigh/\(uplink.name)/delay_first_probe_time", to: 1)
            return uplink
        }
        for uplink in uplinks { try uplink.advertiseRouter(lifetime: 1800) }
        return (lab, uplinks)
    }

    /// What a program that starts now sees.
    private func fresh(_ lab: NetworkNamespace) throws -> JSONValue {
        try JSONValue(json: try lab.run("\(Watched.program) status --json; true"))
    }

    @Test func pathFollowsTheRouterThatAnswers() throws {
        let (lab, uplinks) = try self.twoRouters()
        let watched = try Watched(lab)
        try watched.monitor.next { $0.interfaceNames == ["wan0", "wan1"] && $0["status"] == "satisfied" }
        // The kernel learns that a router is silent from the packets it has for it.
        try lab.sendDatagrams(to: "2600::1")
        try uplinks[0].answerAsRouter(false)
        let over = try watched.monitor.next(timeout: .seconds(60)) { $0.interfaceNames.first == "wan1" }
        #expect(over["status"] == "satisfied")
        #expect(try self.fresh(lab)["interfaces"]?[0]?["name"] == "wan1")
        try uplinks[0].answerAsRouter(true)
        try uplinks[1].setPeerCarrier(false)
        let back = try watched.monitor.next(timeout: .seconds(60)) {
            $0.interfaceNames.first == "wan0" && $0["status"] == "satisfied"
        }
        #expect(back.gateways == ["fe80::1"])
        #expect(try self.fresh(lab)["interfaces"]?[0]?["name"] == "wan0")
    }

    /// Waits until a route ends, and expects to hear of it before the kernel announces it.
    ///
    /// The kernel looks for routes that have ended every 30 s. What just then ends is tried again.
    private func expectEnd(
        of uplink: LabInterface,
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        begin: () throws -> Void,
        wait: () throws -> Void
    ) throws {
        for _ in 0..<3 {
            try begin()
            try wait()
            let left = try uplink.namespace.run("ip -6 route show default dev \(uplink.name)")
            if !left.isEmpty { return }
        }
        Issue.record("\(what) was heard of from the kernel only", sourceLocation: sourceLocation)
    }

    @Test func routeOfAnotherInterfaceEndsWithItsLifetime() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8:0::2/64"], gateway: "2001:db8:0::1", metric: 100)
        let other = try lab.addUplink("wan1", addresses: ["2001:db8:1::2/64"])
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        func addRoute() throws {
            try lab.ip("-6 route replace default via 2001:db8:1::1 dev wan1 metric 600 expires 10")
        }
        try self.expectEnd(of: other, "the end of an alternative") {
            try addRoute()
            try watched.monitor.next { $0.interfaceNames == ["wan0", "wan1"] }
        } wait: {
            try watched.monitor.next { $0.interfaceNames == ["wan0"] }
        }
        // The same while it is all that is left.
        try wan.setPeerCarrier(false)
        try watched.expect("unsatisfied", "noCarrier")
        try self.expectEnd(of: other, "the end of what could carry a path") {
            try addRoute()
            try watched.monitor.next { $0.reason(of: "wan1") == "alternative" }
        } wait: {
            try watched.monitor.next { $0.reason(of: "wan1") == "noRoute" }
        }
    }

    @Test func advertisementThatShortensALifetimeIsHeard() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8:0::2/64"])
        try wan.answerAsRouter(true)
        let watched = try Watched(lab)
        try self.expectEnd(of: wan, "the end of a shortened lifetime") {
            try wan.advertiseRouter(lifetime: 600)
            try watched.expect("satisfied", "routed")
            try wan.advertiseRouter(lifetime: 4)
        } wait: {
            try watched.expect("unsatisfied", "noRoute")
        }
    }

    /// Its flags M and O are 0, and it gives no address: the kernel says only what it makes of it.
    @Test func advertisementThatGivesNoAddressHasOneExpected() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", hasCarrier: false, hasLinkLocalAddress: true)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noCarrier")
        try watched.expect("unsatisfied", "noAddress") { try wan.setPeerCarrier(true) }
        try wan.answerAsRouter(true)
        // The kernel takes note of those that come after it asked for one.
        try lab.run(
            "for i in $(seq 100); do ip -6 addr show dev wan0 tentative | grep -q fe80 || break; sleep 0.1; done"
        )
        for _ in 0..<100 {
            try wan.advertiseRouter(lifetime: 1800)
            if try watched.monitor.drain().contains(where: { $0.reason == "configuringAddress" }) { return }
            try lab.run("sleep 0.1")
        }
        Issue.record("no address is expected")
    }

    @Test(arguments: [true, false])
    func switchOfTheKernelForRoutesWithoutCarrierIsHeard(isIPv6: Bool) throws {
        let lab = try NetworkNamespace()
        let network = isIPv6 ? "2001:db8:%::" : "192.0.%."
        func address(_ link: Int, _ host: Int) -> String {
            network.replacing("%", with: "\(link)") + "\(host)"
        }
        let length = isIPv6 ? 64 : 24
        let wan = try lab.addUplink("wan0", addresses: ["\(address(2, 2))/\(length)"])
        let backup = try lab.addUplink("wan1", addresses: ["\(address(3, 2))/\(length)"])
        try lab.addDefaultRoute(via: address(2, 1), through: wan, metric: 100)
        try lab.addDefaultRoute(via: address(3, 1), through: backup, metric: 600)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        try watched.expect("satisfied", "routed") { try wan.ignoreRoutesWithoutCarrier() }
        let family = isIPv6 ? "ipv6" : "ipv4"
        try watched.expect("unsatisfied", "noCarrier") {
            try lab.setParameter("net/\(family)/conf/wan0/ignore_routes_with_linkdown", to: 0)
        }
    }

    @Test func bridgeLosesItsCarrierWithItsPort() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        let bridge = try lab.addBridge("br0", ports: [wan])
        try bridge.addAddress("192.0.2.2/24")
        try lab.addDefaultRoute(via: "192.0.2.1", through: bridge)
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        for _ in 0..<3 {
            try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
            try watched.expect("satisfied", "routed") { try wan.setPeerCarrier(true) }
        }
    }
}

extension LabInterface {
    /// Gives or takes the other end the address that the router of this link has.
    fileprivate func answerAsRouter(_ answers: Bool) throws {
        let peer = try #require(self.peerName)
        // Who says in its answers that it is no router is none any more (RFC 4861 section 7.3.3).
        try self.namespace.runOnFarSide("echo 1 >/proc/sys/net/ipv6/conf/all/forwarding")
        try self.namespace.runOnFarSide("ip addr \(answers ? "replace" : "del") fe80::1/64 dev \(peer) nodad")
    }

    /// Sends a router advertisement from the other end, with a prefix that is on the link and no addresses in it.
    ///
    /// - Parameter lifetime: For how many seconds the router is one.
    /// - Throws: `LabError` when the advertisement cannot be sent.
    fileprivate func advertiseRouter(lifetime: Int) throws {
        let peer = try #require(self.peerName)
        // Options of IPPROTO_IPV6: IPV6_MULTICAST_IF is 17, IPV6_MULTICAST_HOPS is 18 (RFC 4861 wants 255).
        try self.namespace.runOnFarSide(
            """
            perl -MSocket=:all -e '
                open I, "-|", "ip -o link show \(peer)" or die; ($index) = <I> =~ /^(\\d+)/ or die;
                socket(S, AF_INET6, SOCK_RAW, 58) or die "socket: $!";
                setsockopt(S, 41, 17, pack("i", $index)) && setsockopt(S, 41, 18, pack("i", 255)) or die "option: $!";
                bind(S, pack_sockaddr_in6(0, inet_pton(AF_INET6, "fe80::1"), $index)) or die "bind: $!";
                $prefix = pack("CCCCNNN", 3, 4, 64, 0x80, 1800, 1800, 0) . inet_pton(AF_INET6, "2001:db8:ff::");
                $message = pack("CCnCCnNN", 134, 0, 0, 64, 0, \(lifetime), 0, 0) . $prefix;
                send(S, $message, 0, pack_sockaddr_in6(0, inet_pton(AF_INET6, "ff02::1"), $index)) or die "send: $!";'
            """
        )
    }
}

extension NetworkNamespace {
    /// Sends datagrams to a host in the background, from a new socket each, so that each asks for a route.
    fileprivate func sendDatagrams(to host: String) throws {
        try self.run(
            """
            perl -MSocket=:all -e '
                for (1..600) {
                    socket(S, AF_INET6, SOCK_DGRAM, 0);
                    send(S, "x", 0, pack_sockaddr_in6(9, inet_pton(AF_INET6, "\(host)")));
                    close S; select(undef, undef, undef, 0.2);
                }' >/dev/null 2>&1 &
            """
        )
    }
}
