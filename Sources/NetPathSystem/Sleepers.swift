// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import Synchronization

/// Tasks that sleep until a moment, for executors that wake them from a thread of their own.
package final class Sleepers: Sendable {
    private let queue = Mutex(TimerQueue<CheckedContinuation<Void, any Error>>())

    /// Makes an empty queue.
    package init() {}

    /// When the next task is to be woken; nil when none sleeps.
    package var nextDeadline: MonotonicTime? { self.queue.withLock { $0.nextDeadline } }

    /// Suspends until the owner of this wakes the tasks that are due.
    ///
    /// - Parameters:
    ///   - deadline: When to wake up.
    ///   - fellAsleep: Called when the deadline counts, on the thread of the task and without a lock.
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(until deadline: MonotonicTime, fellAsleep: @Sendable () -> Void) async throws {
        let token = self.queue.withLock { $0.token(for: deadline) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A cancellation that came before this finds no sleeper to wake.
                let isCancelled = self.queue.withLock { queue in
                    // Asked once, under the lock that the cancellation takes too.
                    let isCancelled = Task.isCancelled
                    if !isCancelled { queue.insert(continuation, for: token) }
                    return isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { fellAsleep() }
            }
        } onCancel: {
            let continuation = self.queue.withLock { $0.remove(token) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Wakes those that are due, in the order of their deadlines.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    package func wakeDue(at now: MonotonicTime) -> Bool {
        let due = self.queue.withLock { $0.removeDue(at: now) }
        for continuation in due { continuation.resume() }
        return !due.isEmpty
    }
}
