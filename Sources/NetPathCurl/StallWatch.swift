// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Notices that nothing moves, or next to nothing.
///
/// It compares what has moved at a few instants instead of noting the time of every byte; a stall is so noticed after
/// between once and 1.25 times its limit.
struct StallWatch {
    /// What has moved so far.
    ///
    /// What the kernel has yet to send has not: all of a body may be in its buffers while a slow link takes it minute by
    /// minute.
    struct Moved: Hashable {
        var sent: Int64 = 0
        /// What of that is the body.
        var uploaded: Int64 = 0
        var received: Int64 = 0
        var unsent: Int32 = 0

        fileprivate var bytes: Int64 { self.sent + self.received - Int64(self.unsent) }
    }

    /// How many looks there are in the time of the limit.
    private static let looks = 4

    private let limit: Duration
    /// How much must move in that time.
    private let least: Int64
    /// What had moved at the last looks, the oldest first.
    private var seen: [Int64] = []

    private(set) var nextLook: ContinuousClock.Instant

    init(limit: Duration, rate: Int, now: ContinuousClock.Instant) {
        self.limit = max(limit, .milliseconds(1))
        self.least = max(1, Int64(min(Double(rate) * (self.limit / .seconds(1)), 1e15)))
        self.nextLook = now + self.limit / Self.looks
    }

    /// Looks, and says whether too little has moved for too long; nil stands for a time in which nothing need move: there
    /// is no connection yet, or the server works at its answer.
    mutating func isStalled(_ moved: Moved?, at now: ContinuousClock.Instant) -> Bool {
        guard now >= self.nextLook else { return false }
        self.nextLook = now + self.limit / Self.looks
        guard let moved else {
            self.seen = []
            return false
        }
        self.seen.append(moved.bytes)
        guard self.seen.count > Self.looks else { return false }
        return moved.bytes - self.seen.removeFirst() < self.least
    }
}
