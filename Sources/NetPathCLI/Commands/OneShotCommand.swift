// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathExplanation
import NetPathSystem

/// What the backends say when they are asked once.
struct OneShotCommand: Sendable {
    private(set) var snapshots: [BackendSnapshot]
    /// What that comes to; where some were left out, what a service says that has asked them all.
    private(set) var snapshot: StatusSnapshot
    /// The service whose word the snapshot is; nil where it is that of the backends.
    var service: AnsweringService?
    /// What the verdicts depended on besides the evidence.
    var evaluation = EvaluationPolicy()

    /// Asks the backends of a configuration; where a service runs with the same one, the service has the word of those
    /// that send packets or start programs.
    ///
    /// - Parameters:
    ///   - configuration: Names the backends.
    ///   - limit: How long to wait at most.
    ///   - asWatching: Whether they open what tells of changes too, and say what they lack of it.
    /// - Returns: What they said.
    /// - Throws: `SystemError` when the process may open no more files.
    static func ask(
        _ configuration: LoadedConfiguration,
        limit: Duration,
        asWatching: Bool = false
    ) throws(SystemError) -> OneShotCommand {
        if let (service, first) = AnsweringService.find(configuration) {
            var answer = OneShotCommand(snapshots: [], snapshot: first, service: service)
            // It may not have heard yet of what this program sees.
            guard let reading = configuration.reading else { return answer }
            let own = try self.askBackends(of: reading, limit: limit)
            if let word = service.status(beside: own.snapshot, first: first) {
                answer.snapshot = word
                return answer
            }
        }
        return try self.askBackends(of: configuration, limit: limit, asWatching: asWatching)
    }

    /// Asks the backends of a configuration themselves, whoever else knows.
    static func askBackends(
        of configuration: LoadedConfiguration,
        limit: Duration,
        asWatching: Bool = false
    ) throws(SystemError) -> OneShotCommand {
        let loop = try EventLoop()
        // What the backends complain about is part of the answer; only what is worse needs a message of its own.
        let log = ToolContext.current.log(from: .error)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        var answer = Self.ask(coordinator, on: loop, limit: limit, asWatching: asWatching)
        answer.evaluation = configuration.evaluation
        answer.recall(configuration.settings)
        answer.snapshot.note(leftOut: configuration.leftOut)
        return answer
    }

    /// Where there is no path, has that interface blamed which carried it, if a service remembers that.
    ///
    /// What it remembers changes the reason, and no status.
    private mutating func recall(_ settings: CoordinatorSettings) {
        guard let path = self.snapshot.path, path.status == .unsatisfied else { return }
        let carriers = ServiceMemory.formerCarriers()
        guard !carriers.isEmpty else { return }
        let recalled = self.snapshots.map {
            $0.recalling(carriers, settings.evaluation, now: self.snapshot.takenAt.monotonic)
        }
        let merged = NetworkPath.merging(
            recalled,
            policy: settings.merge,
            probes: settings.probes,
            portals: settings.portals
        )
        guard var merged, merged.status == path.status else { return }
        (merged.sequence, merged.publishedAt) = (path.sequence, path.publishedAt)
        self.snapshots = recalled
        self.snapshot.path = merged
        self.snapshot.backends = recalled.map(\.report)
    }

    /// Starts the backends, waits for the first report of each, and stops them.
    ///
    /// A backend that failed has reported too; one that probes has when its first round has ended.
    ///
    /// - Parameters:
    ///   - coordinator: Runs the backends; not yet started.
    ///   - loop: The coordinator's executor.
    ///   - limit: How long to wait at most.
    ///   - asWatching: Whether they open what tells of changes too, and say what they lack of it.
    /// - Returns: What they said.
    static func ask(
        _ coordinator: PathCoordinator,
        on loop: EventLoop,
        limit: Duration,
        asWatching: Bool = false
    ) -> OneShotCommand {
        let subscription = coordinator.subscribeSnapshots { _ in loop.wakeUp.wake(.output) }
        defer {
            subscription.cancel()
            coordinator.stop()
        }
        let deadline = loop.now() + limit
        coordinator.start(once: !asWatching)
        loop.wait(until: deadline) { Self.isSettled(coordinator.snapshots) }

        let snapshots = coordinator.snapshots.map { snapshot in
            var snapshot = snapshot
            let limit = DurationText.format(limit)
            if snapshot.report.isSilent {
                snapshot.report.error = "said nothing within \(limit)"
            } else if snapshot.isStillProbing {
                snapshot.report.limitations.append("its probes did not end within \(limit)")
            }
            return snapshot
        }
        return OneShotCommand(snapshots: snapshots, snapshot: .now(coordinator.path, snapshots.map(\.report)))
    }

    private static func isSettled(_ snapshots: [BackendSnapshot]) -> Bool {
        !snapshots.contains { $0.report.isSilent || $0.isStillProbing } && !snapshots.awaitStandby
    }

    /// Says on standard error which backends did not report in time.
    func noteSilence() {
        let context = ToolContext.current
        for snapshot in self.snapshots {
            let report = snapshot.report
            if report.isSilent {
                context.note("\(context.name): \(report.name.safe) \(report.error?.safe ?? "is silent")")
            } else if snapshot.isStillProbing, let limitation = report.limitations.last {
                context.note("\(context.name): \(report.name.safe): \(limitation)")
            }
        }
    }

    /// Why the path is what it is.
    var explained: ExplainedPath {
        if let explained = self.service?.explanation(of: self.snapshot) { return explained }
        let decision = Decision(self.snapshot.path, among: self.snapshots)
        let snapshot = decision.backend
        var explanation = snapshot?.explanation(self.evaluation, now: self.snapshot.takenAt.monotonic)
            .map(decision.applied)
        // Probes and statements that decide nothing tell what the others cannot see.
        explanation?.evidence += self.snapshots.filter {
            $0.report.health == .healthy && $0.report.name != snapshot?.report.name
        }.flatMap { advisor in
            let outcomes = advisor.evidence?.probes?.outcomes ?? []
            let facts =
                outcomes.map { $0.fact(describingErrors: SystemReason.text) }
                + [advisor.evidence?.conclusion?.fact].compactMap { $0 }
            return facts.map { "\($0) (\(advisor.report.name))" }
        }
        if let remedy = self.snapshot.path?.portalRemedy { explanation?.remedies.insert(remedy, at: 0) }
        return ExplainedPath(snapshot: self.snapshot, backend: snapshot?.report.name, explanation: explanation)
    }

    /// The backends there are, and how they are doing.
    func inventory(of configuration: LoadedConfiguration, registry: BackendRegistry) -> BackendInventory {
        BackendInventory(
            origin: configuration.origin,
            types: registry.all.map { ($0.type, $0.summary) },
            entries: self.snapshot.backends.map { report in
                let type = configuration.backends.first { $0.name == report.name }?.type
                return (type: type ?? report.name, report: report)
            },
            takenAt: self.snapshot.takenAt
        )
    }
}

extension [BackendSnapshot] {
    /// Whether a backend that stands by is about to be called: one above it is well, and none there has a verdict, such as
    /// one that knows an interface and no path.
    var awaitStandby: Bool {
        self.indices.contains { index in
            guard self[index].report.health == .standby else { return false }
            let above = self[..<index].filter { !$0.isAdvisor && $0.report.health == .healthy }
            return !above.isEmpty && above.allSatisfy { $0.report.status == nil }
        }
    }
}

extension BackendSnapshot {
    /// Why its evidence leads to its verdict; nil without evidence.
    func explanation(_ policy: EvaluationPolicy, now: MonotonicTime) -> Explanation? {
        self.evidence.map {
            $0.explanation(of: self.verdict, policy: policy, now: now, describingErrors: SystemReason.text)
        }
    }

    /// Whether it only probes, or passes on what another machine states: no backend stands by for it.
    fileprivate var isAdvisor: Bool {
        guard let evidence = self.evidence, self.report.host == nil else { return self.report.host != nil }
        return evidence.probes != nil && evidence.interfaces == nil && evidence.conclusion == nil
    }

    /// Whether it has reported only to say that it knows nothing yet: no target has answered, and some may still do.
    fileprivate var isStillProbing: Bool {
        guard self.report.health == .healthy, let evidence = self.evidence, evidence.interfaces == nil,
            let probes = evidence.probes
        else { return false }
        return !probes.isComplete && !probes.answered
    }
}
