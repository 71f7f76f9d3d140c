// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

extension AsyncStream where Element: Sendable {
    /// Takes elements until one is as it should be.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most; nil for no limit.
    ///   - continuation: What the stream is fed with.
    ///   - clock: What the time is measured with.
    ///   - executor: Where the timer runs.
    ///   - condition: Whether it is the element.
    /// - Returns: The element.
    /// - Throws: ``WaitError``, or `CancellationError` when the task is cancelled.
    package func first(
        within timeout: Duration?,
        endedBy continuation: Continuation,
        clock: any MonotonicClock,
        executor: (any TaskExecutor)?,
        where condition: (Element) -> Bool
    ) async throws -> Element {
        try Task.checkCancellation()
        let isOver = Flag()
        let timer = timeout.map { timeout in
            let deadline = clock.now() + timeout
            return Task(executorPreference: executor) {
                do { try await clock.sleep(until: deadline) } catch { return }
                isOver.isSet.store(true, ordering: .relaxed)
                continuation.finish()
            }
        }
        defer { timer?.cancel() }
        for await element in self where condition(element) {
            // What is buffered comes before the end of a task that was cancelled.
            try Task.checkCancellation()
            return element
        }
        try Task.checkCancellation()
        if let timeout, isOver.isSet.load(ordering: .relaxed) { throw WaitError.timedOut(after: timeout) }
        throw WaitError.stopped
    }
}

/// Whether the time of a wait is over.
private final class Flag: Sendable {
    let isSet = Atomic(false)
}
