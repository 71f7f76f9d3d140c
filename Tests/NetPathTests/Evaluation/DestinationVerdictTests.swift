// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@Suite struct DestinationVerdictTests {
    private let eth = NetworkInterface.wired("eth0", 2).with("192.0.2.2/24")

    private func verdict(
        _ answer: RouteLookupResult,
        to destination: String = "203.0.113.9",
        _ interfaces: [NetworkInterface]? = nil,
        rules: [InterfaceRule] = []
    ) -> DestinationVerdict? {
        var evidence = Evidence.seeing(.loopback(), self.eth)
        if let interfaces { evidence.interfaces = interfaces }
        let policy = EvaluationPolicy(interfaceRules: rules)
        return evidence.verdict(on: answer, to: .fixture(destination), policy: policy, now: evidence.observedAt)
    }

    @Test func routed() {
        let verdict = self.verdict(.through(self.eth, gateway: "192.0.2.1", source: .from("192.0.2.2")))
        #expect(verdict?.isRouted == true)
        #expect(verdict?.interface?.name == "eth0")
        #expect(verdict?.gateway == .fixture("192.0.2.1"))
        #expect(verdict?.source == .fixture("192.0.2.2"))
        #expect(verdict?.reason == PathReason(.routed, "203.0.113.9 through eth0"))
    }

    @Test(
        arguments: [
            (.noRoute, .noRoute), (.rejected(.blackhole), .routeRejects), (.rejected(.prohibit), .routeRejects),
        ] as [(RouteLookupResult, PathReason.Code)]
    )
    func refused(answer: RouteLookupResult, code: PathReason.Code) {
        #expect(self.verdict(answer)?.isRouted == false)
        #expect(self.verdict(answer)?.reason.code == code)
    }

    @Test func noAnswerNoVerdict() {
        #expect(self.verdict(.unknown) == nil)
    }

    @Test func theInterfaceHasToCarryIt() {
        let answer = RouteLookupResult.through(self.eth, gateway: "192.0.2.1", source: .from("192.0.2.2"))
        #expect(self.verdict(answer, [self.eth.withoutCarrier()])?.reason.code == .noCarrier)
        #expect(self.verdict(answer, [self.eth.down()])?.reason.code == .interfaceDown)
        #expect(self.verdict(.through(self.eth, source: .none))?.reason.code == .noAddress)
        #expect(self.verdict(.through(self.eth, source: .from("192.0.2.2"), isDown: true))?.reason.code == .noCarrier)
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("eth*")))
        rule.isIgnored = true
        #expect(self.verdict(answer, rules: [rule])?.reason.code == .ignoredInterface)
    }

    @Test func aHostBehindAnInterfaceNobodyReported() {
        #expect(self.verdict(.through(self.eth, source: .from("192.0.2.2")), [])?.isRouted == true)
    }

    @Test(
        arguments: [
            ("255.255.255.255", "the broadcast address of the link"), ("224.0.0.1", "a multicast group"),
            ("239.255.255.250", "a multicast group"), ("ff02::1", "a multicast group"),
        ]
    )
    func manyHosts(destination: String, kind: String) {
        let verdict = self.verdict(.through(self.eth, source: .from("192.0.2.2")), to: destination)
        #expect(verdict?.isRouted == false)
        #expect(
            verdict?.reason
                == PathReason(.notConnectable, "\(destination) is \(kind), to which no connection can be made")
        )
    }

    @Test func theBroadcastAddressOfANetworkIsOneOnlyWhereTheKernelSaysSo() {
        #expect(self.verdict(.rejected(.broadcast), to: "192.0.2.255")?.reason.code == .notConnectable)
        // In a network with a longer prefix it is a host.
        #expect(self.verdict(.through(self.eth, source: .from("192.0.2.2")), to: "192.0.2.255")?.isRouted == true)
    }

    @Test func onlyWhatItsOwnTableHoldsIsThisMachine() {
        func verdict(table: UInt32?) -> DestinationVerdict? {
            let nextHop = NextHop(interfaceIndex: NetworkInterface.loopback().index)
            return self.verdict(.route(Route(nextHops: [nextHop], source: .from("192.0.2.2"), table: table)))
        }
        #expect(verdict(table: Route.localTable)?.isRouted == true)
        #expect(verdict(table: nil)?.isRouted == true)
        #expect(verdict(table: Route.mainTable)?.isRouted == false)
        #expect(verdict(table: Route.mainTable)?.reason.code == .routeRejects)
        // Backends report loopback only where the path is about it.
        let route = Route(nextHops: [NextHop(interfaceIndex: 1)], source: .from("192.0.2.2"), table: Route.mainTable)
        #expect(self.verdict(.route(route), [self.eth])?.reason.code == .routeRejects)
        var evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
        evidence.dnsServers = [DNSServer(.fixture("203.0.113.53"))]
        evidence.dnsRoutes = [.route(route)]
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: evidence.observedAt)
        #expect(verdict?.dnsServers?.first?.isReachable == false)
    }

    @Test func theNextHopThatTheHashPicksDecides() {
        let wlan = NetworkInterface.wired("wlan0", 3).with("198.51.100.2/24")
        let hops = [NextHop(interfaceIndex: 2, isDown: true), NextHop(interfaceIndex: 3)]
        func verdict(_ selected: Int?) -> DestinationVerdict? {
            var route = Route(nextHops: hops, source: .from("198.51.100.2"))
            route.selectedNextHop = selected
            return self.verdict(.route(route), [self.eth.withoutCarrier(), wlan])
        }
        #expect(verdict(0)?.isRouted == false)
        #expect(verdict(0)?.reason.message == "eth0 has no carrier")
        #expect(verdict(1)?.interface?.name == "wlan0")
        #expect(verdict(nil)?.isRouted == true, "it is not known")
    }

    // MARK: Tunnels

    @Test func whatCarriesATunnelIsNeverGuessed() {
        let tunnel = NetworkInterface.tunnel("wg0", 7).with("10.8.0.2/24")
        let answer = RouteLookupResult.through(tunnel, source: .from("10.8.0.2"))
        // Nobody asked about its packets, and that the path leads through eth0 says nothing.
        var evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
        evidence.interfaces?.append(tunnel)
        func carrier() -> String? {
            let now = evidence.observedAt
            return evidence.verdict(on: answer, to: .fixture("198.51.100.9"), policy: EvaluationPolicy(), now: now)?
                .carrier?.name
        }
        #expect(carrier() == nil)
        let endpoint = InternetAddress.fixture("203.0.113.1")
        let way = RouteLookupResult.through(self.eth, gateway: "192.0.2.1", source: .from("192.0.2.2"))
        let outer = TunnelEvidence(routes: [OuterRoute(.endpoint, to: endpoint, way)])
        evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
            .routed(.ipv4, through: tunnel, source: .from("10.8.0.2"))
        evidence.interfaces?.append(tunnel.changed { $0.tunnelEvidence = outer })
        #expect(carrier() == "eth0", "the path's own tunnel, of which the kernel was asked")
        evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
        evidence.interfaces?.append(tunnel.on(self.eth))
        #expect(carrier() == "eth0", "the tunnel is bound to it")
    }

    @Test func thisHostAndTheLink() {
        let here = RouteLookupResult.through(.loopback(), source: .from("192.0.2.2"))
        #expect(self.verdict(here, to: "192.0.2.2")?.isRouted == true)
        #expect(self.verdict(.through(.loopback(), source: .from("127.0.0.1")), to: "127.0.0.1")?.isRouted == true)
        let neighbour = self.eth.with("fe80::2/64", scope: .link)
        let answer = RouteLookupResult.through(neighbour, source: .from("fe80::2"))
        #expect(self.verdict(answer, to: "fe80::7", [neighbour])?.isRouted == true)
        let tentative = self.eth.with("fe80::2/64", scope: .link, state: .tentative)
        #expect(self.verdict(answer, to: "fe80::7", [tentative])?.isRouted == false)
        let beyond = RouteLookupResult.through(neighbour, gateway: "fe80::1", source: .from("fe80::2"))
        #expect(self.verdict(beyond, to: "2001:db8::9", [neighbour])?.isRouted == false, "no router forwards that")
    }
}
