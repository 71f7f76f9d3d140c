// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import Synchronization

/// Tasks that sleep until a moment, for executors that wake them from a thread of their own.
package final class Sleepers: Sendable {
    private struct Sleeper: Sendable {
        let deadline: MonotonicTime
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        /// The latest first, so that the next one is taken from the end.
        var sleepers: [Sleeper] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Makes an empty queue.
    package init() {}

    /// When the next task is to be woken; nil when none sleeps.
    package var nextDeadline: MonotonicTime? { self.state.withLock { $0.sleepers.last?.deadline } }

    /// Suspends until the owner of this wakes the tasks that are due.
    ///
    /// - Parameters:
    ///   - deadline: When to wake up.
    ///   - fellAsleep: Called when the deadline counts, on the thread of the task and without a lock.
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(until deadline: MonotonicTime, fellAsleep: @Sendable () -> Void) async throws {
        // Numbered before it sleeps: a cancellation needs to name it by then.
        let number = self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A cancellation that came before this finds no sleeper to wake.
                let isCancelled = self.state.withLock { state in
                    // Asked once, under the lock that the cancellation takes too.
                    let isCancelled = Task.isCancelled
                    if !isCancelled {
                        let sleeper = Sleeper(deadline: deadline, number: number, continuation: continuation)
                        let next = state.sleepers.firstIndex { ($0.deadline, $0.number) < (deadline, number) }
                        state.sleepers.insert(sleeper, at: next ?? state.sleepers.endIndex)
                    }
                    return isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { fellAsleep() }
            }
        } onCancel: {
            let sleeper = self.state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Wakes those that are due, in the order of their deadlines, and those of one moment as they asked to sleep.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    package func wakeDue(at now: MonotonicTime) -> Bool {
        let due = self.state.withLock { state in
            var due: [Sleeper] = []
            while let next = state.sleepers.last, next.deadline <= now { due.append(state.sleepers.removeLast()) }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
        return !due.isEmpty
    }
}
