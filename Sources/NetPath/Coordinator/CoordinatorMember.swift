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

    /// Takes a word, and turns it into a verdict.
    mutating func take(
        _ observation: Observation,
        as opinion: inout BackendOpinion,
        policy: EvaluationPolicy,
        input: UInt64,
        now: MonotonicTime
    ) {
        let hadVoice = opinion.hasVoice
        self.record.spokenAt = input
        opinion.report.health = .healthy
        opinion.report.error = nil
        opinion.report.reportedAt = now
        opinion.report.resynchronizations = observation.resynchronizations
        opinion.observation = observation
        self.evaluate(observation, as: &opinion, policy: policy, now: now)
        if hadVoice, !opinion.hasVoice { self.record.silencedAt = input }
    }

    /// Turns the evidence into a verdict.
    mutating func evaluate(_ opinion: inout BackendOpinion, policy: EvaluationPolicy, now: MonotonicTime) {
        if let observation = opinion.observation {
            self.evaluate(observation, as: &opinion, policy: policy, now: now)
        }
    }

    private mutating func evaluate(
        _ observation: Observation,
        as opinion: inout BackendOpinion,
        policy: EvaluationPolicy,
        now: MonotonicTime
    ) {
        let verdict = NetPath.evaluate(observation, policy: policy, now: now)
        opinion.report.limitations = observation.limitations(concerning: verdict?.status)
        opinion.report.status = verdict?.status
        opinion.report.reason = verdict?.reason
        if let verdict { self.record.lastWord = verdict }
        opinion.verdict = verdict
    }

    /// Notes a failure; returns whether that took the backend's voice.
    mutating func fail(_ error: String, as opinion: inout BackendOpinion, input: UInt64) -> Bool {
        let hadVoice = opinion.hasVoice
        if hadVoice { self.record.silencedAt = input }
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

    /// Whether the backend has shown that it sees nothing but probes.
    var onlyProbes: Bool { !self.seesInterfaces && self.observation?.probes != nil }
}
