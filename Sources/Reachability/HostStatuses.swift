// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The statuses of a host as an asynchronous sequence: the present one first, then the newest after each change.
///
/// Every iterator is independent, and ends with ``HostReachability/cancel()``. The sequence and its iterators keep the
/// host watched.
public struct HostStatuses: AsyncSequence, Sendable {
    /// The elements are complete.
    public typealias Element = HostStatus
    /// The sequence does not fail.
    public typealias Failure = Never
    /// The iterator is a stream's.
    public typealias AsyncIterator = AsyncStream<HostStatus>.Iterator

    let host: HostReachability

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncStream<HostStatus>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: HostStatus.self, bufferingPolicy: .bufferingNewest(1))
        self.host.subscribe(continuation)
        return stream.makeAsyncIterator()
    }
}
