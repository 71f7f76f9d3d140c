// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend as the coordinator's state machine knows it, but for its opinion.
///
/// The machine keeps the opinions beside the members: a merge takes them all, and they are large.
struct CoordinatorMember: Sendable {
    /// The number that actions and inputs name it by; never used again for another.
    let id: Int
    var supervision = Supervision()
    var record = VoiceRecord()
    /// How many words in a row were of readings older than those of others, since it lost its voice.
    ///
    /// What a stuck reading brings at last is a sign of life and no opinion, if others have looked since.
    private(set) var outdatedWords = 0
    /// So many in a row are not of old readings: the backend's times are not by the coordinator's clock.
    private static let outdatedLimit = 8
    /// How long it has been well without an opinion; nil when it is not.
    private(set) var ignorance: Ignorance?

    /// How long a backend that is well has known nothing.
    struct Ignorance: Sendable {
        let since: MonotonicTime
        /// Whether that is longer than a first word may take.
        var isLasting = false
        /// When it will be lasting; nil when it is.
        var deadline: MonotonicTime? { self.isLasting ? nil : self.since + Supervision.firstWordLimit }
    }

    /// Notes whether the backend is well and has no opinion.
    mutating func note(isIgnorant: Bool, now: MonotonicTime) {
        guard isIgnorant else {
            self.ignorance = nil
            return
        }
        var ignorance = self.ignorance ?? Ignorance(since: now)
        if let deadline = ignorance.deadline, deadline <= now { ignorance.isLasting = true }
        self.ignorance = ignorance
    }

    /// Takes a word, and turns it into a verdict; `newest` is when the last reading of another began.
    mutating func take(
        _ observation: Observation,
        as opinion: inout BackendOpinion,
        policy: EvaluationPolicy,
        newest: MonotonicTime?,
        input: UInt64,
        now: MonotonicTime
    ) {
        let hadVoice = opinion.hasVoice
        // What a backend that kept its voice says replaces what it said before, and all begin at the same time.
        let comesBack = !hadVoice && (opinion.report.health != .starting || self.record.hadVoice)
        let read = self.beginning(of: observation, after: opinion.observation, now: now)
        let isOutdated = comesBack && observation.interfaces != nil && newest.map { read < $0 } == true
        self.outdatedWords = isOutdated && self.outdatedWords < Self.outdatedLimit ? self.outdatedWords + 1 : 0
        self.record.read = VoiceRecord.Moment(input: input, time: read)
        opinion.report.health = .healthy
        opinion.report.error = nil
        opinion.report.reportedAt = now
        opinion.report.observedAt = observation.observedAt
        opinion.report.resynchronizations = observation.resynchronizations
        opinion.observation = observation
        self.evaluate(observation, as: &opinion, policy: policy, now: now)
        if hadVoice, !opinion.hasVoice { self.record.silenced = VoiceRecord.Moment(input: input, time: now) }
    }

    /// When the reading began that an observation is of.
    private func beginning(
        of observation: Observation,
        after former: Observation?,
        now: MonotonicTime
    ) -> MonotonicTime {
        // Probes tell their last round again, with its time; whoever sees interfaces is to read anew each time.
        guard observation.interfaces != nil else { return observation.observedAt }
        // A time that stands still is not that of a reading, so all there is to know is when the word came.
        if observation.observedAt == former?.observedAt { return now }
        return max(observation.observedAt, self.supervision.runningSince ?? observation.observedAt)
    }

    /// Turns the evidence into a verdict.
    mutating func evaluate(
        _ opinion: inout BackendOpinion,
        policy: EvaluationPolicy,
        input: UInt64,
        now: MonotonicTime
    ) {
        guard let observation = opinion.observation else { return }
        let hadVoice = opinion.hasVoice
        self.evaluate(observation, as: &opinion, policy: policy, now: now)
        if hadVoice, !opinion.hasVoice { self.record.silenced = VoiceRecord.Moment(input: input, time: now) }
    }

    private mutating func evaluate(
        _ observation: Observation,
        as opinion: inout BackendOpinion,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) {
        let verdict = self.outdatedWords == 0 ? NetPath.evaluate(observation, policy: policy, now: now) : nil
        opinion.report.limitations = observation.limitations(concerning: verdict?.status)
        opinion.report.status = verdict?.status
        opinion.report.reason = verdict?.reason
        if let verdict { self.record.lastWord = verdict }
        opinion.verdict = verdict
    }

    /// Notes a failure; returns whether that took the backend's voice.
    mutating func fail(_ error: String, as opinion: inout BackendOpinion, input: UInt64, now: MonotonicTime) -> Bool {
        let hadVoice = opinion.hasVoice
        if hadVoice { self.record.silenced = VoiceRecord.Moment(input: input, time: now) }
        opinion.report.health = .unhealthy
        opinion.report.error = error
        return hadVoice
    }
}

extension BackendOpinion {
    /// The opinion of a backend that has said nothing.
    init(name: String, mode: BackendMode) {
        self.init(
            report: BackendReport(
                name: name,
                mode: mode,
                health: mode == .active ? .starting : mode == .off ? .off : .standby,
                limitations: [],
                restarts: 0,
                resynchronizations: 0
            )
        )
    }

    /// Whether the backend has shown that it can judge by nothing but probes.
    @inline(__always) var onlyProbes: Bool { !self.seesPaths && self.observation?.probes != nil }
}
