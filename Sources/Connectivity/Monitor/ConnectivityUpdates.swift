// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The updates of a monitor as an asynchronous sequence: the current one first, then the newest after each change.
///
/// Every iterator is independent. The sequence keeps the monitor alive, its iterators do not.
public struct ConnectivityUpdates: AsyncSequence, Sendable {
    /// The elements are complete.
    public typealias Element = ConnectivityUpdate
    /// The sequence does not fail.
    public typealias Failure = Never
    /// The iterator is a stream's.
    public typealias AsyncIterator = AsyncStream<ConnectivityUpdate>.Iterator

    let monitor: NetworkMonitor

    static func makeStream() -> (AsyncStream<ConnectivityUpdate>, AsyncStream<ConnectivityUpdate>.Continuation) {
        AsyncStream.makeStream(of: ConnectivityUpdate.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Subscribes, and starts a monitor that was neither started nor stopped yet.
    public func makeAsyncIterator() -> AsyncStream<ConnectivityUpdate>.Iterator {
        let (stream, continuation) = Self.makeStream()
        let id = self.monitor.add(continuation)
        continuation.onTermination = { [weak monitor = self.monitor] _ in monitor?.remove(id) }
        return stream.makeAsyncIterator()
    }
}
