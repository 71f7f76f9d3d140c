// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Notices that nothing moves.
///
/// It compares what has moved at a few instants instead of noting the time of every octet; a stall is so noticed after
/// between once and 1.25 times its limit.
struct StallWatch {
    /// What has moved so far.
    ///
    /// What the kernel has yet to send counts, too: all of a body may be in its buffers while a slow link takes it
    /// minute by minute.
    struct Moved: Hashable {
        var sent: Int64 = 0
        var received: Int64 = 0
        var unsent: Int32 = 0
    }

    private let limit: Duration
    private var moved: Moved?
    private var lastMovement: ContinuousClock.Instant

    /// When to look again.
    private(set) var nextLook: ContinuousClock.Instant

    init(limit: Duration, now: ContinuousClock.Instant) {
        self.limit = max(limit, .milliseconds(1))
        self.lastMovement = now
        self.nextLook = now + self.limit / 4
    }

    /// Looks, and says whether nothing has moved for too long; nil stands for a connection that is not made yet.
    mutating func isStalled(_ moved: Moved?, at now: ContinuousClock.Instant) -> Bool {
        guard now >= self.nextLook else { return false }
        self.nextLook = now + self.limit / 4
        if moved != self.moved || moved == nil {
            self.moved = moved
            self.lastMovement = now
        }
        return now - self.lastMovement >= self.limit
    }
}
