// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// State behind a lock that tests can wait on, so that they never sleep and hope.
package final class AwaitableState<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Contents: Sendable {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var lastID: UInt64 = 0
    }

    private let contents: Mutex<Contents>

    package init(_ value: Value) {
        self.contents = Mutex(Contents(value: value))
    }

    package var value: Value { self.contents.withLock { $0.value } }

    /// Changes the state and resumes those whose condition now holds, outside the lock.
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, due) = self.contents.withLock { contents in
            let result = change(&contents.value)
            let due = contents.waiters.filter { $0.value.condition(contents.value) }
            for id in due.keys { contents.waiters[id] = nil }
            return (result, due.values.map(\.continuation))
        }
        for continuation in due { continuation.resume() }
        return result
    }

    /// Suspends until a condition holds.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws {
        let id = self.contents.withLock { contents in
            contents.lastID += 1
            return contents.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Asked under the lock that the cancellation handler takes too: a cancellation is either seen here or
                // finds the waiter.
                let outcome: Result<Void, any Error>? = self.contents.withLock { contents in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if condition(contents.value) { return .success(()) }
                    contents.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = self.contents.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
