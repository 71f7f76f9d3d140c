// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// When the next look is due: soon after a change, seldom when it is quiet.
struct PollSchedule: Hashable {
    /// The shortest time between two looks, however many are asked for.
    static let pause = Duration.milliseconds(50)
    /// How much of a processor may be spent looking: a tenth.
    private static let share = 10
    /// After so many intervals the next look is due whatever the last one cost: a poll never made reports nothing.
    private static let patience = 3

    private let slow: Duration
    private let fast: Duration
    private var interval: Duration

    /// When the next look is due; nil before the first.
    private(set) var next: MonotonicTime?
    /// When the next look may be taken that a client asks for.
    private(set) var earliest: MonotonicTime?

    /// Creates a schedule between two intervals; the fast one is never longer than the slow one.
    init(slow: Duration, fast: Duration) {
        self.slow = slow
        self.fast = min(fast, slow)
        self.interval = self.fast
    }

    /// Notes that a look was taken.
    ///
    /// - Parameters:
    ///   - end: When it was done.
    ///   - cost: The processor's time it took; time that it only had to wait costs nothing.
    ///   - foundChange: Whether what it saw is news.
    mutating func looked(at end: MonotonicTime, cost: Duration, foundChange: Bool) {
        self.interval = foundChange ? self.fast : min(self.slow, self.interval * 2)
        self.next = end + max(self.interval, min(cost * Self.share, self.slow * Self.patience))
        self.earliest = end + Self.pause
    }
}
