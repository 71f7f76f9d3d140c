// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// Performs the actions of a state machine on paper, and checks with every step that they are legal.
struct CoordinatorHarness {
    static let origin = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private(set) var machine: CoordinatorStateMachine
    private(set) var now = Self.origin
    private(set) var published: [NetworkPath] = []
    private(set) var refreshed: [Int] = []
    private(set) var generations: [Int]
    private(set) var running: Set<Int> = []
    private(set) var warnings: [String] = []
    private(set) var cancelled: [Int] = []
    /// The generation of the last run of each backend that was cancelled.
    private(set) var cancelledRuns: [Int: Int] = [:]

    init(_ modes: BackendMode..., merge: MergePolicy = .priority, evaluation: EvaluationPolicy = EvaluationPolicy()) {
        self.init(modes: modes, settings: CoordinatorSettings(evaluation: evaluation, merge: merge))
    }

    init(modes: [BackendMode], settings: CoordinatorSettings) {
        let backends = modes.enumerated().map { (name: "b\($0)", mode: $1) }
        self.machine = CoordinatorStateMachine(backends: backends, settings: settings)
        self.generations = modes.map { _ in 0 }
    }

    var path: NetworkPath? { self.published.last }
    var health: [BackendHealth] { self.machine.snapshots.map(\.report.health) }
    var elapsed: Duration { self.now - Self.origin }

    mutating func start(once: Bool = false) { self.perform(self.machine.start(once: once, now: self.now)) }

    mutating func report(_ backend: Int, _ evidence: Evidence, generation: Int? = nil) {
        let generation = generation ?? self.generations[backend]
        self.perform(
            self.machine.report(backend: backend, generation: generation, evidence: evidence, now: self.now)
        )
    }

    mutating func reportUnavailable(_ backend: Int, _ error: String, generation: Int? = nil) {
        let generation = generation ?? self.generations[backend]
        self.perform(
            self.machine.unavailable(backend: backend, generation: generation, error: error, now: self.now)
        )
    }

    mutating func takesNoRefreshRequests(_ backend: Int) {
        let input = CoordinatorInput.takesNoRefreshRequests(backend: backend, generation: self.generations[backend])
        _ = self.machine.take(input, now: self.now)
    }

    mutating func end(_ backend: Int, _ error: String? = "broke", generation: Int? = nil, jitter: Double = 0) {
        let generation = generation ?? self.generations[backend]
        if generation == self.generations[backend] { self.running.remove(backend) }
        self.perform(
            self.machine.ended(backend: backend, generation: generation, error: error, jitter: jitter, now: self.now)
        )
    }

    /// Configures anew and returns the numbers of the backends.
    @discardableResult
    mutating func apply(
        _ backends: [(name: String, mode: BackendMode)],
        settings: CoordinatorSettings = CoordinatorSettings(),
        keeping: Set<String> = []
    ) -> [Int] {
        // The numbers of new backends go on where those of the old ones ended.
        self.generations += backends.map { _ in 0 }
        self.perform(self.machine.apply(backends: backends, settings: settings, keeping: keeping, now: self.now))
        return self.machine.members.map(\.id)
    }

    mutating func refresh() { self.perform(self.machine.refresh(now: self.now)) }

    /// A subscriber is called on the backend's thread, and does not return.
    mutating func hold(_ backend: Int) {
        let input = CoordinatorInput.held(backend: backend, generation: self.generations[backend])
        _ = self.machine.take(input, now: self.now)
    }

    /// The subscriber returns.
    mutating func release(_ backend: Int, generation: Int? = nil) {
        let generation = generation ?? self.generations[backend]
        _ = self.machine.take(.released(backend: backend, generation: generation), now: self.now)
    }

    /// Lets time pass while the process does not run.
    mutating func sleep(for duration: Duration) { self.now = self.now + duration }

    /// Lets time pass, waking the machine whenever it asked for it.
    mutating func advance(by duration: Duration) {
        let end = self.now + duration
        while let deadline = self.machine.nextDeadline, deadline <= end {
            self.now = max(self.now, deadline)
            self.wake()
        }
        self.now = end
    }

    mutating func wake() {
        self.perform(self.machine.wake(now: self.now))
        if let next = self.machine.nextDeadline { #expect(next > self.now, "a busy loop") }
    }

    private mutating func perform(_ actions: [CoordinatorStateMachine.Action]) {
        for action in actions {
            switch action {
            case .run(let backend, let generation):
                #expect(self.running.insert(backend).inserted, "one run at a time")
                #expect(generation > self.generations[backend])
                self.generations[backend] = generation
            case .refresh(let backend):
                #expect(self.running.contains(backend), "nobody to ask")
                self.refreshed.append(backend)
            case .cancel(let backend):
                #expect(self.running.contains(backend), "nobody to cancel")
                self.cancelled.append(backend)
                self.cancelledRuns[backend] = self.generations[backend]
            case .warn(_, let message): self.warnings.append(message)
            case .publish(let published):
                let path = published.value
                #expect(path != self.path, "equal paths are never republished")
                #expect(path.sequence > self.path?.sequence ?? 0)
                #expect(path.publishedAt == self.now)
                self.published.append(path)
            }
        }
        #expect(self.machine.path == self.path)
        self.checkPath()
    }

    /// The current path is what the verdicts mean, or the last one, marked.
    private func checkPath() {
        guard let path, !path.isStale, self.machine.settings.damping == Damping() else { return }
        let settings = self.machine.settings
        let words = self.machine.standings
        let strongest = words.firstIndex(where: \.isStrong)
        let merged = NetworkPath.merging(
            words.map(\.snapshot),
            policy: settings.merge,
            probes: settings.probes,
            strongest: strongest
        )
        // A partial no may be backed by evidence about the path's own interfaces, which merging alone does not know.
        let isPartial = words.contains { $0.snapshot.verdict?.isPartialNo == true }
        #expect(path == merged || isPartial)
    }
}
