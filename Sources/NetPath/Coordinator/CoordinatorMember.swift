// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A backend as the coordinator's state machine knows it.
struct CoordinatorMember: Sendable {
    /// The number that actions and inputs name it by; never used again for another.
    let id: Int
    var supervision = Supervision()
    var testimony: Testimony

    init(id: Int, name: String, mode: BackendMode) {
        self.id = id
        let report = BackendReport(
            name: name,
            mode: mode,
            health: mode == .active ? .starting : mode == .off ? .off : .standby,
            limitations: [],
            restarts: 0,
            resynchronizations: 0
        )
        self.testimony = Testimony(opinion: BackendOpinion(report: report))
    }

    var opinion: BackendOpinion {
        get { self.testimony.opinion }
        set { self.testimony.opinion = newValue }
    }

    var mode: BackendMode { self.opinion.report.mode }

    /// Whether it has shown that it sees nothing but probes.
    var onlyProbes: Bool {
        self.opinion.observation.map { $0.interfaces == nil && $0.probes != nil } ?? false
    }

    /// Takes a word, and turns it into a verdict.
    mutating func take(_ observation: Observation, policy: EvaluationPolicy, input: UInt64, now: MonotonicTime) {
        let hadVoice = self.testimony.hasVoice
        self.testimony.spokenAt = input
        self.opinion.observation = observation
        self.opinion.report.health = .healthy
        self.opinion.report.error = nil
        self.opinion.report.limitations = observation.limitations
        self.opinion.report.reportedAt = now
        self.opinion.report.resynchronizations = observation.resynchronizations
        self.evaluate(policy, now: now)
        if hadVoice, !self.testimony.hasVoice { self.testimony.silencedAt = input }
    }

    /// Turns the evidence into a verdict.
    mutating func evaluate(_ policy: EvaluationPolicy, now: MonotonicTime) {
        guard let observation = self.opinion.observation else { return }
        let verdict = NetPath.evaluate(observation, policy: policy, now: now)
        self.opinion.verdict = verdict
        self.opinion.report.status = verdict?.status
        self.opinion.report.reason = verdict?.reason
        self.testimony.lastWord = verdict ?? self.testimony.lastWord
    }

    /// Notes a failure; returns whether that took the backend's voice.
    mutating func fail(_ error: String, input: UInt64) -> Bool {
        let hadVoice = self.testimony.hasVoice
        if hadVoice { self.testimony.silencedAt = input }
        self.opinion.report.health = .unhealthy
        self.opinion.report.error = error
        return hadVoice
    }

    /// Forgets what it said, because it does not run on purpose and its word says nothing any more.
    mutating func retire(_ health: BackendHealth) {
        let report = self.opinion.report
        self.testimony = CoordinatorMember(id: self.id, name: report.name, mode: report.mode).testimony
        self.opinion.report.health = health
        self.opinion.report.restarts = report.restarts
    }

    /// Takes over the last word of the one that had this name before: it stands until the new one has spoken.
    mutating func inherit(from predecessor: CoordinatorMember, input: UInt64) {
        guard self.mode != .off, predecessor.testimony.lastWord != nil else { return }
        self.opinion.observation = predecessor.opinion.observation
        self.testimony.lastWord = predecessor.testimony.lastWord
        self.testimony.silencedAt = input
    }
}
