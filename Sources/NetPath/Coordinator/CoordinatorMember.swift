// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend as the coordinator's state machine knows it, but for its verdict.
///
/// The machine keeps the verdicts beside the members: a merge takes them all, and they are large.
struct CoordinatorMember: Sendable, Codable {
    private enum CodingKeys: String, CodingKey {
        case id, supervision, record, isKnownAsProbe, facts, absence
        /// As it is called in recordings.
        case outdatedReports = "outdatedWords"
    }

    /// The number that actions and inputs name it by; never used again for another.
    let id: Int
    var supervision = Supervision()
    var record = VerdictHistory()
    /// Whether it had shown that it only probes when it was sent to stand by; nil when it had not, as in recordings of
    /// before there was this.
    var isKnownAsProbe: Bool?
    /// How many reports in a row were of readings older than those of others, since it lost its verdict.
    ///
    /// What a stuck reading brings at last is a sign of life and no verdict, if others have looked since.
    private(set) var outdatedReports = 0
    /// So many in a row are not of old readings: the backend's times are not by the coordinator's clock.
    private static let outdatedLimit = 8
    /// What it stated last of interfaces that others see; nil when nothing.
    var facts: [InterfaceFacts]?
    /// How long it has been well without a verdict; nil when it is not.
    private(set) var absence: VerdictAbsence?

    /// How long a backend that is well has known nothing.
    struct VerdictAbsence: Sendable, Codable {
        private enum CodingKeys: String, CodingKey { case since, isLasting }

        let since: MonotonicTime
        /// Whether that is more than a moment.
        var isLasting = false
        /// When it will be lasting; nil when it is.
        var deadline: MonotonicTime? { self.isLasting ? nil : self.since + Self.limit }
        /// Long enough for a reading that is repeated, and so short that a standby has reported within a second.
        private static let limit: Duration = .milliseconds(500)
    }

    /// Notes whether the backend is well and has no verdict.
    mutating func note(lacksVerdict: Bool, now: MonotonicTime) {
        guard lacksVerdict else {
            self.absence = nil
            return
        }
        var absence = self.absence ?? VerdictAbsence(since: now)
        if let deadline = absence.deadline, deadline <= now { absence.isLasting = true }
        self.absence = absence
    }

    /// Takes a report, and turns it into a verdict; `newest` is when the last reading of another began.
    mutating func take(
        _ evidence: Evidence,
        as snapshot: inout BackendSnapshot,
        policy: EvaluationPolicy,
        newest: MonotonicTime?,
        input: UInt64,
        now: MonotonicTime
    ) {
        // What a backend that kept its verdict says replaces what it said before, and all begin at the same time.
        let comesBack = !snapshot.report.hasVerdict && (snapshot.report.health != .starting || self.record.hadVerdict)
        let read = self.beginning(of: evidence, after: snapshot.evidence, now: now)
        let isOutdated = comesBack && evidence.isReading && newest.map { read < $0 } == true
        self.outdatedReports = isOutdated && self.outdatedReports < Self.outdatedLimit ? self.outdatedReports + 1 : 0
        self.record.read = VerdictHistory.Moment(input: input, time: read)
        self.record.awaitedUntil = nil
        snapshot.report.reportedAt = now
        snapshot.report.observedAt = evidence.observedAt
        snapshot.report.resynchronizations = evidence.resynchronizations
        snapshot.evidence = evidence
        self.facts = evidence.givenFacts
        // While the health is still that of before: what was broken has no verdict to lose.
        self.evaluate(evidence, as: &snapshot, policy: policy, input: input, now: now)
        snapshot.report.health = .healthy
        snapshot.report.error = nil
    }

    /// When the reading began that evidence is of.
    private func beginning(
        of evidence: Evidence,
        after former: Evidence?,
        now: MonotonicTime
    ) -> MonotonicTime {
        // A probe reports its last round again, with its time; a backend that sees interfaces has to read anew each time.
        guard evidence.isReading else { return evidence.observedAt }
        // A time that stands still is not that of a reading, so all there is to know is when the report came.
        if evidence.observedAt == former?.observedAt { return now }
        return max(evidence.observedAt, self.supervision.runningSince ?? evidence.observedAt)
    }

    /// Turns evidence into a verdict, and notes where that takes one from the backend.
    mutating func evaluate(
        _ evidence: Evidence,
        as snapshot: inout BackendSnapshot,
        policy: EvaluationPolicy,
        input: UInt64,
        now: MonotonicTime
    ) {
        let hadVerdict = snapshot.report.hasVerdict
        // No ternary: with -O, Swift 6.3.1 inlines both callers of this and crashes in OwnershipModelEliminator, where the
        // optional result of a call and nil meet.
        var verdict: Verdict?
        if self.outdatedReports == 0 { verdict = evidence.verdict(policy: policy, now: now) }
        snapshot.report.limitations = evidence.limitations(concerning: verdict?.status)
        snapshot.report.status = verdict?.status
        snapshot.report.reason = verdict?.reason
        snapshot.report.isStated = verdict?.isStated == true
        snapshot.report.host = verdict?.host
        snapshot.report.describedInterfaces = evidence.givenFacts?.map(\.name)
        if let verdict { self.record.lastVerdict = verdict }
        snapshot.verdict = verdict
        if hadVerdict, !snapshot.report.hasVerdict {
            self.record.silenced = VerdictHistory.Moment(input: input, time: now)
        }
    }
}

extension BackendSnapshot {
    /// The verdict of a backend that has said nothing.
    init(name: String, mode: BackendMode) {
        self.init(
            report: BackendReport(
                name: name,
                mode: mode,
                health: mode == .active ? .starting : mode == .off ? .off : .standby
            )
        )
    }

    /// Whether the backend has shown that it has nothing but probes, or what another machine states.
    @inline(__always) var onlyProbes: Bool {
        !self.reportsPaths && (self.evidence?.probes != nil || self.verdict?.host != nil)
    }
}
