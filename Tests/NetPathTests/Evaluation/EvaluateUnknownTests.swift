// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

/// No verdict, and what must never become a "no".
@Suite struct EvaluateUnknownTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")

    private func status(_ evidence: Evidence) -> PathStatus? {
        evidence.verdict(policy: EvaluationPolicy(), now: self.now)?.status
    }

    @Test func noEvidenceIsNoOpinion() {
        #expect(self.status(Evidence(at: self.now)) == nil)
    }

    @Test func unansweredQuestionsAreNoNo() {
        let noRoute = Evidence.seeing(self.eth0)
        #expect(self.status(noRoute.unanswered(.ipv4)) == nil)
        let both = self.eth0.with("2001:db8::7/64")
        #expect(self.status(Evidence.seeing(both).unanswered(.ipv6)) == nil)
        #expect(self.status(noRoute.changed { $0.referenceRoutes = [] }) == nil)
        #expect(self.status(noRoute.answering(.ipv4, .through(self.eth0), .unknown)) == nil)
        #expect(self.status(noRoute.answering(.ipv4, .unknown, .through(self.eth0))) == nil)
        let elsewhere = RouteLookupResult.route(Route(nextHops: [NextHop(interfaceIndex: 99)]))
        #expect(self.status(noRoute.answering(.ipv4, elsewhere)) == nil, "the backend left out interface 99")
        #expect(self.status(noRoute.answering(.ipv4, .route(Route(nextHops: [])))) == nil, "a route, but where to?")
    }

    @Test func anUnansweredQuestionMattersOnlyWhereSomethingCouldCarryPackets() throws {
        let policy = EvaluationPolicy()
        for evidence in [Evidence.seeing(.loopback(), self.eth0.withoutCarrier()), .seeing(.loopback())] {
            let answered = try #require(evidence.verdict(policy: policy, now: self.now))
            for family in AddressFamily.allCases {
                #expect(evidence.unanswered(family).verdict(policy: policy, now: self.now) == answered)
            }
        }
        let noLink = Evidence.seeing(.loopback(), self.eth0.withoutCarrier())
        #expect(self.status(noLink.unanswered(.ipv6).routed(.ipv4, through: self.eth0)) == .unsatisfied)
        let elsewhere = RouteLookupResult.route(Route(nextHops: [NextHop(interfaceIndex: 99)]))
        #expect(self.status(noLink.unanswered(.ipv6).answering(.ipv4, elsewhere)) == nil, "99 may be usable")
    }

    /// A family that cannot be told never takes away the answer of the other one.
    @Test func anUnansweredQuestionMattersOnlyWhereThereIsAnAddressToSendFrom() throws {
        let noRoute = Evidence.seeing(.loopback(), self.eth0)
        let answered = try #require(noRoute.verdict(policy: EvaluationPolicy(), now: self.now))
        #expect(answered.reason.code == .noRoute)
        #expect(noRoute.unanswered(.ipv6).verdict(policy: EvaluationPolicy(), now: self.now) == answered)
        #expect(self.status(noRoute.unanswered(.ipv6).changed { $0.isAbridged = true }) == nil, "others may have one")
        #expect(self.status(noRoute.unanswered(.ipv6).changed { $0.interfaces?[1].kind = "vrf" }) == nil)
        let elsewhere = self.eth0.changed { $0.knowsAddresses = false }
        #expect(self.status(Evidence.seeing(elsewhere).unanswered(.ipv6)) == nil, "nobody knows its addresses")
        // A host whose uplinks have no address of their own.
        let lo = NetworkInterface.loopback().with("2001:db8::1/128")
        #expect(self.status(Evidence.seeing(lo, self.eth0).unanswered(.ipv6)) == nil)
    }

    @Test func aNoForOneHalfIsEnoughWhicheverHalfItIs() {
        let noRoute = Evidence.seeing(self.eth0)
        #expect(self.status(noRoute.answering(.ipv4, .noRoute, .unknown)) == .unsatisfied)
        #expect(self.status(noRoute.answering(.ipv4, .unknown, .noRoute)) == .unsatisfied)
    }

    @Test(arguments: [
        ([ProbeOutcome.Result.connected], true, PathStatus?.some(.satisfied)),
        ([.refused], false, .satisfied),
        ([.timedOut, .refused], true, .satisfied),
        ([], false, nil),
        ([.timedOut], false, nil),
        ([.timedOut, .notResolved, .unreachable(errno: 101)], true, .unsatisfied),
    ])
    func probesAlone(results: [ProbeOutcome.Result], isComplete: Bool, status: PathStatus?) {
        var evidence = Evidence(at: self.now)
        let outcomes = results.map { ProbeOutcome(target: "203.0.113.7:443", result: $0) }
        evidence.probes = ProbeRound(outcomes: outcomes, isComplete: isComplete)
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: self.now)
        #expect(verdict?.status == status)
        #expect(verdict == nil || verdict?.reason.code == (status == .satisfied ? .probeAnswered : .probeFailed))
    }

    @Test func probesDoNotReplaceInterfacesThatAreNotSeen() {
        let round = ProbeRound(outcomes: [ProbeOutcome(target: "a:1", result: .timedOut)], isComplete: true)
        let seeing = Evidence.online(self.eth0).changed { $0.probes = round }
        #expect(self.status(seeing) == .satisfied)
        #expect(self.status(seeing.changed { $0.interfaces = nil }) == nil)
    }

    /// Interfaces alone say nothing, so probes need not be silent because of them.
    @Test func whoSeesInterfacesAndCannotAskIsJudgedByItsProbes() {
        let blind = Evidence.seeing(self.eth0).changed { $0.referenceRoutes = [] }
        #expect(self.status(blind) == nil)
        let outcomes: [(ProbeOutcome.Result, Bool, PathStatus?)] = [
            (.connected, false, .satisfied), (.timedOut, true, .unsatisfied), (.timedOut, false, nil),
        ]
        for (result, isComplete, status) in outcomes {
            let round = ProbeRound(outcomes: [ProbeOutcome(target: "a:1", result: result)], isComplete: isComplete)
            #expect(self.status(blind.changed { $0.probes = round }) == status)
        }
    }

    /// Nil never means "no": forgetting a fact never turns "yes" or "don't know" into "no".
    @Test func forgettingAFactNeverMakesANo() {
        var generator = SeededGenerator(seed: 1)
        var outcomes: [PathStatus?: Int] = [:]
        for _ in 0..<2_000 {
            let evidence = EvidenceGenerator.evidence(using: &generator)
            let before = self.status(evidence)
            outcomes[before, default: 0] += 1
            guard before == nil || before == .satisfied else { continue }
            for (fact, forgotten) in EvidenceGenerator.forgettingEachFact(of: evidence) {
                let after = self.status(forgotten)
                if after == nil || after == .satisfied { continue }
                let change = "\(before?.rawValue ?? "nil") became \(after?.rawValue ?? "nil")"
                Issue.record("without \(fact), \(change): \(evidence)")
                return
            }
        }
        for status in PathStatus.allCases { #expect(outcomes[status, default: 0] > 50) }
        #expect(outcomes[nil, default: 0] > 50)
    }

    /// The verdict depends on the evidence alone, not on the order of hash tables.
    @Test func theSameEvidenceMeansTheSame() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<500 {
            let evidence = EvidenceGenerator.evidence(using: &generator)
            let verdict = evidence.verdict(policy: EvaluationPolicy(), now: self.now)
            let shuffled = evidence.changed { $0.interfaces?.shuffle() }
            #expect(shuffled.verdict(policy: EvaluationPolicy(), now: self.now) == verdict)
        }
    }
}
