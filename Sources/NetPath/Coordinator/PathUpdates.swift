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
    /// The iterator is a stream's.
    public typealias AsyncIterator = AsyncStream<NetworkPath>.Iterator

    let coordinator: PathCoordinator
    let buffering: AsyncStream<NetworkPath>.Continuation.BufferingPolicy

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncStream<NetworkPath>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkPath.self, bufferingPolicy: self.buffering)
        let subscription = self.coordinator.subscribe(
            { continuation.yield($0) },
            onStop: { continuation.finish() }
        )
        continuation.onTermination = { _ in subscription.cancel() }
        return stream.makeAsyncIterator()
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
        var paths: AsyncStream<NetworkPath>.Iterator
        var latest: NetworkPath?

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
