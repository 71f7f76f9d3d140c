// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How many attempts may be made: never more than the limit in any 60 s, whatever happens.
///
/// A bucket with room for half the limit, filled with the other half per minute: bursts are answered at once, and
/// after one there is something left for the next change without waiting for a whole minute.
struct AttemptBudget: Sendable {
    private let capacity: Double
    private let perSecond: Double
    private var tokens: Double
    private var countedAt: MonotonicTime

    /// Creates a full budget; a limit below 2 counts as 2.
    init(perMinute limit: Int, now: MonotonicTime) {
        let limit = max(2, limit)
        self.capacity = Double(limit / 2)
        self.perSecond = Double(limit - limit / 2) / 60
        self.tokens = self.capacity
        self.countedAt = now
    }

    /// Takes one attempt out, if there is one.
    mutating func take(now: MonotonicTime) -> Bool {
        self.refill(now)
        guard self.tokens >= 1 else { return false }
        self.tokens -= 1
        return true
    }

    /// When the next attempt may be made; `now` when it may be made at once.
    mutating func available(now: MonotonicTime) -> MonotonicTime {
        self.refill(now)
        guard self.tokens < 1 else { return now }
        // A millisecond more, so that rounding never makes anybody wait twice.
        return now + .seconds((1 - self.tokens) / self.perSecond) + .milliseconds(1)
    }

    private mutating func refill(_ now: MonotonicTime) {
        let elapsed = max(.zero, now - self.countedAt)
        self.countedAt = max(now, self.countedAt)
        self.tokens = min(self.capacity, self.tokens + elapsed / .seconds(1) * self.perSecond)
    }
}
