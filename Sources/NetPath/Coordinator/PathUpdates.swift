// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The paths of a coordinator as an asynchronous sequence.
///
/// The current path comes first, if there is one. Every iterator is independent and sees all paths from its creation
/// on, as far as the buffer holds them, until the coordinator stops.
public struct PathUpdates: AsyncSequence, Sendable {
    /// The elements are complete snapshots.
    public typealias Element = NetworkPath
    /// The sequence does not fail.
    public typealias Failure = Never

    let coordinator: PathCoordinator
    let buffering: AsyncStream<NetworkPath>.Continuation.BufferingPolicy

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Takes one path after the other, on the actor that asks.
    public struct Iterator: AsyncIteratorProtocol {
        private let paths: SubscribedPaths

        init(_ updates: PathUpdates) {
            self.paths = SubscribedPaths(updates)
        }

        /// Waits for the next path; nil when the coordinator has stopped, or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> NetworkPath? {
            await self.paths.buffer.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension PathUpdates.Iterator: Sendable {}

/// The subscription of one iterator and its copies.
private final class SubscribedPaths: Sendable {
    let buffer: ValueBuffer<NetworkPath>
    private let subscription: PathSubscription

    init(_ updates: PathUpdates) {
        let buffer = ValueBuffer<NetworkPath>(updates.buffering)
        self.buffer = buffer
        self.subscription = updates.coordinator.subscribe({ buffer.send($0) }, onStop: { buffer.finish() })
    }

    deinit {
        self.subscription.cancel()
    }
}

/// The paths of a coordinator, each with the one before, as an asynchronous sequence.
///
/// The path before is the one of the element before, also where the consumer was too slow for paths in between: what
/// differs adds up.
public struct PathChanges: AsyncSequence, Sendable {
    /// The elements begin with the current path, before which there was none.
    public typealias Element = PathChange
    /// The sequence does not fail.
    public typealias Failure = Never

    let paths: PathUpdates

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(paths: self.paths.makeAsyncIterator()) }

    /// Takes one change after the other.
    public struct Iterator: AsyncIteratorProtocol {
        var paths: PathUpdates.Iterator
        private var latest: NetworkPath?

        init(paths: PathUpdates.Iterator) {
            self.paths = paths
        }

        /// Waits for the next change; nil when the coordinator has stopped, or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> PathChange? {
            guard let path = await self.paths.next(isolation: actor) else { return nil }
            defer { self.latest = path }
            return PathChange(from: self.latest, to: path)
        }
    }
}

@available(*, unavailable)
extension PathChanges.Iterator: Sendable {}
