// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import NetPathTestKit
import Testing

@testable import NetPath

/// What a backend states is taken as it is, and never mixed up with what evidence comes to.
@Suite struct ConclusionTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")

    private static func conclusion(
        _ status: PathStatus = .satisfied,
        _ change: (inout Conclusion) -> Void = { _ in }
    ) -> Conclusion {
        var conclusion = Conclusion(status, PathReason(.init(rawValue: "registered"), "the modem is registered"))
        change(&conclusion)
        return conclusion
    }

    private static func verdict(_ evidence: Evidence, rules: [InterfaceRule] = []) throws -> Verdict {
        var policy = EvaluationPolicy()
        policy.interfaceRules = rules
        return try #require(evidence.verdict(policy: policy, now: self.now))
    }

    private static func explained(_ evidence: Evidence) -> Explanation {
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: self.now)
        return evidence.explanation(of: verdict, now: self.now)
    }

    @Test(arguments: PathStatus.allCases)
    func aConclusionIsTheVerdict(status: PathStatus) throws {
        let verdict = try Self.verdict(.stating(Self.conclusion(status)))
        #expect(verdict.isStated)
        #expect(verdict.status == status)
        #expect(verdict.reason == Self.conclusion().reason)
        #expect(verdict.interfaces.isEmpty && verdict.gateways.isEmpty && verdict.families.isEmpty)
        #expect(verdict.reviseAt == nil)
    }

    @Test func whatIsNotStatedIsNotKnown() throws {
        let silent = try Self.verdict(.stating(Self.conclusion()))
        #expect(!silent.knowsFamilies)
        #expect(!silent.isExpensive)
        let telling = Self.conclusion {
            $0.families = [.ipv6]
            $0.isExpensive = true
        }
        let told = try Self.verdict(.stating(telling))
        #expect(told.knowsFamilies)
        #expect(told.families == [.ipv6])
        #expect(told.isExpensive)
        #expect(try Self.verdict(.stating(Self.conclusion(.unsatisfied))).knowsFamilies, "without a path there is none")
    }

    @Test func rulesApplyToTheInterfaceThatIsNamed() throws {
        let evidence = Evidence.stating(
            Self.conclusion {
                $0.interface = "wwan0"
                $0.isExpensive = true
            }
        )
        let named = try #require(Self.verdict(evidence).interfaces.first)
        #expect(named.name == "wwan0" && named.index == 0 && named.type == .other)
        #expect(named.reason.code == .routed)
        var rule = InterfaceRule(.init(name: GlobPattern("wwan*")))
        rule.type = .cellular
        rule.isExpensive = false
        rule.isConstrained = true
        let ruled = try Self.verdict(evidence, rules: [rule])
        #expect(ruled.interfaces.map(\.type) == [.cellular])
        #expect(!ruled.isExpensive)
        #expect(ruled.isConstrained)
        rule.isIgnored = true
        #expect(try Self.verdict(evidence, rules: [rule]).interfaces.isEmpty)
    }

    /// Nothing is advised to whoever only states: what it lacks nobody knows.
    @Test func nothingIsInvented() {
        for status in PathStatus.allCases {
            let explanation = Self.explained(.stating(Self.conclusion(status) { $0.interface = "wwan0" }))
            #expect(explanation.remedies.isEmpty)
            #expect(explanation.rule.contains("netpath cannot explain it"))
            #expect(
                explanation.evidence == [
                    "States: \(status.rawValue), the modem is registered", "States the interface: wwan0",
                ]
            )
        }
    }

    @Test func factsDecideAndTheConclusionIsComparedWithThem() throws {
        let seeing = Evidence.online(Self.eth0).changed { $0.conclusion = Self.conclusion(.unsatisfied) }
        let verdict = try Self.verdict(seeing)
        #expect(!verdict.isStated)
        #expect(verdict.status == .satisfied)
        #expect(verdict.reason.code == .routed)
        let explanation = Self.explained(seeing)
        #expect(explanation.rule.hasPrefix("Rule 1"))
        #expect(
            explanation.evidence.contains(
                "States: unsatisfied, the modem is registered; the evidence says otherwise, and takes precedence"
            )
        )
    }

    @Test func withoutAVerdictOfTheFactsTheConclusionCounts() throws {
        let unsure = Evidence.online(Self.eth0).unanswered(.ipv4).changed { $0.conclusion = Self.conclusion() }
        #expect(try Self.verdict(unsure).isStated)
        let onlyInterfaces = Evidence.seeing(Self.eth0).changed {
            $0.referenceRoutes = []
            $0.conclusion = Self.conclusion { $0.interface = "eth0" }
        }
        let verdict = try Self.verdict(onlyInterfaces)
        #expect(verdict.isStated)
        #expect(verdict.interfaces.map(\.index) == [2], "it sees the interface itself")
    }

    @Test func factsOfAnotherMachineAreDropped() throws {
        let remote = Evidence.online(Self.eth0).changed {
            $0.conclusion = Self.conclusion(.unsatisfied) {
                $0.host = "router"
                $0.interface = "eth0"
            }
            $0.suspensions = 3
            $0.limitations = ["a password"]
        }
        let verdict = try Self.verdict(remote)
        #expect(verdict.isStated)
        #expect(verdict.host == "router")
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.interfaces.isEmpty)
        let kept = remote.ofThisMachine
        #expect(kept.interfaces == nil && kept.referenceRoutes.isEmpty && kept.suspensions == 0)
        #expect(kept.limitations == ["a password"])
        #expect(Self.explained(remote).evidence.first == "router states: unsatisfied, the modem is registered")
    }
}
