// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct MergeTests {
    private static let yes = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
    private static let step = Evidence.seeing(NetworkInterface.wifi("wlan0", 3).withoutCarrier())
    private static let no = Evidence.noLink
    private static let unsure = Self.yes.unanswered(.ipv4)
    private static let answered = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected))
    private static let failed = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut))

    private static func backendSnapshot(
        _ name: String,
        _ evidence: Evidence?,
        health: BackendHealth = .healthy
    ) -> BackendSnapshot {
        let verdict = evidence.flatMap {
            $0.verdict(policy: EvaluationPolicy(), now: MonotonicTime(nanoseconds: 1_000_000_000_000))
        }
        let report = BackendReport(
            name: name,
            mode: .active,
            health: health,
            status: verdict?.status,
            reason: verdict?.reason,
            limitations: [],
            restarts: 0,
            resynchronizations: 0
        )
        return BackendSnapshot(report: report, evidence: evidence, verdict: verdict)
    }

    private static func merged(_ reports: [Evidence?], _ policy: MergePolicy) -> NetworkPath? {
        NetworkPath.merging(reports.enumerated().map { Self.backendSnapshot("b\($0)", $1) }, policy: policy)
    }

    // MARK: Policies

    /// Priority, unanimous, any, majority.
    static let tables: [([PathStatus], [PathStatus])] = [
        ([.satisfied], [.satisfied, .satisfied, .satisfied, .satisfied]),
        ([.satisfied, .unsatisfied], [.satisfied, .unsatisfied, .satisfied, .unsatisfied]),
        ([.unsatisfied, .satisfied], [.unsatisfied, .unsatisfied, .satisfied, .unsatisfied]),
        (
            [.requiresConnection, .satisfied],
            [.requiresConnection, .requiresConnection, .satisfied, .requiresConnection]
        ),
        (
            [.unsatisfied, .requiresConnection, .satisfied],
            [.unsatisfied, .unsatisfied, .satisfied, .requiresConnection]
        ),
        ([.satisfied, .unsatisfied, .satisfied], [.satisfied, .unsatisfied, .satisfied, .satisfied]),
        (
            [.unsatisfied, .satisfied, .satisfied, .requiresConnection],
            [.unsatisfied, .unsatisfied, .satisfied, .requiresConnection]
        ),
    ]

    private static func evidence(_ status: PathStatus) -> Evidence {
        switch status {
        case .satisfied: self.yes
        case .requiresConnection: self.step
        case .unsatisfied: self.no
        }
    }

    @Test(arguments: Self.tables)
    func policies(statuses: [PathStatus], expected: [PathStatus]) throws {
        for (policy, expected) in zip([MergePolicy.priority, .unanimous, .any, .majority], expected) {
            let path = try #require(Self.merged(statuses.map(Self.evidence), policy))
            #expect(path.status == expected, "\(policy)")
            #expect(path.disagreements.map(\.status) == statuses.filter { $0 != expected })
            #expect(path.disagreements.allSatisfy { $0.status != expected })
            #expect(path.backends.map(\.status) == statuses)
            #expect(!path.isStale)
        }
    }

    @Test func onlyPriorityDependsOnTheOrderOfBackends() throws {
        for policy in [MergePolicy.unanimous, .any, .majority] {
            let statuses = permutations([Self.yes, Self.no, Self.step, Self.no]).map {
                Self.merged($0, policy)?.status
            }
            #expect(Set(statuses).count == 1, "\(policy)")
        }
        for order in permutations([Self.yes, Self.no, Self.step]) {
            let path = Self.merged(order, .priority)
            let first = Self.merged([order[0]], .priority)
            #expect(path?.status == first?.status)
            #expect(path?.reason == first?.reason)
            #expect(path?.interfaces == first?.interfaces)
            #expect(path?.disagreements.map(\.backend) == ["b1", "b2"])
        }
    }

    @Test func detailsComeFromTheFirstThatSaysSo() throws {
        let eth1 = NetworkInterface.wired("eth1", 4).with("198.51.100.7/24")
        let second = Evidence.online(eth1, gateway: "198.51.100.1").changed { $0.dnsServers = [] }
        let path = try #require(Self.merged([Self.no, second, Self.yes], .any))
        #expect(path.interfaces.map(\.name) == ["eth1"])
        #expect(path.gateways.map(\.address.description) == ["198.51.100.1"])
        #expect(path.supportsIPv4 && !path.supportsIPv6)
        #expect(path.dnsServers == [])
        #expect(!path.supportsDNS)
    }

    @Test func nameServersComeFromAnyoneWhoKnowsThem() throws {
        let server = DNSServer(.fixture("192.0.2.53"))
        let knowing = Self.no.changed { $0.dnsServers = [server] }
        #expect(Self.merged([Self.yes, knowing], .priority)?.dnsServers == [server])
        #expect(Self.merged([Self.yes, knowing], .priority)?.supportsDNS == true)
        #expect(try #require(Self.merged([Self.yes], .priority)).dnsServers == nil)
    }

    // MARK: Who votes

    @Test(arguments: MergePolicy.allCases)
    func whoIsNotHealthyDoesNotVote(policy: MergePolicy) throws {
        for health in [BackendHealth.starting, .unhealthy, .off] {
            let broken = Self.backendSnapshot("broken", Self.no, health: health)
            let well = Self.backendSnapshot("well", Self.yes)
            for snapshots in [[broken, well], [well, broken]] {
                let path = try #require(NetworkPath.merging(snapshots, policy: policy))
                #expect(path.status == .satisfied)
                #expect(path.disagreements.isEmpty)
                #expect(path.backends.map(\.name) == snapshots.map(\.report.name))
            }
            #expect(NetworkPath.merging([broken], policy: policy) == nil)
        }
    }

    @Test(arguments: MergePolicy.allCases)
    func whoHasNoOpinionDoesNotVote(policy: MergePolicy) {
        let unknown = Self.unsure
        #expect(Self.merged([unknown, Self.yes, nil], policy)?.status == .satisfied)
        #expect(Self.merged([unknown, nil], policy) == nil)
        #expect(Self.merged([], policy) == nil)
    }

    // MARK: Partial

    @Test(arguments: MergePolicy.allCases)
    func aPartialNoCountsOnlyWhereNobodyStrongerHasAnOpinion(policy: MergePolicy) throws {
        let partialNo = Self.no.changed { $0.isPartial = true }
        #expect(Self.merged([partialNo], policy)?.status == .unsatisfied)
        #expect(Self.merged([nil, partialNo], policy)?.status == .unsatisfied)
        let outvoted = try #require(Self.merged([Self.yes, partialNo], policy))
        #expect(outvoted.status == .satisfied)
        #expect(outvoted.disagreements.map(\.backend) == ["b1"])
        let broken = Self.backendSnapshot("broken", Self.yes, health: .unhealthy)
        #expect(NetworkPath.merging([broken, Self.backendSnapshot("b1", partialNo)], policy: policy) == nil)
        let silent = [Self.backendSnapshot("silent", nil), Self.backendSnapshot("b1", partialNo)]
        #expect(NetworkPath.merging(silent, policy: policy)?.status == .unsatisfied)
        let unsure = [Self.backendSnapshot("unsure", Self.unsure), Self.backendSnapshot("b1", partialNo)]
        #expect(NetworkPath.merging(unsure, policy: policy, strongest: 0) == nil, "it had a verdict once")
        let partialYes = Self.yes.changed { $0.isPartial = true }
        #expect(Self.merged([Self.no, partialYes], .any)?.status == .satisfied, "a yes is a yes")
    }

    // MARK: Probes

    @Test(arguments: MergePolicy.allCases)
    func requiredProbes(policy: MergePolicy) throws {
        func merged(_ reports: Evidence...) -> NetworkPath? {
            let snapshots = reports.enumerated().map { Self.backendSnapshot("b\($0)", $1) }
            return NetworkPath.merging(snapshots, policy: policy, probes: .required)
        }
        let lost = try #require(merged(Self.yes, Self.failed))
        #expect(lost.status == .unsatisfied)
        #expect(lost.reason.code == .probeFailed)
        #expect(lost.interfaces.map(\.name) == ["eth0"], "where the path would lead")
        let unfinished = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut), isComplete: false)
        #expect(merged(Self.yes, unfinished)?.status == .satisfied, "never before the first")
        #expect(merged(Self.yes, Self.failed, unfinished)?.status == .satisfied)
        #expect(merged(Self.yes, Self.failed, unfinished)?.internet == .unknown)
        let portal = Evidence.probing(ProbeOutcome(target: "a:1", result: .portal))
        #expect(merged(Self.yes, portal)?.reason.code == .probeFailed)
        #expect(merged(Self.yes, portal)?.internet == .portal)
        for path in [merged(Self.yes, portal), merged(portal)] {
            #expect(path?.reason.message == "a captive portal answered in place of the probe targets")
        }
        #expect(merged(Self.no, Self.answered)?.internet == .unknown, "the answer came by a path that is gone")
        #expect(merged(Self.yes, Self.failed, Self.answered)?.status == .satisfied)
        #expect(merged(Self.yes)?.status == .satisfied)
        #expect(merged(Self.no, Self.answered)?.reason.code == .noCarrier, "they never raise")
        #expect(merged(Self.step, Self.failed)?.status == .requiresConnection)
        let broken = [Self.backendSnapshot("a", Self.yes), Self.backendSnapshot("b", Self.failed, health: .unhealthy)]
        #expect(NetworkPath.merging(broken, policy: policy, probes: .required)?.status == .satisfied)
    }

    @Test(arguments: MergePolicy.allCases)
    func probesAdvise(policy: MergePolicy) throws {
        for order in permutations([Self.yes, Self.failed]) {
            let path = try #require(Self.merged(order, policy))
            #expect(path.status == .satisfied)
            #expect(path.internet == .unreachable)
            #expect(path.probes.map(\.target) == ["a:1"])
            #expect(path.disagreements.isEmpty, "advice is no disagreement")
        }
        #expect(Self.merged([Self.answered, Self.no], policy)?.status == .unsatisfied)
        #expect(Self.merged([Self.answered, Self.no], policy)?.internet == .reachable)
    }

    @Test func probesDecideWhenThereIsNobodyElse() {
        #expect(Self.merged([Self.answered], .priority)?.reason.code == .probeAnswered)
        #expect(Self.merged([Self.failed], .priority)?.reason.code == .probeFailed)
        #expect(Self.merged([Self.failed, Self.answered], .any)?.status == .satisfied)
        let deaf = Self.backendSnapshot("deaf", nil, health: .unhealthy)
        #expect(
            NetworkPath.merging([deaf, Self.backendSnapshot("probe", Self.answered)], policy: .priority)?.status
                == .satisfied
        )
    }

    /// A broken backend never means offline, and neither does one that cannot tell any more.
    @Test(arguments: MergePolicy.allCases)
    func probesDoNotStepInForABackendThatHasSpoken(policy: MergePolicy) {
        let probe = Self.backendSnapshot("probe", Self.failed)
        #expect(
            NetworkPath.merging([Self.backendSnapshot("broken", Self.yes, health: .unhealthy), probe], policy: policy)
                == nil
        )
        #expect(
            NetworkPath.merging([Self.backendSnapshot("unsure", Self.yes.unanswered(.ipv4)), probe], policy: policy)
                == nil
        )
    }

    private static let blind = Self.yes.changed { $0.referenceRoutes = [] }

    /// Who sees interfaces and cannot ask where packets go neither mutes probes nor its own.
    @Test(arguments: MergePolicy.allCases)
    func interfacesAloneMuteNoProbe(policy: MergePolicy) {
        #expect(Self.merged([Self.blind, Self.failed], policy)?.reason.code == .probeFailed)
        let own = Self.blind.changed { $0.probes = Self.answered.probes }
        #expect(Self.merged([own], policy)?.reason.code == .probeAnswered)
        #expect(Self.merged([own], policy)?.internet == .reachable)
        let failing = Self.blind.changed { $0.probes = Self.failed.probes }
        for order in permutations([failing, Self.yes]) {
            let path = Self.merged(order, policy)
            #expect(path?.status == .satisfied, "where somebody sees paths they only advise")
            #expect(path?.internet == .unreachable)
        }
    }

    /// Whatever is said by whom: what is published does not contradict itself.
    @Test(arguments: MergePolicy.allCases)
    func statusReasonAndInternetSayTheSame(policy: MergePolicy) {
        let portal = Evidence.probing(ProbeOutcome(target: "a:1", result: .portal))
        let unfinished = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut), isComplete: false)
        var words: [Evidence?] = [nil, Self.yes, Self.no, Self.step, Self.unsure, Self.blind]
        words += [Self.answered, Self.failed, portal, unfinished]
        for probing in [Self.answered, Self.failed, portal, unfinished] {
            words += [Self.yes, Self.no, Self.blind].map { $0.changed { $0.probes = probing.probes } }
        }
        for status in [PathStatus.satisfied, .unsatisfied] {
            for host in [nil, "router"] {
                var conclusion = Conclusion(status, PathReason(.stated, ""))
                conclusion.host = host
                conclusion.internet = status == .satisfied ? .unreachable : .reachable
                words.append(.stating(conclusion))
            }
        }
        let firsts = [BackendHealth.healthy, .unhealthy].flatMap { health in
            words.map { Self.backendSnapshot("a", $0, health: health) }
        }
        let seconds = words.map { Self.backendSnapshot("b", $0) }
        let thirds = words.map { Self.backendSnapshot("c", $0) }
        for first in firsts {
            for second in seconds {
                for third in thirds {
                    for probes in ProbeInfluence.allCases {
                        let snapshots = [first, second, third]
                        guard let path = NetworkPath.merging(snapshots, policy: policy, probes: probes) else {
                            continue
                        }
                        if let contradiction = Self.contradiction(in: path, probes) {
                            Issue.record("\(contradiction): \(probes), \(snapshots.map(\.evidence))")
                            return
                        }
                    }
                }
            }
        }
    }

    private static func contradiction(in path: NetworkPath, _ probes: ProbeInfluence) -> String? {
        let said = "\(path.status), \(path.reason.code), internet \(path.internet)"
        switch path.reason.code {
        case .probeAnswered: return path.status == .satisfied && path.internet == .reachable ? nil : said
        case .probeFailed:
            return path.status == .unsatisfied && [.unreachable, .portal].contains(path.internet) ? nil : said
        default: break
        }
        guard probes == .required else { return nil }
        let expected: [InternetReachability] =
            path.status == .satisfied ? [.reachable, .unknown] : [.unreachable, .portal, .unknown]
        return expected.contains(path.internet) ? nil : said
    }

    static let internets: [([ProbeOutcome.Result], Bool, InternetReachability)] = [
        ([], false, .unknown), ([.timedOut], false, .unknown), ([.timedOut], true, .unreachable),
        ([.timedOut, .connected], true, .reachable), ([.refused], false, .reachable),
        ([.portal], true, .portal), ([.portal, .connected], true, .portal),
        // What only the target can answer outweighs a portal that others met, and not one of the same round.
        ([.expected], false, .reachable), ([.portal, .expected], true, .portal), ([.unexpected], true, .unknown),
        ([.unexpected, .expected], true, .reachable), ([.impersonated, .timedOut], true, .unreachable),
    ]

    @Test(arguments: Self.internets)
    func internet(results: [ProbeOutcome.Result], isComplete: Bool, expected: InternetReachability) {
        let probing = Evidence.probing(isComplete: isComplete).changed {
            $0.probes?.outcomes = results.map { ProbeOutcome(target: "a:1", result: $0) }
        }
        #expect(Self.merged([Self.yes, probing], .priority)?.internet == expected)
        let broken = Self.backendSnapshot("probe", probing, health: .unhealthy)
        #expect(
            NetworkPath.merging([Self.backendSnapshot("kernel", Self.yes), broken], policy: .priority)?.internet
                == .unknown
        )
    }
}
