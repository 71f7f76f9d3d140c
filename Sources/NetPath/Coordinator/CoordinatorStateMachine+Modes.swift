// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Who has to run, and what happens when that is configured anew.
extension CoordinatorStateMachine {
    /// Starts and ends backends as their modes say.
    mutating func supervise(now: MonotonicTime) -> [Action] {
        guard self.startedAt != nil else { return [] }
        for index in self.members.indices {
            self.members[index].note(isIgnorant: self.opinions[index].report.isIgnorant, now: now)
        }
        var actions: [Action] = []
        for index in self.members.indices {
            switch self.opinions[index].report.mode {
            case .active: actions += self.need(index, now: now)
            case .off: actions += self.release(index, health: .off, now: now)
            case .standby:
                let superiors = self.superiors(of: index)
                if superiors.allSatisfy({ self.isOfNoUse($0) }) {
                    actions += self.need(index, now: now)
                } else if superiors.contains(where: { self.opinions[$0].hasVoice }) {
                    actions += self.release(index, health: .standby, now: now)
                }
            }
        }
        return actions
    }

    /// Those that a backend stands by for.
    ///
    /// Probes never stand in for a backend that sees interfaces, so they keep no other one from doing so.
    private func superiors(of index: Int) -> [Int] {
        var probing: [Int] = []
        var others: [Int] = []
        for position in 0..<index where self.opinions[position].report.mode != .off {
            if self.opinions[position].onlyProbes { probing.append(position) } else { others.append(position) }
        }
        return others.isEmpty ? probing : others
    }

    /// Whether a backend is broken, or well and knows nothing, and has been for longer than a first word may take.
    private func isOfNoUse(_ index: Int) -> Bool {
        self.opinions[index].report.health == .unhealthy || self.members[index].ignorance?.isLasting == true
    }

    /// Replaces backends and settings; those to keep that were there before keep running with their state.
    ///
    /// Their numbers are those of ``members`` afterwards, in the order given.
    mutating func apply(
        backends: [(name: String, mode: BackendMode)],
        settings: CoordinatorSettings,
        keeping: Set<String>,
        now: MonotonicTime
    ) -> [Action] {
        self.inputs += 1
        self.opinionsVersion += 1
        let hasNewRules = settings.evaluation.interfaceRules != self.settings.evaluation.interfaceRules
        self.settings = settings
        var former = Dictionary(
            zip(self.opinions, self.members).map { ($0.report.name, (opinion: $0, member: $1)) },
            uniquingKeysWith: { $1 }
        )
        var hasSilenced = false
        var members: [CoordinatorMember] = []
        var opinions: [BackendOpinion] = []
        for (name, mode) in backends {
            if keeping.contains(name), let kept = former.removeValue(forKey: name) {
                var opinion = kept.opinion
                opinion.report.mode = mode
                members.append(kept.member)
                opinions.append(opinion)
            } else {
                var member = self.newMember()
                var opinion = BackendOpinion(name: name, mode: mode)
                // The last word of the one that had this name before stands until the new one has spoken.
                if let (last, predecessor) = former[name], mode != .off, predecessor.record.hadVoice {
                    opinion.observation = last.observation
                    member.record.lastWord = predecessor.record.lastWord
                    member.record.silenced = VoiceRecord.Moment(input: self.inputs, time: now)
                    hasSilenced = true
                }
                members.append(member)
                opinions.append(opinion)
            }
        }
        let cancelled = zip(self.opinions, self.members)
            .filter { former[$0.report.name] != nil && $1.supervision.hasRun }
            .map { Action.cancel(backend: $1.id) }
        self.members = members
        self.opinions = opinions
        for index in self.members.indices {
            self.members[index].evaluate(
                &self.opinions[index],
                policy: settings.evaluation,
                input: self.inputs,
                now: now
            )
        }
        // Those that keep running may have left out what the new rules speak of, and may have to stand in for one that
        // is replaced; those that start read everything anyway.
        let refreshed = hasNewRules || hasSilenced ? self.refreshOthers(than: nil, now: now) : []
        return cancelled + refreshed + self.supervise(now: now) + self.settle(now: now)
    }

    private mutating func need(_ index: Int, now: MonotonicTime) -> [Action] {
        let health = self.opinions[index].report.health
        if health == .standby || health == .off {
            self.opinions[index].report.health = .starting
            self.opinionsVersion += 1
            return self.run(index, now: now)
        }
        return self.members[index].supervision.isIdle ? self.run(index, now: now) : []
    }

    private mutating func release(_ index: Int, health: BackendHealth, now: MonotonicTime) -> [Action] {
        guard self.opinions[index].report.health != health else { return [] }
        let hasToEnd = self.members[index].supervision.stop(now: now)
        // Its word says nothing any more, because it does not run on purpose.
        let report = self.opinions[index].report
        self.opinions[index] = BackendOpinion(name: report.name, mode: report.mode)
        self.opinions[index].report.health = health
        self.opinions[index].report.restarts = report.restarts
        self.members[index].record = VoiceRecord()
        self.opinionsVersion += 1
        return hasToEnd ? [.cancel(backend: self.members[index].id)] : []
    }
}
