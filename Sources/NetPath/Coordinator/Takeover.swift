// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a backend said last, and when it lost its verdict.
struct VerdictHistory: Sendable, Codable {
    private enum CodingKeys: String, CodingKey { case lastVerdict, read, silenced, awaitedUntil }

    /// A moment by the clock, and by the number of the input: that tells what came first where the clock does not.
    struct Moment: Sendable, Codable {
        private enum CodingKeys: String, CodingKey { case input, time }

        var input: UInt64 = 0
        var time = MonotonicTime(nanoseconds: 0)
    }

    /// The last verdict it ever gave; nil when it never had one, or is not needed any more.
    var lastVerdict: Verdict?
    /// Which input brought its last report, and when the reading began that the report is about.
    var read = Moment()
    /// When it lost its verdict.
    var silenced = Moment()
    /// Until when it may come back before others lower the status; nil where it did not end, or has had its time.
    var awaitedUntil: MonotonicTime?

    /// A backend that ended is started again within half a second, and gets this long for its first report.
    static let returnLimit: Duration = .milliseconds(750)

    /// Whether it had a verdict once.
    @inline(__always) var hadVerdict: Bool { self.lastVerdict?.status != nil }
}

/// What a backend said, and when it lost its verdict.
struct BackendStanding: Sendable {
    /// What it says now, or said last.
    var snapshot: BackendSnapshot
    var record: VerdictHistory

    /// Whether it has a verdict that counts now.
    var hasVerdict: Bool { self.snapshot.report.hasVerdict }
    /// Whether it ever had a verdict of its own on paths.
    var isStrong: Bool { self.record.hadVerdict && self.reportsPaths }
    /// Whether its report is about the path of this machine, also when it took a statement back.
    var reportsPaths: Bool { self.lastSnapshot.reportsPaths }
    /// Whether it gave a verdict once and cannot confirm or take it back now.
    var hasLostVerdict: Bool { self.record.hadVerdict && !self.hasVerdict }

    /// Whether it is about to report again: it is being replaced, or ended a moment ago and is being started again.
    var isAwaited: Bool { self.snapshot.report.health == .starting || self.record.awaitedUntil != nil }

    /// The verdict as if it had never lost its verdict.
    var lastSnapshot: BackendSnapshot {
        guard self.hasLostVerdict else { return self.snapshot }
        var snapshot = self.snapshot
        snapshot.report.health = .healthy
        snapshot.verdict = self.record.lastVerdict
        return snapshot
    }
}

/// Decides the path while some backend that once had a verdict has none: takeover never lies.
///
/// The invariant: a status is lowered by reports, never by silence. As long as the last report of a silenced backend would
/// still decide something, the last path stays, marked stale, until those who take over have read everything anew
/// since the silence began. Then they decide, once the silenced backend has had the time to come back; one that sees only
/// part of the routing policy may lower the status only on evidence about the very interfaces the path leads through.
struct Takeover {
    let standings: [BackendStanding]
    let settings: CoordinatorSettings
    /// The last path that was decided.
    let last: NetworkPath
    let now: MonotonicTime

    /// The path.
    func decide() -> NetworkPath? {
        let snapshots = self.standings.map(\.snapshot)
        let strongest = self.standings.firstIndex(where: \.isStrong)
        let credible = self.credible(snapshots, refuting: last)
        guard let election = self.election(credible, strongest) else { return last.held(by: snapshots) }
        let standing = self.election(self.standings.map(\.lastSnapshot), strongest)
        let isTakeover = standing?.winner != election.winner || standing?.status != election.status
        let mayDecide =
            !isTakeover
            || self.isConfirmed(election)
                && (self.mayKeepOrRaise(election) || self.mayLower(election)
                    || election.voters.first.map { self.refutes(last, at: $0) } == true)
        // Of the verdicts only the credibility of one differs, and paths do not show that.
        return mayDecide ? election.path(credible) : last.held(by: snapshots)
    }

    private func election(_ snapshots: [BackendSnapshot], _ strongest: Int?) -> Election? {
        Election(snapshots, policy: self.settings.merge, probes: self.settings.probes, strongest: strongest)
    }

    /// Whether the status stays, or is raised on a reading that is no older than what it is raised from.
    private func mayKeepOrRaise(_ election: Election) -> Bool {
        if election.status == self.last.status { return true }
        return election.status > self.last.status
            && self.standings[election.winner].record.read.time >= self.last.observedAt
    }

    /// Whether all who decide say less than the last path, on the whole routing policy, and no backend whose word that was
    /// is about to come back.
    private func mayLower(_ election: Election) -> Bool {
        self.deciders(election).allSatisfy { position in
            let standing = self.standings[position]
            guard let status = standing.snapshot.verdict?.status, status < self.last.status else { return false }
            return standing.snapshot.verdict?.isPartial == false && standing.record.read.time >= self.last.observedAt
                && !self.silenced(before: position).contains { self.standings[$0].isAwaited }
        }
    }

    /// The positions of those whose words make the status.
    private func deciders(_ election: Election) -> [Int] {
        self.settings.merge == .priority ? [election.winner] : election.voters
    }

    /// Whether those who decide have looked since the last silence began: what they saw before may be outdated.
    private func isConfirmed(_ election: Election) -> Bool {
        self.deciders(election).allSatisfy(self.hasLookedSinceTheSilence)
    }

    /// Whether what a backend says was read, from the beginning, after the others lost their verdict: a reading that was
    /// under way then may be about the time before.
    private func hasLookedSinceTheSilence(_ position: Int) -> Bool {
        let read = self.standings[position].record.read
        return self.silenced(before: position).map { self.standings[$0].record.silenced }
            .allSatisfy { $0.input < read.input && $0.time <= read.time }
    }

    /// The positions of those that lost a verdict that a backend stands in for.
    private func silenced(before position: Int) -> [Int] {
        let reportsPaths = self.standings[position].reportsPaths
        return self.standings.indices.filter { other in
            // One that would not decide anyway keeps no other one waiting.
            self.standings[other].hasLostVerdict
                && self.standings[other].reportsPaths == reportsPaths
                && (self.settings.merge != .priority || other < position)
        }
    }

    /// The verdicts, a partial no of the strongest voter counting in full when the evidence itself refutes the path.
    private func credible(_ snapshots: [BackendSnapshot], refuting path: NetworkPath) -> [BackendSnapshot] {
        guard let first = self.standings.firstIndex(where: { $0.hasVerdict && $0.snapshot.reportsPaths }),
            snapshots[first].verdict?.isPartialNo == true,
            self.hasLookedSinceTheSilence(first), self.refutes(path, at: first)
        else { return snapshots }
        var snapshots = snapshots
        snapshots[first].verdict?.isPartial = false
        return snapshots
    }

    /// Whether a backend sees that no packet can take the path any more: the interfaces it leads through, or waits
    /// for, are gone, down or without a link.
    ///
    /// Who sees only part of the routing policy cannot tell whether another interface has taken over, so there must be
    /// none that could.
    private func refutes(_ path: NetworkPath, at position: Int) -> Bool {
        guard let evidence = self.standings[position].snapshot.evidence, evidence.interfaces != nil,
            evidence.observedAt >= path.observedAt
        else { return false }
        let assessed = AssessedEvidence(evidence, policy: self.settings.evaluation, now: self.now)
        func isLost(_ index: UInt32) -> Bool {
            guard let assessment = assessed.assessments[index] else { return true }
            // A step that is still to be taken does not refute a path that waits for one.
            return !assessment.isUsable && (path.status == .satisfied || !assessment.isStartable)
        }
        let own = path.interfaces.filter { path.statedBy != nil || $0.reason.code == path.reason.code }
        if path.statedBy != nil, own.isEmpty || own.contains(where: { $0.index == 0 }) {
            // It may lead through any interface.
            return !evidence.isAbridged && assessed.candidates.allSatisfy { isLost($0.index) }
        }
        return !own.isEmpty && own.allSatisfy { isLost($0.index) }
            && !(evidence.isPartial && assessed.hasPossibleCarrier)
    }
}

extension AssessedEvidence {
    /// Whether some interface could carry a path if only there were a route.
    fileprivate var hasPossibleCarrier: Bool {
        self.candidates.contains { interface in
            self.assessments[interface.index]?.isUsable == true
                && interface.mayHaveGlobalAddress
        }
    }
}

extension NetworkPath {
    /// The last known path, while no backend can confirm or refute it.
    func held(by snapshots: [BackendSnapshot]) -> NetworkPath {
        var path = self
        path.isStale = true
        path.disagreements = []
        path.tellOf(snapshots)
        return path
    }
}
