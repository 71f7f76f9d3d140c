// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathExplanation

@Suite struct ExplanationTests {
    private func explained(_ evidence: Evidence) -> (code: PathReason.Code?, explanation: Explanation) {
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: Fixtures.now)
        return (verdict?.reason.code, evidence.explanation(of: verdict, now: Fixtures.now))
    }

    @Test func routed() {
        let (code, explanation) = self.explained(Fixtures.routed)
        #expect(code == .routed)
        #expect(explanation.rule.hasPrefix("Rule 1"))
        #expect(explanation.remedies == [])
        #expect(
            explanation.evidence == [
                "To 1.1.1.1: through eth0 via 192.0.2.1, from 192.0.2.7, metric 100",
                "To 193.0.0.1: through eth0 via 192.0.2.1, from 192.0.2.7, metric 100",
                "To 2000::1: no route",
                "To 3000::1: no route",
                "eth0: wired, up, carrier, operational state up, 192.0.2.7/24, IPv4 default route via 192.0.2.1 => usable",
                "Name servers: 192.0.2.53",
            ]
        )
    }

    @Test func routeRejects() {
        let (code, explanation) = self.explained(
            Fixtures.evidence([Fixtures.interface()], ipv4: .rejected(.blackhole))
        )
        #expect(code == .routeRejects)
        #expect(explanation.rule.hasPrefix("Rule 2"))
        #expect(explanation.evidence.first == "To 1.1.1.1: a blackhole route or rule refuses packets")
        #expect(explanation.remedies.count == 2)
        #expect(explanation.remedies.first == "If it is the kill switch of a VPN, connect the VPN")
        #expect(explanation.remedies.last?.contains("`ip route show table all type blackhole`") == true)
    }

    @Test(arguments: [RouteRejection.ipsecBlock, .ipsecState, .ipsecOnDemand])
    func policiesOfIPsec(_ rejection: RouteRejection) {
        let (_, explanation) = self.explained(Fixtures.evidence([Fixtures.interface()], ipv4: .rejected(rejection)))
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.contains("`ip xfrm policy`") == true)
    }

    @Test func deadEgressWithAnAlternative() {
        let interfaces = [
            Fixtures.interface(carrier: false),
            Fixtures.interface("wlan0", index: 3, type: .wifi, gateway: "198.51.100.1"),
        ]
        let (code, explanation) = self.explained(
            Fixtures.evidence(interfaces, ipv4: Fixtures.route(isDown: true))
        )
        #expect(code == .noCarrier)
        #expect(explanation.rule.hasPrefix("Rule 2"))
        #expect(explanation.evidence.first?.contains("through eth0 via 192.0.2.1 (link down)") == true)
        #expect(
            explanation.remedies == [
                "Plug the cable into eth0, or switch on what is at its other end",
                "Let the kernel skip routes without a link, so that wlan0 takes over: "
                    + "`sysctl -w net.ipv4.conf.all.ignore_routes_with_linkdown=1`",
            ]
        )
    }

    /// What the kernel skips is what has no carrier, and a tunnel has one whatever becomes of its packets.
    @Test func noInterfaceIsSkippedThatHasACarrier() {
        var tunnel = Fixtures.interface("tun0", index: 7, type: .other, addresses: ["10.8.0.2"], gateway: nil)
        tunnel.kind = "tun"
        let way = Fixtures.route(through: 7)
        let outer = OuterRoute(.endpoint, to: Fixtures.address("203.0.113.9"), way)
        tunnel.tunnelEvidence = TunnelEvidence(routes: [outer])
        let evidence = Fixtures.evidence([Fixtures.interface(), tunnel], ipv4: way)
        let (code, explanation) = self.explained(evidence)
        #expect(code == .noRoute)
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.hasPrefix("Add a route to 203.0.113.9, the far end of tun0") == true)
    }

    /// Whatever else the interface has.
    @Test func theFamilyThatHasTheRouteGetsTheAddress() {
        var interface = Fixtures.interface(addresses: ["192.0.2.7", "2001:db8::2"], gateway: nil)
        interface.addresses[1].state = .duplicate
        var evidence = Fixtures.evidence([interface], ipv4: .noRoute)
        let route = Fixtures.route(gateway: "2001:db8::1", source: .none)
        for position in [2, 3] { evidence.referenceRoutes[position].answer = route }
        let (code, explanation) = self.explained(evidence)
        #expect(code == .noAddress)
        #expect(explanation.remedies.first?.hasPrefix("Give eth0 an address that no other host uses") == true)
    }

    @Test func deadEgressAlone() {
        var veth = Fixtures.interface(carrier: false)
        veth.kind = "veth"
        let (code, explanation) = self.explained(Fixtures.evidence([veth], ipv4: Fixtures.route(isDown: true)))
        #expect(code == .noCarrier)
        #expect(explanation.remedies == ["Bring the other end of eth0 up"])
    }

    @Test func noCarrierWithoutRoute() {
        let (code, explanation) = self.explained(
            Fixtures.evidence([Fixtures.interface(carrier: false, gateway: nil)], ipv4: .noRoute)
        )
        #expect(code == .noCarrier)
        #expect(explanation.rule.hasPrefix("Rule 4"))
        #expect(explanation.remedies == ["Plug the cable into eth0, or switch on what is at its other end"])
    }

    @Test func parentDown() {
        var parent = Fixtures.interface("eth0", index: 2, addresses: [], gateway: nil)
        parent.flags = []
        var child = Fixtures.interface("vlan7", index: 3, gateway: nil)
        child.underlyingIndex = 2
        let (code, explanation) = self.explained(Fixtures.evidence([parent, child], ipv4: .noRoute))
        #expect(code == .noCarrier)
        #expect(explanation.remedies == ["Bring eth0, below vlan7, up: `ip link set eth0 up`"])
    }

    @Test func noRoute() {
        let (code, explanation) = self.explained(
            Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        )
        #expect(code == .noRoute)
        #expect(explanation.rule.hasPrefix("Rule 4"))
        #expect(explanation.remedies == ["Add a default route: `ip route add default via GATEWAY dev eth0`"])
        let six = self.explained(
            Fixtures.evidence([Fixtures.interface(addresses: ["2001:db8::7"], gateway: nil)], ipv4: .noRoute)
        )
        #expect(six.explanation.remedies == ["Add a default route: `ip -6 route add default via GATEWAY dev eth0`"])
    }

    @Test func noAddress() {
        let (code, explanation) = self.explained(
            Fixtures.evidence([Fixtures.interface(addresses: [], gateway: nil)], ipv4: .noRoute)
        )
        #expect(code == .noAddress)
        #expect(explanation.remedies.first?.contains("`ip address add ADDRESS/PREFIX dev eth0`") == true)

        var taken = Fixtures.interface(gateway: nil)
        taken.addresses[0].state = .duplicate
        let duplicate = self.explained(Fixtures.evidence([taken], ipv4: .noRoute))
        #expect(duplicate.code == .noAddress)
        #expect(duplicate.explanation.evidence.contains { $0.contains("192.0.2.7/24 (in use elsewhere)") })
        #expect(duplicate.explanation.remedies.first?.contains("no other host uses") == true)
    }

    @Test func routeWithoutSource() {
        let (code, explanation) = self.explained(
            Fixtures.evidence([Fixtures.interface(addresses: [])], ipv4: Fixtures.route(source: .none))
        )
        #expect(code == .noAddress)
        #expect(explanation.evidence.first?.contains("no source address to choose from") == true)
        #expect(explanation.remedies.first?.hasPrefix("Give eth0 a usable IPv4 address") == true)
    }

    @Test func allDown() {
        var eth = Fixtures.interface(gateway: nil)
        eth.flags = []
        var bridge = Fixtures.interface("br-0", index: 3, gateway: nil)
        bridge.flags = []
        bridge.isHardware = false
        let (code, explanation) = self.explained(Fixtures.evidence([eth, bridge], ipv4: .noRoute))
        #expect(code == .allDown)
        #expect(explanation.remedies == ["Bring eth0 up: `ip link set eth0 up`"])
    }

    @Test func radioBlocked() {
        var wlan = Fixtures.interface("wlan0", type: .wifi, carrier: false, addresses: [], gateway: nil)
        wlan.flags = []
        wlan.isRadioBlocked = true
        let (code, explanation) = self.explained(Fixtures.evidence([wlan], ipv4: .noRoute))
        #expect(code == .radioBlocked)
        #expect(explanation.remedies.first?.contains("`rfkill unblock wifi`") == true)
    }

    @Test func noInterface() {
        let (code, explanation) = self.explained(Fixtures.evidence([], ipv4: .noRoute))
        #expect(code == .noInterface)
        #expect(explanation.evidence.contains("There is no network interface besides loopback"))
        #expect(explanation.remedies.count == 1)
    }

    @Test(
        arguments: [
            (InterfaceType.wifi, PathReason.Code.wifiNotAssociated, "nmcli device wifi connect"),
            (.cellular, .modemNotConnected, "mmcli"),
        ]
    )
    func startable(_ type: InterfaceType, _ expected: PathReason.Code, _ command: String) {
        let interface = Fixtures.interface("wan0", type: type, carrier: false, addresses: [], gateway: nil)
        let (code, explanation) = self.explained(Fixtures.evidence([interface], ipv4: .noRoute))
        #expect(code == expected)
        #expect(explanation.rule.hasPrefix("Rule 3"))
        #expect(explanation.remedies.first?.contains(command) == true)
    }

    @Test func pending() {
        var dormant = Fixtures.interface(addresses: [], gateway: nil)
        dormant.operationalState = .dormant
        let authenticating = self.explained(Fixtures.evidence([dormant], ipv4: .noRoute))
        #expect(authenticating.code == .authenticating)
        #expect(authenticating.explanation.remedies.first?.contains("wpa_cli") == true)

        var waiting = Fixtures.interface(addresses: [], gateway: nil)
        waiting.expectsConfiguration = true
        waiting.carrierSince = Fixtures.now
        let configuring = self.explained(Fixtures.evidence([waiting], ipv4: .noRoute))
        #expect(configuring.code == .configuringAddress)
        #expect(configuring.explanation.remedies.first?.hasPrefix("Wait for the address of eth0") == true)
    }

    @Test func probesAlone() {
        var evidence = Evidence(at: Fixtures.now)
        evidence.probes = ProbeRound(
            outcomes: [ProbeOutcome(target: "a:1", result: .unreachable(errno: 113))],
            isComplete: true
        )
        let (code, explanation) = self.explained(evidence)
        #expect(code == .probeFailed)
        #expect(explanation.evidence == ["Probe of a:1: not reachable (errno 113)"])
        #expect(explanation.remedies.count == 1)
    }

    @Test func noVerdict() {
        var evidence = Fixtures.evidence([Fixtures.interface()], ipv4: .unknown)
        evidence.limitations = ["route lookups are denied"]
        let (code, explanation) = self.explained(evidence)
        #expect(code == nil)
        #expect(explanation.rule.hasPrefix("No rule applies"))
        #expect(explanation.evidence.contains("To 1.1.1.1: not known"))
        #expect(explanation.remedies == ["Remove what limits the backend: route lookups are denied"])
    }

    @Test func thousandsOfInterfaces() {
        let interfaces = (1...5_000).map { index in
            Fixtures.interface("veth\(index)", index: UInt32(index + 1), addresses: [], gateway: nil)
        }
        let (_, explanation) = self.explained(Fixtures.evidence(interfaces, ipv4: .noRoute))
        #expect(explanation.evidence.count < 40)
        #expect(explanation.evidence.contains("More interfaces: 4980"))
        #expect(explanation.remedies.count == 3)
    }

    @Test(
        arguments: [
            ("eth0", "eth0"), ("wg-home.7@x", "wg-home.7@x"), ("a b", "'a b'"), ("$(reboot)", "'$(reboot)'"),
            ("it's", #"'it'\''s'"#), ("", "''"), ("größe", "'größe'"),
        ]
    )
    func shellWords(_ word: String, _ expected: String) {
        #expect(shellWord(word) == expected)
    }
}
