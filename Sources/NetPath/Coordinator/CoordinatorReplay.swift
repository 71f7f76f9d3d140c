// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Runs what happened to a coordinator through the same state machine once more.
package struct CoordinatorReplay: Sendable {
    private var machine: CoordinatorStateMachine
    /// Settings in place of the recorded ones; nil to replay what was.
    private let settings: CoordinatorSettings?

    /// Begins where a recording does.
    ///
    /// - Parameters:
    ///   - checkpoint: The state to begin with.
    ///   - settings: Settings in place of the recorded ones: what would have been. Timers then fire when those settings ask
    ///     for it; what the backends did stays as it was.
    package init(from checkpoint: CoordinatorCheckpoint, settings: CoordinatorSettings? = nil) {
        self.machine = checkpoint.machine
        self.settings = settings
        guard let settings else { return }
        // What was known already is judged anew.
        if self.machine.startedAt == nil {
            self.machine.settings = settings
        } else {
            let backends = self.machine.snapshots.map { ($0.report.name, $0.report.mode) }
            let names = Set(backends.map(\.0))
            _ = self.machine.apply(backends: backends, settings: settings, keeping: names, now: checkpoint.time)
        }
    }

    /// The path at this moment; nil before the first.
    package var path: NetworkPath? { self.machine.path }
    /// What every backend said.
    package var snapshots: [BackendSnapshot] { self.machine.snapshots }
    /// What is made of what they say.
    package var currentSettings: CoordinatorSettings { self.machine.settings }

    /// Takes what happened next.
    ///
    /// - Returns: The paths that were published by then, in order.
    package mutating func take(_ input: CoordinatorInput, at time: MonotonicTime) -> [NetworkPath] {
        // A recording may come from anywhere, and a machine starts once.
        if case .start = input, self.machine.startedAt != nil { return [] }
        guard let settings else { return Self.published(self.machine.take(input, now: time)) }
        var paths = self.wake(until: time)
        switch input {
        case .wake: break
        case .apply(let backends, _, let keeping):
            let input = CoordinatorInput.apply(backends: backends, settings: settings, keeping: keeping)
            paths += Self.published(self.machine.take(input, now: time))
        default: paths += Self.published(self.machine.take(input, now: time))
        }
        return paths
    }

    /// Lets the timers fire that are due by a moment.
    private mutating func wake(until time: MonotonicTime) -> [NetworkPath] {
        var paths: [NetworkPath] = []
        // Each wake-up moves the deadline on; the bound is for one that would not.
        for _ in 0..<1_000 {
            guard let due = self.machine.nextDeadline, due <= time else { break }
            paths += Self.published(self.machine.wake(now: due))
        }
        return paths
    }

    private static func published(_ actions: [CoordinatorStateMachine.Action]) -> [NetworkPath] {
        actions.compactMap { if case .publish(let path) = $0 { path.value } else { nil } }
    }
}
