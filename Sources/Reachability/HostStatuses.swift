// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The statuses of a host as an asynchronous sequence: the present one first, then the newest after each change.
///
/// The first one of a name may say that it is being looked up (``HostStatus/isPending``), and another one follows.
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

    static func makeStream() -> (AsyncStream<HostStatus>, AsyncStream<HostStatus>.Continuation) {
        AsyncStream.makeStream(of: HostStatus.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncStream<HostStatus>.Iterator {
        let (stream, continuation) = Self.makeStream()
        self.host.subscribe(continuation)
        return stream.makeAsyncIterator()
    }
}
