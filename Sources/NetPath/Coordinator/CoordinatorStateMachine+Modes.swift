// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Who has to run, and what happens when that is configured anew.
extension CoordinatorStateMachine {
    /// Starts and ends backends as their modes say.
    mutating func supervise(now: MonotonicTime) -> [Action] {
        guard self.startedAt != nil else { return [] }
        var actions: [Action] = []
        for index in self.members.indices {
            switch self.members[index].mode {
            case .active: actions += self.need(index, now: now)
            case .off: actions += self.release(index, health: .off, now: now)
            case .standby:
                // Probes never stand in for a backend that sees interfaces, so they keep no other one from doing so.
                let hasSeeing = (0..<index).contains { self.members[$0].mode != .off && !self.members[$0].onlyProbes }
                let superiors = (0..<index).filter { position in
                    self.members[position].mode != .off && !(hasSeeing && self.members[position].onlyProbes)
                }
                if superiors.allSatisfy({ self.members[$0].testimony.opinion.report.health == .unhealthy }) {
                    actions += self.need(index, now: now)
                } else if superiors.contains(where: { self.members[$0].testimony.hasVoice }) {
                    actions += self.release(index, health: .standby, now: now)
                }
            }
        }
        return actions
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
        self.settings = settings
        var former = Dictionary(self.members.map { ($0.testimony.opinion.report.name, $0) }, uniquingKeysWith: { $1 })
        var members: [CoordinatorMember] = []
        for (name, mode) in backends {
            if keeping.contains(name), var member = former.removeValue(forKey: name) {
                member.testimony.opinion.report.mode = mode
                members.append(member)
            } else {
                var member = self.member(name, mode: mode)
                if let predecessor = former[name] { member.inherit(from: predecessor, input: self.inputs) }
                members.append(member)
            }
        }
        let cancelled = self.members
            .filter { former[$0.testimony.opinion.report.name] != nil && $0.supervision.hasRun }
            .map { Action.cancel(backend: $0.id) }
        self.members = members
        for index in self.members.indices {
            self.members[index].evaluate(settings.evaluation, now: now)
        }
        return cancelled + self.supervise(now: now) + self.settle(now: now)
    }

    private mutating func need(_ index: Int, now: MonotonicTime) -> [Action] {
        let health = self.members[index].testimony.opinion.report.health
        if health == .standby || health == .off {
            self.members[index].testimony.opinion.report.health = .starting
            self.opinionsVersion += 1
            return self.run(index, now: now)
        }
        return self.members[index].supervision.isIdle ? self.run(index, now: now) : []
    }

    private mutating func release(_ index: Int, health: BackendHealth, now: MonotonicTime) -> [Action] {
        guard self.members[index].testimony.opinion.report.health != health else { return [] }
        let hasToEnd = self.members[index].supervision.stop(now: now)
        self.members[index].retire(health)
        self.opinionsVersion += 1
        return hasToEnd ? [.cancel(backend: self.members[index].id)] : []
    }
}
