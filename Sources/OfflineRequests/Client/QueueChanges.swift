// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathStandard

/// The events of a queue as an asynchronous sequence, from the moment of its iterator on.
///
/// Every iterator is independent. One that is slower than the queue loses the oldest events once 4,096 are waiting.
/// The sequence keeps the queue alive, its iterators do not; they end when the queue is closed.
public struct QueueChanges: AsyncSequence, Sendable {
    /// The elements are events.
    public typealias Element = QueueEvent
    /// The sequence does not fail.
    public typealias Failure = Never
    /// The iterator is a stream's.
    public typealias AsyncIterator = AsyncStream<QueueEvent>.Iterator

    let queue: OfflineRequestQueue

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncStream<QueueEvent>.Iterator {
        self.queue.core.observers.stream().makeAsyncIterator()
    }
}

/// An observer's registration with a queue.
///
/// Dropping it does not end the registration; ``cancel()`` does, and the end of the queue. Thread-safe.
public final class QueueObservation: Sendable {
    private let task: Task<Void, Never>

    init(
        _ events: AsyncStream<QueueEvent>,
        on executor: BackgroundExecutor,
        _ body: @escaping @Sendable (QueueEvent) -> Void
    ) {
        self.task = Task(executorPreference: executor) {
            for await event in events where !Task.isCancelled { body(event) }
        }
    }

    /// Ends the registration; a call that is under way finishes.
    public func cancel() {
        self.task.cancel()
    }
}
