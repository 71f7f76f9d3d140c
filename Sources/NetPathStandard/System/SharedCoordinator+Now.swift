// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
package import NetPath
import Synchronization

extension SharedCoordinator {
    /// Returns the current path; without a listener it listens until there is one.
    ///
    /// Blocks the calling thread for a few milliseconds, at most for the limit.
    ///
    /// - Returns: The path; nil when no backend had a verdict in time.
    package func now(within limit: Duration) -> NetworkPath? {
        if let latest { return latest.path }
        let listener = OneTimeListener()
        self.update(listener)
        let path = listener.wait(limit)
        self.update(listener)
        return path
    }
}

/// Wants the first path there is.
private final class OneTimeListener: SharedPathListener {
    private struct State: Sendable {
        var isWaiting = true
        var snapshot: PathSnapshot?
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    var wantsPaths: Bool { self.state.withLock { $0.isWaiting } }

    func receive(_ snapshot: PathSnapshot) {
        self.state.withLock { $0.snapshot = $0.snapshot ?? snapshot }
        self.arrival.signal()
    }

    func wait(_ limit: Duration) -> NetworkPath? {
        _ = self.arrival.wait(timeout: .now() + .nanoseconds(Int(limit.inNanoseconds)))
        return self.state.withLock { state in
            state.isWaiting = false
            return state.snapshot?.path
        }
    }
}
