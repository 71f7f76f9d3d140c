// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation
import NetPathTestKit
import Testing

/// What becomes of a path whose gateway does not answer.
@Suite struct SilentGatewayTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let eth = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").with("2001:db8::7/64")

    /// Both families through gateways of which this much is known.
    private func evidence(ipv4: Bool?, ipv6: Bool?) -> Evidence {
        var evidence = Evidence.online(self.eth)
        for (address, answers) in [("192.0.2.1", ipv4), ("2001:db8::1", ipv6)] {
            let gateway = InternetAddress.fixture(address)
            let source = gateway.family == .ipv4 ? "192.0.2.7" : "2001:db8::7"
            evidence = evidence.answering(
                gateway.family,
                .through(self.eth, gateway: address, source: .from(source))
            )
            if let answers {
                evidence.gateways.append(Gateway(address: gateway, interfaceIndex: 2, answers: answers))
            }
        }
        return evidence
    }

    private func verdict(_ evidence: Evidence, _ gateways: GatewayInfluence = .advisory) throws -> Verdict {
        try #require(evidence.verdict(policy: EvaluationPolicy(gateways: gateways), now: self.now))
    }

    @Test func itIsToldOfAndNothingElse() throws {
        let verdict = try self.verdict(self.evidence(ipv4: false, ipv6: true))
        #expect(verdict.status == .satisfied)
        #expect(
            verdict.reason
                == PathReason(.routed, "IPv4 and IPv6 through eth0; the gateway 192.0.2.1 does not answer")
        )
        #expect(verdict.gateways.map(\.answers) == [false, true])
        #expect(try self.verdict(self.evidence(ipv4: nil, ipv6: nil)).gateways.map(\.answers) == [nil, nil])
    }

    @Test(arguments: [Bool?.none, true, false], [Bool?.none, true, false])
    func whereGatewaysAreRequired(ipv4: Bool?, ipv6: Bool?) throws {
        let verdict = try self.verdict(self.evidence(ipv4: ipv4, ipv6: ipv6), .required)
        // What nobody knows is no "no".
        let isSilent = ipv4 == false && ipv6 == false
        #expect(verdict.status == (isSilent ? .unsatisfied : .satisfied))
        guard isSilent else { return }
        #expect(
            verdict.reason
                == PathReason(.gatewaySilent, "the gateways 192.0.2.1 and 2001:db8::1 do not answer")
        )
        #expect(verdict.families.isEmpty)
        #expect(verdict.gateways.map(\.answers) == [false, false])
    }

    @Test func aWayWithoutGatewayNeedsNone() throws {
        var evidence = self.evidence(ipv4: false, ipv6: nil)
        evidence = evidence.answering(.ipv6, .through(self.eth, source: .from("2001:db8::7")))
        #expect(try self.verdict(evidence, .required).status == .satisfied)
    }

    @Test func explained() throws {
        let evidence = self.evidence(ipv4: false, ipv6: false)
        for influence in GatewayInfluence.allCases {
            let policy = EvaluationPolicy(gateways: influence)
            let explanation = evidence.explanation(
                of: evidence.verdict(policy: policy, now: self.now),
                policy: policy,
                now: self.now
            )
            #expect(
                explanation.evidence.contains(
                    "Gateway 192.0.2.1 on eth0: does not answer, so that the kernel drops packets through it"
                )
            )
            #expect(explanation.remedies.count == 2)
            #expect(explanation.remedies.first?.contains("the router 192.0.2.1") == true)
            #expect(explanation.rule.contains("merge.gateways") == (influence == .required))
        }
    }

    @Test func hostsBehindItSaySo() {
        let answer = RouteLookupResult.through(self.eth, gateway: "192.0.2.1", source: .from("192.0.2.7"))
        func verdict(_ evidence: Evidence) -> DestinationVerdict? {
            evidence.verdict(
                on: answer,
                to: .fixture("198.51.100.9"),
                policy: EvaluationPolicy(gateways: .required),
                now: self.now
            )
        }
        #expect(verdict(self.evidence(ipv4: false, ipv6: true))?.gatewayAnswers == false)
        #expect(verdict(self.evidence(ipv4: false, ipv6: true))?.isRouted == true, "advisory for hosts")
        #expect(verdict(self.evidence(ipv4: nil, ipv6: true))?.gatewayAnswers == nil)
    }
}
