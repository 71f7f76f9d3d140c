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

    @inline(__always) var mode: BackendMode { self.testimony.opinion.report.mode }

    /// Whether it has shown that it sees nothing but probes.
    var onlyProbes: Bool {
        !self.testimony.opinion.seesInterfaces && self.testimony.opinion.observation?.probes != nil
    }

    /// Takes a word, and turns it into a verdict.
    mutating func take(_ observation: Observation, policy: EvaluationPolicy, input: UInt64, now: MonotonicTime) {
        let hadVoice = self.testimony.hasVoice
        self.testimony.spokenAt = input
        self.testimony.opinion.observation = observation
        self.testimony.opinion.report.health = .healthy
        self.testimony.opinion.report.error = nil
        self.testimony.opinion.report.limitations = observation.limitations
        self.testimony.opinion.report.reportedAt = now
        self.testimony.opinion.report.resynchronizations = observation.resynchronizations
        self.evaluate(policy, now: now)
        if hadVoice, !self.testimony.hasVoice { self.testimony.silencedAt = input }
    }

    /// Turns the evidence into a verdict.
    mutating func evaluate(_ policy: EvaluationPolicy, now: MonotonicTime) {
        guard let observation = self.testimony.opinion.observation else { return }
        let verdict = NetPath.evaluate(observation, policy: policy, now: now)
        self.testimony.opinion.verdict = verdict
        self.testimony.opinion.report.status = verdict?.status
        self.testimony.opinion.report.reason = verdict?.reason
        if let verdict { self.testimony.lastWord = verdict }
    }

    /// Notes a failure; returns whether that took the backend's voice.
    mutating func fail(_ error: String, input: UInt64) -> Bool {
        let hadVoice = self.testimony.hasVoice
        if hadVoice { self.testimony.silencedAt = input }
        self.testimony.opinion.report.health = .unhealthy
        self.testimony.opinion.report.error = error
        return hadVoice
    }

    /// Forgets what it said, because it does not run on purpose and its word says nothing any more.
    mutating func retire(_ health: BackendHealth) {
        let report = self.testimony.opinion.report
        self.testimony = CoordinatorMember(id: self.id, name: report.name, mode: report.mode).testimony
        self.testimony.opinion.report.health = health
        self.testimony.opinion.report.restarts = report.restarts
    }

    /// Takes over the last word of the one that had this name before: it stands until the new one has spoken.
    mutating func inherit(from predecessor: CoordinatorMember, input: UInt64) {
        guard self.mode != .off, predecessor.testimony.lastWord != nil else { return }
        self.testimony.opinion.observation = predecessor.testimony.opinion.observation
        self.testimony.lastWord = predecessor.testimony.lastWord
        self.testimony.silencedAt = input
    }
}
