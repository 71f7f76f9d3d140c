// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import Synchronization

/// Why to look, and who waits for that.
///
/// Causes that come meanwhile merge. Thread-safe.
public final class PollSignal: Sendable {
    private struct State: Sendable {
        var causes: PollCause = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Creates a signal without a cause.
    public init() {}

    /// Gives a cause.
    public func send(_ cause: PollCause) {
        self.state.withLock { state in
            state.causes.insert(cause)
            return state.waiter.take()
        }?.resume()
    }

    /// Takes what came since the last call.
    public func take() -> PollCause {
        self.state.withLock { state in
            defer { state.causes = [] }
            return state.causes
        }
    }

    /// Suspends until there is a cause, a moment has come, or the task is cancelled; for one task at a time.
    public func wait(until deadline: MonotonicTime, _ clock: any MonotonicClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await clock.sleep(until: deadline) }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A cancellation is either seen here or finds the waiter.
                let isOver = self.state.withLock { state in
                    if !state.causes.isEmpty || Task.isCancelled { return true }
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
