// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The updates of a monitor as an asynchronous sequence: the current one first, then the newest after each change.
///
/// Every iterator is independent. The sequence keeps the monitor alive, its iterators do not. A loop runs on the actor
/// that it is written on; one on the main actor does not wake an idle process, one on the global pool does, every second.
public struct ConnectivityUpdates: AsyncSequence, Sendable {
    /// The elements are complete.
    public typealias Element = ConnectivityUpdate
    /// The sequence does not fail.
    public typealias Failure = Never

    let monitor: NetworkMonitor

    /// Subscribes, and starts a monitor that was neither started nor stopped yet.
    public func makeAsyncIterator() -> Iterator { Iterator(self.monitor) }

    /// Takes one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription

        init(_ monitor: NetworkMonitor) {
            self.subscription = Subscription(monitor)
        }

        /// Waits for the next update; nil when the monitor is gone, or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ConnectivityUpdate? {
            await self.subscription.updates.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension ConnectivityUpdates.Iterator: Sendable {}

/// The registration of one iterator and its copies.
private final class Subscription: Sendable {
    let updates = ValueBuffer<ConnectivityUpdate>()
    private let id: UInt64
    private weak let monitor: NetworkMonitor?

    init(_ monitor: NetworkMonitor) {
        self.monitor = monitor
        self.id = monitor.add(self.updates)
    }

    deinit {
        self.monitor?.remove(self.id)
    }
}
