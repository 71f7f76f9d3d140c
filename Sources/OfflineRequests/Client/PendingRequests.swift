// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How many requests are read at once.
let pageSize = 256

/// Requests of a queue and where they stand, in the order in which they were enqueued.
///
/// It keeps the queue alive, and nothing in memory: iterating reads a page at a time, and sees what changes meanwhile;
/// the counts take microseconds, however many there are. A file that cannot be read looks empty here;
/// ``OfflineRequestQueue/record(id:)`` says why.
public struct PendingRequests: Sequence, Sendable {
    static let pending: Set<RequestState> = [.ready, .blocked, .backoff, .running, .held]

    private let queue: OfflineRequestQueue?
    private let states: Set<RequestState>

    init(queue: OfflineRequestQueue?, states: Set<RequestState>) {
        self.queue = queue
        self.states = states
    }

    /// How many there are.
    public var count: Int {
        guard let counts = self.queue?.core.counts else { return 0 }
        return self.states.reduce(0) { $0 + counts[$1] }
    }

    /// Whether there are none.
    public var isEmpty: Bool { self.count == 0 }

    /// The one that was enqueued first; nil when there are none.
    public var first: RequestRecord? { self.queue?.core.page(of: self.states, after: 0, limit: 1).first }

    /// Not known without looking.
    public var underestimatedCount: Int { 0 }

    /// Begins to read.
    public func makeIterator() -> Iterator { Iterator(queue: self.queue, states: self.states) }

    /// Reads requests, a page at a time.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate let queue: OfflineRequestQueue?
        fileprivate let states: Set<RequestState>
        private var page: ArraySlice<RequestRecord> = []
        private var last: Int64 = 0

        fileprivate init(queue: OfflineRequestQueue?, states: Set<RequestState>) {
            (self.queue, self.states) = (queue, states)
        }

        /// The next request; nil after the last one.
        public mutating func next() -> RequestRecord? {
            if self.page.isEmpty {
                self.page = self.queue?.core.page(of: self.states, after: self.last, limit: pageSize)[...] ?? []
            }
            self.last = self.page.first?.sequence ?? self.last
            return self.page.popFirst()
        }
    }
}
