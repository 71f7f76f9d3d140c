// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend's contribution to a merge.
public struct BackendOpinion: Hashable, Sendable {
    /// Who speaks and how it is doing.
    public var report: BackendReport
    /// Its evidence; nil before its first word.
    public var observation: Observation?
    /// What the evidence means; nil without an opinion.
    public var verdict: Verdict?

    /// Creates a contribution.
    public init(report: BackendReport, observation: Observation? = nil, verdict: Verdict? = nil) {
        self.report = report
        self.observation = observation
        self.verdict = verdict
    }

    // Inlined, or each would copy the whole opinion.

    /// Whether the backend sees interfaces and asks where packets go, or did when it broke; where one does, probes only
    /// advise.
    @inline(__always) var seesPaths: Bool {
        self.observation?.seesPaths == true
    }
    @inline(__always) var isHealthy: Bool { self.report.health == .healthy }
    /// The name servers, judged where there is a verdict.
    @inline(__always) var dnsServers: [DNSServer]? { self.verdict?.dnsServers ?? self.observation?.dnsServers }
}

/// Merges the opinions of all backends into one path.
///
/// Pure, deterministic and independent of the order in which reports arrived; the order of `opinions` is the
/// priority. Backends that are not healthy do not vote: a monitor that broke never means offline. Probes vote only
/// where no backend sees interfaces and where packets go; they do not step in for one that broke either. A partial no
/// (``Verdict/isPartial``) counts only where no backend of higher priority ever had an opinion.
///
/// - Parameters:
///   - opinions: What every backend says, in order of priority.
///   - policy: How several verdicts become one.
///   - probes: What probes may do to the status.
///   - strongest: The position of the first backend that ever had an opinion, where `opinions` does not show it.
/// - Returns: The path, without sequence number and time; nil while nobody who may vote has an opinion.
public func merge(
    _ opinions: [BackendOpinion],
    policy: MergePolicy,
    probes: ProbeInfluence = .advisory,
    strongest: Int? = nil
) -> NetworkPath? {
    Election(opinions, policy: policy, strongest: strongest)
        .flatMap { $0.path(opinions) }
        .map { probes == .required ? $0.requiringProbes : $0 }
}

extension Election {
    /// The path as the winner sees it.
    func path(_ opinions: [BackendOpinion]) -> NetworkPath? {
        // By position throughout, as opinions are large.
        guard let verdict = opinions[self.winner].verdict else { return nil }
        var path = NetworkPath(
            status: verdict.status,
            reason: verdict.reason,
            isStale: false,
            interfaces: verdict.interfaces,
            carriedBy: verdict.carriedBy,
            gateways: verdict.gateways,
            dnsServers: verdict.dnsServers ?? opinions[self.winner].observation?.dnsServers,
            supportsIPv4: verdict.families.contains(.ipv4),
            supportsIPv6: verdict.families.contains(.ipv6),
            isExpensive: verdict.isExpensive,
            isConstrained: verdict.isConstrained,
            internet: .unknown,
            probes: [],
            backends: [],
            disagreements: [],
            sequence: 0,
            publishedAt: MonotonicTime(nanoseconds: 0),
            observedAt: opinions[self.winner].observation?.observedAt ?? MonotonicTime(nanoseconds: 0)
        )
        for position in opinions.indices where position != self.winner && opinions[position].isHealthy {
            if path.dnsServers == nil { path.dnsServers = opinions[position].dnsServers }
            // The status first: to take the verdict is to copy it.
            guard let status = opinions[position].verdict?.status, status != verdict.status,
                opinions[position].seesPaths == opinions[self.winner].seesPaths,
                let reason = opinions[position].verdict?.reason
            else { continue }
            let name = opinions[position].report.name
            path.disagreements.append(Disagreement(backend: name, status: status, reason: reason))
        }
        path.tellOf(opinions)
        return path
    }
}

extension [BackendOpinion] {
    /// What the probes of healthy backends say.
    fileprivate var probeRounds: [ProbeRound] {
        var rounds: [ProbeRound] = []
        for position in self.indices where self[position].isHealthy {
            if let round = self[position].observation?.probes { rounds.append(round) }
        }
        return rounds
    }
}

extension NetworkPath {
    /// Sets what does not depend on who decides: the backends' reports and what probes say.
    mutating func tellOf(_ opinions: [BackendOpinion]) {
        let rounds = opinions.probeRounds
        self.internet = InternetReachability(rounds)
        // Where probes decide and differ, `internet` is what the status was decided on.
        if self.reason.code == .probeAnswered { self.internet = .reachable }
        if self.reason.code == .probeFailed, self.internet != .portal { self.internet = .unreachable }
        self.probes = rounds.isEmpty ? [] : rounds.flatMap(\.outcomes)
        self.backends = opinions.indices.map { opinions[$0].report }
    }

    /// The path where probes are required: the status, its reason and ``internet`` say the same.
    ///
    /// A probe that broke, or has no word yet, keeps no path from being satisfied.
    var requiringProbes: NetworkPath {
        var path = self
        switch (self.status, self.internet) {
        case (.satisfied, .unreachable):
            path.status = .unsatisfied
            path.reason = PathReason(.probeFailed, "no probe target answered")
        case (.satisfied, .portal):
            path.status = .unsatisfied
            path.reason = PathReason(.probeFailed, "a captive portal answered in place of the probe targets")
        case (.requiresConnection, .reachable), (.unsatisfied, .reachable):
            // The round was answered on a path that is gone, or not on this machine's network.
            path.internet = .unknown
        default: break
        }
        return path
    }
}

extension InternetReachability {
    fileprivate init(_ rounds: [ProbeRound]) {
        if rounds.contains(where: { $0.answered }) {
            self = .reachable
        } else if rounds.contains(where: { $0.outcomes.contains { $0.result == .portal } }) {
            self = .portal
        } else {
            self = !rounds.isEmpty && rounds.allSatisfy(\.isComplete) ? .unreachable : .unknown
        }
    }
}
