// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NWPathMonitor: AsyncSequence {
    /// The elements are paths.
    public typealias Element = NWPath
    /// The sequence does not fail.
    public typealias Failure = Never
    /// The iterator.
    public typealias AsyncIterator = NWPathMonitor.Iterator

    /// Goes through the paths from now on: the current one first, then the newest whenever it changes.
    ///
    /// Ends when the monitor or the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        /// The elements are paths.
        public typealias Element = NWPathMonitor.Element
        /// The sequence does not fail.
        public typealias Failure = Never

        private let iteration: PathIteration

        init(_ monitor: NWPathMonitor) {
            self.iteration = PathIteration(monitor)
        }

        /// Waits for the next path; nil at the end.
        public mutating func next() async -> NWPathMonitor.Element? {
            await self.iteration.inbox.next()
        }
    }

    /// Starts an iteration, and the monitor with it if nothing else did.
    ///
    /// Every iterator is independent. A monitor that only iterations started rests when the last of them is gone.
    public __consuming func makeAsyncIterator() -> NWPathMonitor.Iterator {
        NWPathMonitor.Iterator(self)
    }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}

/// The life of one iterator and its copies.
private final class PathIteration: Sendable {
    let inbox = PathInbox()
    private let monitor: NWPathMonitor
    private let number: UInt64?

    init(_ monitor: NWPathMonitor) {
        self.monitor = monitor
        self.number = monitor.add(self.inbox)
    }

    deinit {
        if let number { self.monitor.remove(iteration: number) }
    }
}
