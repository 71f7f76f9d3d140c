// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The paths of a coordinator as an asynchronous sequence.
///
/// The current path comes first, if there is one. Every iterator is independent and sees all paths from its creation
/// on, until the coordinator stops.
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
