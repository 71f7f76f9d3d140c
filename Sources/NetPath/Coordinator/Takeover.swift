// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a backend said last, and when it lost its voice.
struct VoiceRecord: Sendable {
    /// A moment by the clock, and by the number of the input: that tells what came first where the clock does not.
    struct Moment: Sendable {
        var input: UInt64 = 0
        var time = MonotonicTime(nanoseconds: 0)
    }

    /// The last verdict it ever gave; nil when it never had one, or is not needed any more.
    var lastWord: Verdict?
    /// Which input brought its last word, and when the reading began that the word is about.
    var read = Moment()
    /// When it lost its voice.
    var silenced = Moment()

    /// Whether it had a voice once.
    @inline(__always) var hadVoice: Bool { self.lastWord?.status != nil }
}

extension BackendOpinion {
    // Inlined, and asking for one part only, or it would copy the whole opinion.

    /// Whether the backend has a verdict that counts now.
    @inline(__always) var hasVoice: Bool { self.report.hasVoice }
}

/// What a backend said, and when it lost its voice.
struct Testimony: Sendable {
    /// What it says now, or said last.
    var opinion: BackendOpinion
    var record: VoiceRecord

    /// Whether it has a verdict that counts now.
    var hasVoice: Bool { self.opinion.hasVoice }
    /// Whether it ever had an opinion of its own on paths.
    var isStrong: Bool { self.record.hadVoice && self.opinion.seesPaths }
    /// Whether it gave a verdict once and cannot confirm or take it back now.
    var isSilenced: Bool { self.record.hadVoice && !self.hasVoice }

    /// The opinion as if it had never lost its voice.
    var lastOpinion: BackendOpinion {
        guard self.isSilenced else { return self.opinion }
        var opinion = self.opinion
        opinion.report.health = .healthy
        opinion.verdict = self.record.lastWord
        return opinion
    }
}

/// Decides the path while some backend that once had an opinion has none: takeover never lies.
///
/// The invariant: a status is lowered by words, never by silence. As long as the last word of a silenced backend would
/// still decide something, the last path stays, marked stale, until those who take over have read everything anew
/// since the silence began. Then they may raise the status or keep it; they may lower it only on evidence about the
/// very interfaces the path leads through.
struct Takeover {
    let testimonies: [Testimony]
    let settings: CoordinatorSettings
    /// The last path that was decided.
    let last: NetworkPath
    let now: MonotonicTime

    /// The path.
    func decide() -> NetworkPath? {
        let opinions = self.testimonies.map(\.opinion)
        let strongest = self.testimonies.firstIndex(where: \.isStrong)
        let credible = self.credible(opinions, refuting: last)
        guard let election = Election(credible, policy: self.settings.merge, strongest: strongest) else {
            return last.held(by: opinions)
        }
        let standing = Election(
            self.testimonies.map(\.lastOpinion),
            policy: self.settings.merge,
            strongest: strongest
        )
        let isTakeover = standing?.winner != election.winner || standing?.status != election.status
        let mayDecide =
            !isTakeover
            || self.isConfirmed(election)
                && (self.mayKeepOrRaise(election)
                    || election.voters.first.map { self.refutes(last, at: $0) } == true)
        // Of the opinions only the credibility of one differs, and paths do not show that.
        return mayDecide ? election.path(credible) : last.held(by: opinions)
    }

    /// Whether the status stays, or is raised on a reading that is no older than what it is raised from.
    private func mayKeepOrRaise(_ election: Election) -> Bool {
        if election.status == self.last.status { return true }
        return election.status > self.last.status
            && self.testimonies[election.winner].record.read.time >= self.last.observedAt
    }

    /// Whether those who decide have looked since the last silence began: what they saw before may be outdated.
    private func isConfirmed(_ election: Election) -> Bool {
        let deciders = self.settings.merge == .priority ? [election.winner] : election.voters
        return deciders.allSatisfy(self.hasLookedSinceTheSilence)
    }

    /// Whether what a backend says was read, from the beginning, after the others lost their voice: a reading that was
    /// under way then may be about the time before.
    private func hasLookedSinceTheSilence(_ position: Int) -> Bool {
        let seesPaths = self.testimonies[position].opinion.seesPaths
        let silenced = self.testimonies.indices.filter { other in
            // Whoever would not decide anyway keeps nobody waiting.
            self.testimonies[other].isSilenced
                && self.testimonies[other].opinion.seesPaths == seesPaths
                && (self.settings.merge != .priority || other < position)
        }
        let read = self.testimonies[position].record.read
        return silenced.map { self.testimonies[$0].record.silenced }
            .allSatisfy { $0.input < read.input && $0.time <= read.time }
    }

    /// The opinions, a partial no of the strongest voter counting in full when the evidence itself refutes the path.
    private func credible(_ opinions: [BackendOpinion], refuting path: NetworkPath) -> [BackendOpinion] {
        guard let first = self.testimonies.firstIndex(where: { $0.hasVoice && $0.opinion.seesPaths }),
            opinions[first].verdict?.isPartialNo == true,
            self.hasLookedSinceTheSilence(first), self.refutes(path, at: first)
        else { return opinions }
        var opinions = opinions
        opinions[first].verdict?.isPartial = false
        return opinions
    }

    /// Whether a backend sees that no packet can take the path any more: the interfaces it leads through, or waits
    /// for, are gone, down or without a link.
    ///
    /// Who sees only part of the routing policy cannot tell whether another interface has taken over, so there must be
    /// none that could.
    private func refutes(_ path: NetworkPath, at position: Int) -> Bool {
        guard let observation = self.testimonies[position].opinion.observation, observation.interfaces != nil,
            observation.observedAt >= path.observedAt
        else { return false }
        let own = path.interfaces.filter { $0.reason.code == path.reason.code }
        let evidence = AssessedEvidence(observation, policy: self.settings.evaluation, now: self.now)
        let isLost = own.allSatisfy { interface in
            guard let assessment = evidence.assessments[interface.index] else { return true }
            // A step that is still to be taken does not refute a path that waits for one.
            return !assessment.isUsable && (path.status == .satisfied || !assessment.isStartable)
        }
        return !own.isEmpty && isLost && !(observation.isPartial && evidence.hasPossibleCarrier)
    }
}

extension AssessedEvidence {
    /// Whether some interface could carry a path if only there were a route.
    fileprivate var hasPossibleCarrier: Bool {
        self.candidates.contains { interface in
            self.assessments[interface.index]?.isUsable == true
                && interface.addresses.contains { $0.isGlobal && $0.isUsable }
        }
    }
}

extension NetworkPath {
    /// The last known path while nobody can confirm or refute it.
    func held(by opinions: [BackendOpinion]) -> NetworkPath {
        var path = self
        path.isStale = true
        path.disagreements = []
        path.tellOf(opinions)
        return path
    }
}
