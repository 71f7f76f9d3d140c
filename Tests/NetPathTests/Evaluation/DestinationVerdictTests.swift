// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@Suite struct DestinationVerdictTests {
    private let eth = NetworkInterface.wired("eth0", 2).with("192.0.2.2/24")

    private func verdict(
        _ answer: RouteAnswer,
        to destination: String = "203.0.113.9",
        _ interfaces: [NetworkInterface]? = nil,
        rules: [InterfaceRule] = []
    ) -> DestinationVerdict? {
        var observation = Observation.seeing(.loopback(), self.eth)
        if let interfaces { observation.interfaces = interfaces }
        let policy = EvaluationPolicy(interfaceRules: rules)
        return evaluate(answer, to: .fixture(destination), observation, policy: policy, now: observation.observedAt)
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
        ] as [(RouteAnswer, PathReason.Code)]
    )
    func refused(answer: RouteAnswer, code: PathReason.Code) {
        #expect(self.verdict(answer)?.isRouted == false)
        #expect(self.verdict(answer)?.reason.code == code)
    }

    @Test func noAnswerNoVerdict() {
        #expect(self.verdict(.unknown) == nil)
    }

    @Test func theInterfaceHasToCarryIt() {
        let answer = RouteAnswer.through(self.eth, gateway: "192.0.2.1", source: .from("192.0.2.2"))
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

    @Test func thisHostAndTheLink() {
        let here = RouteAnswer.through(.loopback(), source: .from("192.0.2.2"))
        #expect(self.verdict(here, to: "192.0.2.2")?.isRouted == true)
        #expect(self.verdict(.through(.loopback(), source: .from("127.0.0.1")), to: "127.0.0.1")?.isRouted == true)
        let neighbour = self.eth.with("fe80::2/64", scope: .link)
        let answer = RouteAnswer.through(neighbour, source: .from("fe80::2"))
        #expect(self.verdict(answer, to: "fe80::7", [neighbour])?.isRouted == true)
        let tentative = self.eth.with("fe80::2/64", scope: .link, state: .tentative)
        #expect(self.verdict(answer, to: "fe80::7", [tentative])?.isRouted == false)
        let beyond = RouteAnswer.through(neighbour, gateway: "fe80::1", source: .from("fe80::2"))
        #expect(self.verdict(beyond, to: "2001:db8::9", [neighbour])?.isRouted == false, "no router forwards that")
    }
}
