// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What happens to a coordinator: everything that its paths depend on, besides the time.
///
/// Backends are named by the numbers that ``CoordinatorStateMachine`` gives them, their runs by generation.
package enum CoordinatorInput: Sendable, Codable {
    case start(once: Bool)
    case report(backend: Int, generation: Int, evidence: Evidence)
    case unavailable(backend: Int, generation: Int, error: String)
    /// A backend reports by itself, and answers no refresh.
    case takesNoRefreshRequests(backend: Int, generation: Int)
    /// Subscribers are called on a backend's thread, within a call of its own.
    case held(backend: Int, generation: Int)
    /// The subscribers that were called on a backend's thread have returned.
    case released(backend: Int, generation: Int)
    /// A run has ended; the number in 0..<1 spreads out the restarts.
    case ended(backend: Int, generation: Int, error: String?, jitter: Double)
    case refresh
    case wake
    case apply(backends: [ConfiguredBackend], settings: CoordinatorSettings, keeping: Set<String>)

    /// A backend as a configuration names it.
    package struct ConfiguredBackend: Hashable, Sendable, Codable {
        package var name: String
        package var mode: BackendMode
    }
}

extension CoordinatorStateMachine {
    /// Takes an input of any kind.
    mutating func take(_ input: CoordinatorInput, now: MonotonicTime) -> [Action] {
        switch input {
        case .start(let once): return self.start(once: once, now: now)
        case .report(let id, let generation, let evidence):
            return self.report(backend: id, generation: generation, evidence: evidence, now: now)
        case .unavailable(let id, let generation, let error):
            return self.unavailable(backend: id, generation: generation, error: error, now: now)
        case .takesNoRefreshRequests(let id, let generation):
            self.supervise(id) { $0.takesNoRefreshRequests(generation: generation) }
        case .held(let id, let generation): self.supervise(id) { $0.held(generation: generation) }
        case .released(let id, let generation):
            self.supervise(id) { $0.released(generation: generation, now: now) }
        case .ended(let id, let generation, let error, let jitter):
            return self.ended(backend: id, generation: generation, error: error, jitter: jitter, now: now)
        case .refresh: return self.refresh(now: now)
        case .wake: return self.wake(now: now)
        case .apply(let backends, let settings, let keeping):
            return self.apply(
                backends: backends.map { ($0.name, $0.mode) },
                settings: settings,
                keeping: keeping,
                now: now
            )
        }
        return []
    }

    private mutating func supervise(_ id: Int, _ change: (inout Supervision) -> Void) {
        if let index = self.position(of: id) { change(&self.members[index].supervision) }
    }
}
