// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The coordinator without input and output: what happens in, what to do out.
///
/// Every input is a mutating method that takes the time and returns the actions to perform, in order. The caller
/// performs them, and wakes the machine at ``nextDeadline``.
struct CoordinatorStateMachine: Sendable {
    /// What the performer has to do.
    enum Action: Hashable, Sendable {
        /// Start a backend; its inputs carry the generation, so that late words of an earlier run are told apart.
        case run(backend: Int, generation: Int)
        /// Ask a backend to read everything again.
        case refresh(backend: Int)
        /// Hand a path to all subscribers.
        case publish(NetworkPath)
    }

    /// No first word within this time is a failure.
    static let firstReportLimit: Duration = .seconds(2)
    /// No answer to a refresh within this time is a failure.
    static let refreshLimit: Duration = .seconds(1)
    /// The first publication waits this long for the highest-priority backend.
    static let firstPublicationLimit: Duration = .milliseconds(200)

    private struct Backend: Sendable {
        enum Phase: Sendable {
            case off
            case running(since: MonotonicTime)
            case waiting(until: MonotonicTime)
        }

        var opinion: BackendOpinion
        var phase: Phase
        var generation = 0
        var attempt = 0
        var refreshSentAt: MonotonicTime?

        var isRunning: Bool { if case .running = self.phase { true } else { false } }

        /// When silence becomes a failure.
        var silenceDeadline: MonotonicTime? {
            guard case .running(let since) = self.phase, self.opinion.report.health != .unhealthy else { return nil }
            if self.opinion.report.health == .starting { return since + firstReportLimit }
            return self.refreshSentAt.map { $0 + refreshLimit }
        }
    }

    private var backends: [Backend]
    private let evaluation: EvaluationPolicy
    private let mergePolicy: MergePolicy
    private var startedAt: MonotonicTime?
    private var sequence: UInt64 = 0
    private(set) var path: NetworkPath?

    init(backends: [(name: String, mode: BackendMode)], evaluation: EvaluationPolicy, merge: MergePolicy) {
        self.backends = backends.map { name, mode in
            let report = BackendReport(
                name: name,
                mode: mode,
                health: mode == .off ? .off : .starting,
                limitations: [],
                restarts: 0,
                resynchronizations: 0
            )
            return Backend(opinion: BackendOpinion(report: report), phase: .off)
        }
        self.evaluation = evaluation
        self.mergePolicy = merge
    }

    /// What every backend said and how it is doing.
    var opinions: [BackendOpinion] { self.backends.map(\.opinion) }

    // MARK: Inputs

    mutating func start(now: MonotonicTime) -> [Action] {
        precondition(self.startedAt == nil, "a coordinator starts once")
        self.startedAt = now
        return self.backends.indices
            .filter { self.backends[$0].opinion.report.mode == .active }
            .map { self.run($0, now: now) }
    }

    mutating func report(
        backend index: Int,
        generation: Int,
        observation: Observation,
        now: MonotonicTime
    ) -> [Action] {
        // A run that ended may still have had a word on its way.
        guard self.backends[index].generation == generation, self.backends[index].isRunning else { return [] }
        let before = self.backends[index].opinion
        self.backends[index].refreshSentAt = nil
        self.backends[index].opinion.observation = observation
        self.backends[index].opinion.report.health = .healthy
        self.backends[index].opinion.report.error = nil
        self.backends[index].opinion.report.limitations = observation.limitations
        self.backends[index].opinion.report.reportedAt = now
        self.backends[index].opinion.report.resynchronizations = observation.resynchronizations
        self.evaluateBackend(index, now: now)

        var actions = self.merged(now: now)
        // A backend that is wedged is found out at the next event, without any tick. Only a change asks: an answer to
        // a refresh that says the same again must not be answered with another refresh.
        if before.observation != observation {
            actions += self.refreshOthers(than: index, now: now)
        }
        return actions
    }

    mutating func ended(
        backend index: Int,
        generation: Int,
        error: String?,
        jitter: Double,
        now: MonotonicTime
    ) -> [Action] {
        guard self.backends[index].generation == generation,
            case .running(let since) = self.backends[index].phase
        else { return [] }
        if now - since >= RestartBackoff.settledAfter { self.backends[index].attempt = 0 }
        let delay = RestartBackoff.delay(attempt: self.backends[index].attempt, jitter: jitter)
        self.backends[index].attempt += 1
        self.backends[index].phase = .waiting(until: now + delay)
        self.fail(index, error ?? "ended although nobody asked it to")
        return self.merged(now: now)
    }

    /// Asks every running backend to read everything again.
    mutating func refresh(now: MonotonicTime) -> [Action] {
        self.refreshOthers(than: nil, now: now)
    }

    /// Does what is due.
    mutating func wake(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for index in self.backends.indices {
            if let deadline = self.backends[index].silenceDeadline, deadline <= now {
                let isStarting = self.backends[index].opinion.report.health == .starting
                self.fail(index, isStarting ? "no first word within 2 s" : "did not answer a refresh within 1 s")
            }
            if case .waiting(let until) = self.backends[index].phase, until <= now {
                self.backends[index].opinion.report.restarts += 1
                actions.append(self.run(index, now: now))
            }
            if let deadline = self.backends[index].opinion.verdict?.reviseAt, deadline <= now {
                self.evaluateBackend(index, now: now)
            }
        }
        return actions + self.merged(now: now)
    }

    /// The earliest moment at which ``wake(now:)`` has something to do; nil when only an event can change anything.
    var nextDeadline: MonotonicTime? {
        var deadlines = self.backends.compactMap(\.silenceDeadline)
        for backend in self.backends {
            if case .waiting(let until) = backend.phase { deadlines.append(until) }
            if let revise = backend.opinion.verdict?.reviseAt { deadlines.append(revise) }
        }
        if let startedAt, self.path == nil, merge(self.opinions, policy: self.mergePolicy) != nil {
            deadlines.append(startedAt + Self.firstPublicationLimit)
        }
        return deadlines.min()
    }

    // MARK: Steps

    private mutating func run(_ index: Int, now: MonotonicTime) -> Action {
        self.backends[index].generation += 1
        self.backends[index].phase = .running(since: now)
        // After a failure the health stays "unhealthy" until the first word: a backend that keeps failing must not
        // look like a change each time it is tried again.
        return .run(backend: index, generation: self.backends[index].generation)
    }

    private mutating func fail(_ index: Int, _ error: String) {
        self.backends[index].refreshSentAt = nil
        self.backends[index].opinion.report.health = .unhealthy
        self.backends[index].opinion.report.error = error
    }

    private mutating func evaluateBackend(_ index: Int, now: MonotonicTime) {
        guard let observation = self.backends[index].opinion.observation else { return }
        let verdict = evaluate(observation, policy: self.evaluation, now: now)
        self.backends[index].opinion.verdict = verdict
        self.backends[index].opinion.report.status = verdict?.status
        self.backends[index].opinion.report.reason = verdict?.reason
    }

    private mutating func refreshOthers(than speaker: Int?, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for index in self.backends.indices where index != speaker && self.backends[index].isRunning {
            if self.backends[index].refreshSentAt == nil { self.backends[index].refreshSentAt = now }
            actions.append(.refresh(backend: index))
        }
        return actions
    }

    private mutating func merged(now: MonotonicTime) -> [Action] {
        guard var merged = self.mergedPath(now: now) else { return [] }
        guard merged != self.path else { return [] }
        self.sequence += 1
        merged.sequence = self.sequence
        merged.publishedAt = now
        self.path = merged
        return [.publish(merged)]
    }

    private func mergedPath(now: MonotonicTime) -> NetworkPath? {
        if let merged = merge(self.opinions, policy: self.mergePolicy) {
            return self.mayPublishFirst(now: now) ? merged : nil
        }
        // Nobody healthy has an opinion: what was known stays, marked stale. A backend that is well and has lost its
        // opinion does not make the last one wrong either.
        guard var last = self.path else { return nil }
        last.isStale = true
        last.backends = self.opinions.map(\.report)
        last.disagreements = []
        return last
    }

    /// Whether the first path may go out: not before the most important backend has spoken, failed or used its time.
    private func mayPublishFirst(now: MonotonicTime) -> Bool {
        guard self.path == nil, let startedAt else { return true }
        let awaited = self.opinions.first { $0.report.health == .starting || $0.report.health == .healthy }
        return awaited?.report.health != .starting || now >= startedAt + Self.firstPublicationLimit
    }
}
