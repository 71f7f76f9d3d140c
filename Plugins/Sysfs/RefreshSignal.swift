// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// A request that somebody waits for; requests that come meanwhile merge into one.
final class RefreshSignal: Sendable {
    private struct State: Sendable {
        var isPending = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Asks.
    func send() {
        self.state.withLock { state in
            state.isPending = true
            return state.waiter.take()
        }?.resume()
    }

    /// Takes the request; false when there is none.
    func take() -> Bool {
        self.state.withLock { state in
            defer { state.isPending = false }
            return state.isPending
        }
    }

    /// Suspends until somebody has asked, or the task is cancelled; for one task at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A cancellation is either seen here or finds the waiter.
                let isOver = self.state.withLock { state in
                    if state.isPending || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
