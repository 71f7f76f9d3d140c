// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

/// What the backends say when they are asked once.
struct Inquiry: Sendable {
    let opinions: [BackendOpinion]
    let snapshot: PathSnapshot
    /// What the verdicts depended on besides the evidence.
    var evaluation = EvaluationPolicy()

    /// Asks the backends of a configuration.
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
    ) throws(SystemError) -> Inquiry {
        let loop = try EventLoop()
        // What the backends complain about is part of the answer; only what is worse needs a message of its own.
        let log = ToolContext.current.log(from: LogThreshold(.error))
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log)
        var inquiry = Self.ask(coordinator, on: loop, limit: limit, asWatching: asWatching)
        inquiry.evaluation = configuration.evaluation
        return inquiry
    }

    /// Starts the backends, waits for the first word of each, and stops them.
    ///
    /// A backend that failed has spoken too; one that probes has when its first round has ended.
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
    ) -> Inquiry {
        let subscription = coordinator.subscribeOpinions { _ in loop.wakeUp.wake(.output) }
        defer {
            subscription.cancel()
            coordinator.stop()
        }
        let deadline = loop.now() + limit
        coordinator.start(once: !asWatching)
        while !Self.isSettled(coordinator.opinions), loop.now() < deadline {
            _ = loop.turn(limit: deadline - loop.now())
        }

        let opinions = coordinator.opinions.map { opinion in
            var opinion = opinion
            let limit = DurationText.format(limit)
            if opinion.report.isSilent {
                opinion.report.error = "said nothing within \(limit)"
            } else if opinion.isStillProbing {
                opinion.report.limitations.append("an answer to its probes, which did not end within \(limit)")
            }
            return opinion
        }
        let snapshot = PathSnapshot(path: coordinator.path, backends: opinions.map(\.report), takenAt: .now())
        return Inquiry(opinions: opinions, snapshot: snapshot)
    }

    private static func isSettled(_ opinions: [BackendOpinion]) -> Bool {
        !opinions.contains { $0.report.isSilent || $0.isStillProbing }
    }

    /// Says on standard error which backends had the time to speak and did not.
    func noteSilence() {
        for opinion in self.opinions {
            let report = opinion.report
            if report.isSilent {
                ToolContext.current.note("netpath: \(report.name.safe) \(report.error?.safe ?? "is silent")")
            } else if opinion.isStillProbing, let limitation = report.limitations.last {
                ToolContext.current.note("netpath: \(report.name.safe) is done without \(limitation)")
            }
        }
    }

    /// The opinion that the path is built on; without a path, the first one with evidence.
    var decisive: BackendOpinion? {
        let evident = self.opinions.filter { $0.observation != nil }
        guard let path = self.snapshot.path else { return evident.first }
        let agreeing = evident.filter { $0.verdict?.status == path.status && $0.verdict?.reason == path.reason }
        return agreeing.first { $0.report.health == .healthy } ?? agreeing.first ?? evident.first
    }

    /// Why the path is what it is.
    var explained: ExplainedPath {
        let opinion = self.decisive
        var explanation = opinion?.observation.map { observation in
            explain(
                observation,
                verdict: opinion?.verdict,
                policy: self.evaluation,
                now: self.snapshot.takenAt.monotonic,
                describingErrors: SystemError.message(of:)
            )
        }
        // Probes that decide nothing tell what the others cannot see.
        explanation?.evidence += self.opinions.filter {
            $0.report.health == .healthy && $0.report.name != opinion?.report.name
        }.flatMap { advisor in
            (advisor.observation?.probes?.outcomes ?? []).map {
                "\($0.fact(describingErrors: SystemError.message(of:))) (\(advisor.report.name))"
            }
        }
        return ExplainedPath(snapshot: self.snapshot, backend: opinion?.report.name, explanation: explanation)
    }

    /// The backends there are, and how they are doing.
    func inventory(of configuration: LoadedConfiguration, registry: BackendRegistry) -> BackendInventory {
        BackendInventory(
            origin: configuration.origin,
            types: registry.all.map { ($0.type, $0.summary) },
            entries: self.snapshot.backends.map { report in
                let type = configuration.backends.first { $0.name == report.name }?.type
                return BackendInventory.Entry(type: type ?? report.name, report: report)
            },
            takenAt: self.snapshot.takenAt
        )
    }
}

extension BackendOpinion {
    /// Whether it has spoken only to say that it knows nothing yet: no target has answered, and some may still do.
    fileprivate var isStillProbing: Bool {
        guard self.report.health == .healthy, let observation = self.observation, observation.interfaces == nil,
            let probes = observation.probes
        else { return false }
        return !probes.isComplete && !probes.answered
    }
}
