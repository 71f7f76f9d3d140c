// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// When rounds begin: at the start, after every change of the network, and at intervals, sooner while the internet
/// cannot be reached; never more than the limit in any 60 s.
///
/// Rounds that could not send anything do not count. A round every 10 s is kept in reserve, so that a person who signs in
/// to a portal, and a path that comes back after many changes, need not wait until the minute is over.
struct HTTPProbeSchedule: Sendable {
    /// The first pause after a failure.
    static let firstPause: Duration = .seconds(2)
    static let longestPause: Duration = .seconds(30)
    /// The pause between rounds of the reserve; who waits behind a portal is about to sign in.
    static let reservedPause: Duration = .seconds(10)
    /// The pause after a round that could not send anything.
    static let unsentPause: Duration = .milliseconds(250)
    private static let window: Duration = .seconds(60)
    private static let reserve = 6

    private let interval: Duration
    private let limit: Int
    private var starts: [MonotonicTime] = []
    private var failures = 0
    private var nextAt: MonotonicTime
    /// When a round may begin at the earliest, whatever changes.
    private var notBefore: MonotonicTime

    init(interval: Duration, roundsPerMinute limit: Int, now: MonotonicTime) {
        self.interval = interval
        self.limit = limit
        self.nextAt = now
        self.notBefore = now
    }

    /// When the next round begins.
    func next(now: MonotonicTime) -> MonotonicTime {
        let recent = self.starts.drop { now - $0 >= Self.window }
        // Of a small limit half.
        guard let first = recent.first, let last = recent.last,
            recent.count >= self.limit - min(Self.reserve, self.limit / 2)
        else { return self.nextAt }
        return max(self.nextAt, recent.count < self.limit ? last + Self.reservedPause : first + Self.window)
    }

    /// The network may be another one.
    mutating func changed(now: MonotonicTime) {
        self.failures = 0
        self.nextAt = max(now, self.notBefore)
    }

    mutating func began(now: MonotonicTime) {
        self.starts.removeAll { now - $0 >= Self.window }
        self.starts.append(now)
    }

    /// Notes the end of a round; `jitter` is a random number in 0..<1.
    mutating func ended(_ round: ProbeRound, wasSent: Bool = true, jitter: Double, now: MonotonicTime) {
        if !wasSent {
            _ = self.starts.popLast()
            self.notBefore = now + Self.unsentPause
        }
        let isBehindPortal = round.outcomes.contains { $0.result == .portal }
        let longestPause = isBehindPortal ? Self.reservedPause : Self.longestPause
        self.failures = round.answered ? 0 : self.failures + 1
        let pause =
            self.failures == 0
            ? self.interval
            : min(self.interval, longestPause, Self.firstPause * (1 << min(self.failures - 1, 10)))
        // Devices that lost the same thing must not come back in step.
        self.nextAt = now + pause * (0.9 + jitter * 0.2)
    }
}
