// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Who has to run, and what happens when that is configured anew.
extension CoordinatorStateMachine {
    /// Starts and ends backends as their modes say.
    mutating func supervise(now: MonotonicTime) -> [Action] {
        guard self.startedAt != nil else { return [] }
        for index in self.members.indices {
            let isWell = self.snapshots[index].report.health == .healthy
            self.members[index].note(lacksVerdict: isWell && !self.snapshots[index].report.hasVerdict, now: now)
        }
        var actions: [Action] = []
        for index in self.members.indices {
            switch self.snapshots[index].report.mode {
            case .active: actions += self.need(index, now: now)
            case .off: actions += self.release(index, health: .off, now: now)
            case .standby:
                let preferred = self.preferred(over: index)
                if preferred.allSatisfy({ self.isUnusable($0) }) {
                    actions += self.need(index, now: now)
                } else if preferred.contains(where: { self.snapshots[$0].report.hasVerdict }) {
                    actions += self.release(index, health: .standby, now: now)
                }
            }
        }
        return actions
    }

    /// The backends that a backend on standby may replace.
    ///
    /// A probe, or what another machine states, cannot replace a backend that sees interfaces, so it keeps none on
    /// standby but one that has shown to know no more than it does.
    private func preferred(over index: Int) -> [Int] {
        let isProbe = self.snapshots[index].onlyProbes || self.members[index].isKnownAsProbe == true
        let positions = (0..<index).filter { self.snapshots[$0].report.mode != .off }
        let others = positions.filter { !self.snapshots[$0].onlyProbes }
        return others.isEmpty && isProbe ? positions : others
    }

    /// Whether a backend is unhealthy, or is healthy and has had no verdict for longer than a first report may take.
    private func isUnusable(_ index: Int) -> Bool {
        self.snapshots[index].report.health == .unhealthy || self.members[index].absence?.isLasting == true
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
        self.snapshotsVersion += 1
        let hasNewRules = settings.evaluation.interfaceRules != self.settings.evaluation.interfaceRules
        self.settings = settings
        var former = Dictionary(
            zip(self.snapshots, self.members).map { ($0.report.name, (snapshot: $0, member: $1)) },
            uniquingKeysWith: { $1 }
        )
        var hasSilenced = false
        var members: [CoordinatorMember] = []
        var snapshots: [BackendSnapshot] = []
        for (name, mode) in backends {
            if keeping.contains(name), let kept = former.removeValue(forKey: name) {
                var snapshot = kept.snapshot
                snapshot.report.mode = mode
                members.append(kept.member)
                snapshots.append(snapshot)
            } else {
                var member = self.newMember()
                var snapshot = BackendSnapshot(name: name, mode: mode)
                // The last report of the one that had this name before counts until the new one has reported.
                if let (last, predecessor) = former[name], mode != .off, predecessor.record.hadVerdict {
                    snapshot.evidence = last.evidence
                    member.record.lastVerdict = predecessor.record.lastVerdict
                    member.record.silenced = VerdictHistory.Moment(input: self.inputs, time: now)
                    hasSilenced = true
                }
                if mode != .off { member.facts = former[name]?.member.facts }
                members.append(member)
                snapshots.append(snapshot)
            }
        }
        let cancelled = zip(self.snapshots, self.members)
            .filter { former[$0.report.name] != nil && $1.supervision.hasRun }
            .map { Action.cancel(backend: $1.id) }
        self.members = members
        self.snapshots = snapshots
        for index in self.members.indices { self.evaluate(index, now: now) }
        // Those that keep running may have left out what the new rules speak of, and may have to stand in for one that
        // is replaced; those that start read everything anyway.
        let refreshed = hasNewRules || hasSilenced ? self.refreshOthers(than: nil, now: now) : []
        return cancelled + refreshed + self.supervise(now: now) + self.settle(now: now)
    }

    private mutating func need(_ index: Int, now: MonotonicTime) -> [Action] {
        let health = self.snapshots[index].report.health
        if health == .standby || health == .off {
            self.snapshots[index].report.health = .starting
            self.snapshotsVersion += 1
            return self.run(index, now: now)
        }
        return self.members[index].supervision.isIdle ? self.run(index, now: now) : []
    }

    private mutating func release(_ index: Int, health: BackendHealth, now: MonotonicTime) -> [Action] {
        guard self.snapshots[index].report.health != health else { return [] }
        let hasToEnd = self.members[index].supervision.stop(now: now)
        // Its word says nothing any more, because it does not run on purpose.
        let report = self.snapshots[index].report
        if self.snapshots[index].onlyProbes { self.members[index].isKnownAsProbe = true }
        self.snapshots[index] = BackendSnapshot(name: report.name, mode: report.mode)
        self.snapshots[index].report.health = health
        self.snapshots[index].report.restarts = report.restarts
        self.members[index].record = VerdictHistory()
        self.members[index].facts = nil
        self.snapshotsVersion += 1
        return hasToEnd ? [.cancel(backend: self.members[index].id)] : []
    }
}
