// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// When the next look is due: soon after a change, seldom when it is quiet.
struct PollSchedule: Hashable {
    /// The shortest time between two looks, however many are asked for.
    static let pause = Duration.milliseconds(50)
    /// How much of the time may be spent looking: a tenth.
    private static let share = 10

    private let slow: Duration
    private let fast: Duration
    private var interval: Duration

    /// When the next look is due; nil before the first.
    private(set) var next: MonotonicTime?
    /// When the next look may be taken that somebody asks for.
    private(set) var earliest: MonotonicTime?

    /// Creates a schedule between two intervals; the fast one is never longer than the slow one.
    init(slow: Duration, fast: Duration) {
        self.slow = slow
        self.fast = min(fast, slow)
        self.interval = self.fast
    }

    /// Notes that a look was taken.
    mutating func looked(from start: MonotonicTime, to end: MonotonicTime, foundChange: Bool) {
        self.interval = foundChange ? self.fast : min(self.slow, self.interval * 2)
        self.next = end + max(self.interval, (end - start) * Self.share)
        self.earliest = end + Self.pause
    }
}
