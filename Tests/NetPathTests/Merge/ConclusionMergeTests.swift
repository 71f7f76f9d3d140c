// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// A conclusion is merged like any verdict, and stays the word of its backend.
@Suite struct ConclusionMergeTests {
    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
    private static let yes = Evidence.online(Self.eth0, gateway: "192.0.2.1")
    private static let step = Evidence.seeing(NetworkInterface.wifi("wlan0", 3).withoutCarrier())
    private static let answered = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected))
    private static let failed = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut))

    private static func seen(_ status: PathStatus) -> Evidence {
        switch status {
        case .satisfied: self.yes
        case .requiresConnection: self.step
        case .unsatisfied: .noLink
        }
    }

    private static func stated(
        _ status: PathStatus,
        _ change: (inout Conclusion) -> Void = { _ in }
    ) -> Evidence {
        var conclusion = Conclusion(status, PathReason(.stated, "the daemon says \(status.rawValue)"))
        change(&conclusion)
        return .stating(conclusion)
    }

    private static func backendSnapshot(
        _ name: String,
        _ evidence: Evidence,
        health: BackendHealth = .healthy
    ) -> BackendSnapshot {
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: now)
        var report = BackendReport(name: name, health: health)
        report.status = verdict?.status
        report.reason = verdict?.reason
        report.isStated = verdict?.isStated == true
        report.host = verdict?.host
        return BackendSnapshot(report: report, evidence: evidence.ofThisMachine, verdict: verdict)
    }

    private static func merged(
        _ reports: [Evidence],
        _ policy: MergePolicy = .priority,
        probes: ProbeInfluence = .advisory
    ) -> NetworkPath? {
        NetworkPath.merging(
            reports.enumerated().map { Self.backendSnapshot("b\($0)", $1) },
            policy: policy,
            probes: probes
        )
    }

    // MARK: Voting

    /// Whoever of several voters states instead of seeing, the status is the same.
    @Test(arguments: MergePolicy.allCases)
    func aConclusionVotesLikeAnyVerdict(policy: MergePolicy) throws {
        for first in PathStatus.allCases {
            for second in PathStatus.allCases {
                for third in PathStatus.allCases {
                    let statuses = [first, second, third]
                    let expected = try #require(Self.merged(statuses.map(Self.seen), policy))
                    for mask in 1..<8 {
                        let words = statuses.enumerated().map { position, status in
                            mask >> position & 1 == 1 ? Self.stated(status) : Self.seen(status)
                        }
                        let path = try #require(Self.merged(words, policy))
                        #expect(path.status == expected.status, "\(policy), \(statuses), \(mask)")
                        #expect(path.disagreements.map(\.status) == expected.disagreements.map(\.status))
                        let winner = try #require(statuses.firstIndex(of: path.status))
                        let isStated = mask >> winner & 1 == 1
                        #expect(path.statedBy == (isStated ? "b\(winner)" : nil))
                        #expect((path.reason.code == .stated) == isStated)
                        for doubt in path.disagreements {
                            #expect(doubt.isStated == (doubt.reason.code == .stated))
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: MergePolicy.allCases)
    func probesOnlyAdviseBesideAConclusion(policy: MergePolicy) throws {
        for order in permutations([Self.stated(.satisfied), Self.failed]) {
            let path = try #require(Self.merged(order, policy))
            #expect(path.status == .satisfied)
            #expect(path.internet == .unreachable)
            #expect(path.disagreements.isEmpty)
        }
        let required = Self.merged([Self.stated(.satisfied), Self.failed], policy, probes: .required)
        #expect(required?.reason.code == .probeFailed)
        #expect(required?.statedBy == nil)
    }

    @Test func whoBrokeDoesNotVote() {
        let broken = Self.backendSnapshot("daemon", Self.stated(.unsatisfied), health: .unhealthy)
        #expect(
            NetworkPath.merging([broken, Self.backendSnapshot("kernel", Self.yes)], policy: .unanimous)?.status
                == .satisfied
        )
        #expect(
            NetworkPath.merging([broken, Self.backendSnapshot("probe", Self.answered)], policy: .any) == nil,
            "nor do probes step in"
        )
    }

    @Test func aPartialNoDoesNotCountBelowAConclusion() {
        let partialNo = Evidence.noLink.changed { $0.isPartial = true }
        #expect(Self.merged([Self.stated(.satisfied), partialNo], .unanimous)?.status == .satisfied)
    }

    /// What the article Configuration says of the order of a list, with `merge.policy: priority`.
    @Test func theOrderDecidesWhoseWordItIs() throws {
        let no = Self.stated(.unsatisfied) {
            $0.interface = "eth0"
            $0.internet = .unreachable
        }
        let below = try #require(Self.merged([Self.yes, no]))
        #expect(below.status == .satisfied && below.statedBy == nil && !below.gateways.isEmpty)
        #expect(below.disagreements.map(\.backend) == ["b1"] && below.internet == .unreachable)
        #expect(Self.merged([Self.yes, no], .unanimous)?.status == .unsatisfied)

        let stated = Self.stated(.satisfied) { $0.interface = "eth0" }
        let above = try #require(Self.merged([stated, Self.yes]))
        #expect(above.statedBy == "b0" && above.gateways.isEmpty)
        #expect(above.interfaces.map(\.name) == ["eth0"] && above.interfaces[0].index == 2)
    }

    // MARK: What is stated

    @Test func whatIsStatedIsOnThePath() throws {
        let word = Self.stated(.satisfied) {
            $0.families = [.ipv6]
            $0.isExpensive = true
            $0.internet = .portal
            $0.portalURL = "http://portal.example/"
        }
        let path = try #require(Self.merged([word]))
        #expect(path.knowsFamilies && path.supportsIPv6 && !path.supportsIPv4)
        #expect(path.isExpensive)
        #expect(path.internet == .portal)
        #expect(path.portalURL == "http://portal.example/")
        #expect(try #require(Self.merged([Self.stated(.satisfied)])).knowsFamilies == false)
        let advised = try #require(Self.merged([Self.yes, word]))
        #expect(advised.internet == .portal, "said of the internet also beside somebody who sees the path")
        #expect(advised.statedBy == nil && !advised.isExpensive)
    }

    @Test func theInterfaceIsWhatOthersKnowOfIt() throws {
        let word = Self.stated(.satisfied) { $0.interface = "eth0" }
        let path = try #require(Self.merged([word, Self.yes]))
        let named = try #require(path.interfaces.first)
        #expect(path.interfaces.count == 1)
        #expect(named.index == 2 && named.type == .wired)
        #expect(named.addresses == [.fixture("192.0.2.7/24")])
        #expect(named.reason.message == "b0 states that it carries the path")
        let alone = try #require(Self.merged([word]))
        #expect(alone.interfaces.map(\.index) == [0])
        let ghost = Self.stated(.satisfied) { $0.interface = "ghost0" }
        #expect(Self.merged([ghost, Self.yes])?.interfaces == [], "an interface that is not there carries no path")
        let modem = NetworkInterface(index: 5, name: "wwan0", type: .cellular, flags: .up)
        let costly = Self.stated(.satisfied) { $0.interface = "wwan0" }
        #expect(Self.merged([costly, .seeing(modem)])?.isExpensive == true, "cellular, and nobody says otherwise")
        let free = Self.stated(.satisfied) {
            $0.interface = "wwan0"
            $0.isExpensive = false
        }
        #expect(Self.merged([free, .seeing(modem)])?.isExpensive == false)
    }

    @Test func whoeverStatesSomethingElseThanItShowsDisagrees() throws {
        let both = Self.yes.changed { $0.conclusion = Self.stated(.unsatisfied).conclusion }
        let path = try #require(Self.merged([both]))
        #expect(path.status == .satisfied)
        #expect(path.statedBy == nil)
        #expect(path.disagreements.map(\.status) == [.unsatisfied])
        #expect(path.disagreements.map(\.isStated) == [true])
        let agreeing = Self.yes.changed { $0.conclusion = Self.stated(.satisfied).conclusion }
        #expect(try #require(Self.merged([agreeing])).disagreements.isEmpty)
    }

    @Test func requiredInternetIsWhatIsStated() {
        let word = Self.stated(.satisfied) { $0.internet = .unreachable }
        for words in [[word], [Self.yes, word]] {
            #expect(Self.merged(words)?.status == .satisfied)
            let path = Self.merged(words, probes: .required)
            #expect(path?.status == .unsatisfied)
            #expect(path?.reason.code == .statedUnreachable)
            #expect(path?.internet == .unreachable)
        }
        #expect(Self.merged([word, Self.answered], probes: .required)?.status == .satisfied)
    }

    // MARK: Another machine

    @Test(arguments: MergePolicy.allCases)
    func anotherMachineSetsTheInternetAndNothingElse(policy: MergePolicy) throws {
        for (status, internet) in [
            (PathStatus.satisfied, InternetReachability.reachable), (.unsatisfied, .unreachable),
            (.requiresConnection, .unreachable),
        ] {
            let remote = Self.stated(status) {
                $0.host = "router"
                $0.interface = "eth0"
                $0.families = [.ipv6]
                $0.isExpensive = true
            }
            for order in permutations([remote, Self.yes]) {
                let path = try #require(Self.merged(order, policy))
                #expect(path.status == .satisfied && path.statedBy == nil)
                #expect(path.internet == internet)
                #expect(path.disagreements.isEmpty, "advice is no disagreement")
                #expect(path.interfaces.map(\.name) == ["eth0"] && path.supportsIPv4 && !path.supportsIPv6)
                #expect(!path.isExpensive)
                let required = try #require(Self.merged(order, policy, probes: .required))
                #expect(required.status == (status == .satisfied ? .satisfied : .unsatisfied))
                if status != .satisfied {
                    #expect(required.reason.code == .statedUnreachable)
                    #expect(required.reason.message == "router states: the daemon says \(status.rawValue)")
                }
            }
            #expect(Self.merged([remote], policy) == nil, "of the path of this machine it knows nothing")
            let alone = Self.merged([remote], policy, probes: .required)
            #expect(alone?.status == status)
            #expect(alone?.statedBy == "b0")
            #expect(alone?.interfaces.isEmpty == true)
        }
    }

    @Test func aPortalOfAnotherMachineIsOne() {
        let remote = Self.stated(.satisfied) {
            $0.host = "router"
            $0.internet = .portal
            $0.portalURL = "http://portal.example/"
        }
        #expect(Self.merged([Self.yes, remote])?.internet == .portal)
        #expect(Self.merged([Self.yes, remote])?.portalURL == "http://portal.example/")
    }
}
