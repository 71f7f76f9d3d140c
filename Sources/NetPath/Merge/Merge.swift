// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend's contribution to a merge.
public struct BackendSnapshot: Hashable, Sendable, Codable {
    /// Which backend it is, and its health.
    public var report: BackendReport
    /// Its evidence; nil before its first report.
    public var evidence: Evidence?
    /// What the evidence means; nil without a verdict.
    public var verdict: Verdict?

    /// Creates a contribution.
    public init(report: BackendReport, evidence: Evidence? = nil, verdict: Verdict? = nil) {
        self.report = report
        self.evidence = evidence
        self.verdict = verdict
    }

    // Inlined, or each would copy the whole verdict.

    /// Whether the backend sees interfaces and asks where packets go, or did when it broke; where one does, probes only
    /// advise.
    @inline(__always) var seesPaths: Bool {
        self.evidence?.seesPaths == true
    }
    /// Whether it reports on the path of this machine, seen or stated, or did when it failed.
    @inline(__always) package var reportsPaths: Bool {
        self.seesPaths || (self.verdict?.isStated == true && self.verdict?.host == nil)
    }
    /// The name servers, judged where there is a verdict.
    @inline(__always) var dnsServers: [DNSServer]? { self.verdict?.dnsServers ?? self.evidence?.dnsServers }
}

extension NetworkPath {
    /// Merges the verdicts of all backends into one path.
    ///
    /// Pure, deterministic and independent of the order in which reports arrived; the order of `snapshots` is the
    /// priority. Backends that are not healthy do not vote: a broken backend never means offline. Probes vote only
    /// where no backend sees interfaces and where packets go, or states a path; they do not step in for one that broke
    /// either. The same goes for what another machine states (``Conclusion/host``), and only with ``ProbeInfluence/required``. A
    /// partial no (``Verdict/isPartial``) counts only where no backend of higher priority ever had a verdict.
    ///
    /// - Parameters:
    ///   - snapshots: What every backend says, in order of priority.
    ///   - policy: How several verdicts become one.
    ///   - probes: What probes may do to the status.
    ///   - portals: What a captive portal may do to the status.
    ///   - strongest: The position of the first backend that ever had a verdict, where `snapshots` does not show it.
    /// - Returns: The path, without sequence number and time; nil while no backend that may vote has a verdict.
    package static func merging(
        _ snapshots: [BackendSnapshot],
        policy: MergePolicy,
        probes: ProbeInfluence = .advisory,
        portals: PortalInfluence = .advisory,
        strongest: Int? = nil
    ) -> NetworkPath? {
        Election(snapshots, policy: policy, probes: probes, strongest: strongest)
            .flatMap { $0.path(snapshots) }
            .map { $0.judged(by: probes, portals) }
    }
}

extension Election {
    /// The path as the winner sees it.
    func path(_ snapshots: [BackendSnapshot]) -> NetworkPath? {
        // By position throughout, as verdicts are large.
        guard let verdict = snapshots[self.winner].verdict else { return nil }
        var path = NetworkPath(verdict.status, verdict.reason, interfaces: verdict.interfaces)
        path.carriedByIndex = verdict.carriedByIndex
        path.gateways = verdict.gateways
        path.dnsServers = verdict.dnsServers ?? snapshots[self.winner].evidence?.dnsServers
        path.knowsFamilies = verdict.knowsFamilies
        path.supportsIPv4 = verdict.families.contains(.ipv4)
        path.supportsIPv6 = verdict.families.contains(.ipv6)
        path.isExpensive = verdict.isExpensive
        path.isConstrained = verdict.isConstrained
        if let observedAt = snapshots[self.winner].evidence?.observedAt { path.observedAt = observedAt }
        if verdict.isStated { path.attribute(to: self.winner, of: snapshots) }
        if let statements = snapshots[self.winner].evidence?.givenStatements {
            for position in path.interfaces.indices {
                path.interfaces[position].labels = statements.labels(of: path.interfaces[position].name)
            }
        }
        for position in snapshots.indices where snapshots[position].report.health == .healthy {
            // Of the rest of the large verdict nothing is needed.
            if snapshots[position].evidence?.conclusion != nil {
                path.addStatementBesideEvidence(of: snapshots[position])
            }
            if position == self.winner { continue }
            if path.dnsServers == nil { path.dnsServers = snapshots[position].dnsServers }
            // The status first: to take the verdict is to copy it.
            guard let status = snapshots[position].verdict?.status, status != verdict.status,
                snapshots[position].reportsPaths == snapshots[self.winner].reportsPaths,
                let reason = snapshots[position].verdict?.reason
            else { continue }
            let name = snapshots[position].report.name
            let isStated = snapshots[position].verdict?.isStated == true
            path.disagreements.append(
                Disagreement(backend: name, status: status, reason: reason, isStated: isStated)
            )
        }
        path.tellOf(snapshots)
        return path
    }
}

extension [BackendSnapshot] {
    /// What the probes of healthy backends say.
    fileprivate var probeRounds: [ProbeRound] {
        var rounds: [ProbeRound] = []
        for position in self.indices where self[position].report.health == .healthy {
            if let round = self[position].evidence?.probes { rounds.append(round) }
        }
        return rounds
    }
}

extension NetworkPath {
    /// Sets what does not depend on who decides: the backends' reports and what probes say.
    mutating func tellOf(_ snapshots: [BackendSnapshot]) {
        let rounds = snapshots.probeRounds
        self.internet = InternetReachability(rounds, stated: snapshots.statedInternet)
        if self.statedBy == nil {
            // Where probes decide and differ, `internet` is what the status was decided on.
            if self.reason.code == .probeAnswered { self.internet = .reachable }
            if self.reason.code == .probeFailed, self.internet != .portal { self.internet = .unreachable }
        }
        self.portalURL = self.internet == .portal ? snapshots.portalURL : nil
        self.probes = rounds.isEmpty ? [] : rounds.flatMap(\.outcomes)
        self.backends = snapshots.indices.map { snapshots[$0].report }
    }

    /// The path where probes are required: the status, its reason and ``internet`` say the same.
    ///
    /// A probe that broke, or has no word yet, keeps no path from being satisfied.
    var requiringProbes: NetworkPath {
        var path = self
        switch (self.status, self.internet) {
        case (.satisfied, .unreachable):
            path.status = .unsatisfied
            path.reason = self.refutation ?? PathReason(.probeFailed, "no probe target answered")
            path.statedBy = nil
        case (.satisfied, .portal):
            path.status = .unsatisfied
            path.reason =
                self.probes.contains { $0.result == .portal }
                ? .portalAnswered
                : PathReason(.statedUnreachable, "there is a captive portal, as a backend states")
            path.statedBy = nil
        case (.requiresConnection, .reachable), (.unsatisfied, .reachable):
            // The round was answered on a path that is gone, or not on this machine's network.
            path.internet = .unknown
        default: break
        }
        return path
    }

    /// Why the internet cannot be reached where backends state it and no probe failed; nil where one did.
    private var refutation: PathReason? {
        guard self.probes.isEmpty else { return nil }
        let remote = self.backends.first {
            $0.host != nil && $0.health == .healthy && $0.status != .satisfied
        }
        let words = remote.flatMap { report in
            report.reason.map { "\(report.host ?? report.name) states: \($0.message)" }
        }
        return PathReason(.statedUnreachable, words ?? "the internet cannot be reached, as a backend states")
    }
}

extension InternetReachability {
    fileprivate init(_ rounds: [ProbeRound], stated words: [InternetReachability]) {
        if rounds.contains(where: \.isVerified) || words.contains(.reachable) {
            self = .reachable
        } else if rounds.contains(where: \.metPortal) || words.contains(.portal) {
            // Also where other targets answered: a portal accepts the connections to every address.
            self = .portal
        } else if rounds.contains(where: \.answered) {
            self = .reachable
        } else {
            let isRefuted = rounds.allSatisfy(\.failed) && words.allSatisfy { $0 == .unreachable }
            self = isRefuted && !(rounds.isEmpty && words.isEmpty) ? .unreachable : .unknown
        }
    }
}
