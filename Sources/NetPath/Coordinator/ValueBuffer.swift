// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Values on the way to one asynchronous consumer, who takes them on the actor it runs on.
///
/// `AsyncStream` waits on the global pool, whichever actor asks: its `next(isolation:)` calls a function without an
/// isolation. Once that pool was used, libdispatch wakes the process every second. A loop over this sleeps.
package final class ValueBuffer<Element: Sendable>: Sendable {
    /// What is kept for a consumer that is too slow.
    package typealias Policy = AsyncStream<Element>.Continuation.BufferingPolicy

    private struct State: Sendable {
        /// What was sent last, and before that what is taken next, from the end.
        var newer: [Element] = []
        var older: [Element] = []
        var isFinished = false
        var consumer: CheckedContinuation<Element?, Never>?

        var count: Int { self.newer.count + self.older.count }

        mutating func take() -> Element? {
            if self.older.isEmpty {
                self.older = self.newer.reversed()
                self.newer = []
            }
            return self.older.popLast()
        }
    }

    private let policy: Policy
    private let state = Mutex(State())

    /// Makes a buffer.
    ///
    /// - Parameter policy: What is kept for a consumer that is too slow: the newest value, unless named.
    package init(_ policy: Policy = .bufferingNewest(1)) {
        self.policy = policy
    }

    /// Hands over a value; nothing after the end.
    package func send(_ value: Element) {
        let consumer: CheckedContinuation<Element?, Never>? = self.state.withLock { state in
            guard !state.isFinished else { return nil }
            if let consumer = state.consumer.take() { return consumer }
            switch self.policy {
            case .bufferingNewest(let limit) where state.count >= limit:
                _ = state.take()
                state.newer.append(value)
            case .bufferingOldest(let limit) where state.count >= limit: break
            default: state.newer.append(value)
            }
            return nil
        }
        consumer?.resume(returning: value)
    }

    /// Ends the sequence; the consumer still takes what is kept.
    package func finish() {
        let consumer = self.state.withLock { state in
            state.isFinished = true
            return state.consumer.take()
        }
        consumer?.resume(returning: nil)
    }

    /// Ends the sequence, and drops what is kept.
    package func cancel() {
        self.state.withLock { state in
            state.newer = []
            state.older = []
        }
        self.finish()
    }

    /// Waits for the next value; nil at the end, and once the task was cancelled.
    package func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
        await withTaskCancellationHandler {
            // A closure is isolated to the actor only when it captures it.
            _ = actor
            return await withCheckedContinuation { continuation in
                let answer: Element?? = self.state.withLock { state in
                    if let value = state.take() { return value }
                    if state.isFinished { return .some(nil) }
                    precondition(state.consumer == nil, "one iterator was used by two tasks at once")
                    state.consumer = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            self.cancel()
        }
    }
}
