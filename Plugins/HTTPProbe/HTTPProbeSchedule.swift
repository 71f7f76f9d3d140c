// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// When rounds begin: at the start, after every change of the network, and at intervals, sooner while the internet
/// cannot be reached; never more than the limit in any 60 s.
struct HTTPProbeSchedule: Sendable {
    /// The first pause after a failure.
    static let firstPause: Duration = .seconds(2)
    /// Who waits behind a portal is about to sign in.
    static let longestPause: Duration = .seconds(30)
    private static let window: Duration = .seconds(60)

    private let interval: Duration
    private let limit: Int
    private var starts: [MonotonicTime] = []
    private var failures = 0
    private var nextAt: MonotonicTime

    init(interval: Duration, roundsPerMinute limit: Int, now: MonotonicTime) {
        self.interval = interval
        self.limit = limit
        self.nextAt = now
    }

    /// When the next round begins.
    func next(now: MonotonicTime) -> MonotonicTime {
        let recent = self.starts.drop { now - $0 >= Self.window }
        guard recent.count >= self.limit, let first = recent.first else { return self.nextAt }
        return max(self.nextAt, first + Self.window)
    }

    /// The network may be another one.
    mutating func changed(now: MonotonicTime) {
        self.failures = 0
        self.nextAt = now
    }

    mutating func began(now: MonotonicTime) {
        self.starts.removeAll { now - $0 >= Self.window }
        self.starts.append(now)
    }

    /// Notes the end of a round; `jitter` is a random number in 0..<1.
    mutating func ended(_ round: ProbeRound, jitter: Double, now: MonotonicTime) {
        self.failures = round.answered ? 0 : self.failures + 1
        let pause =
            self.failures == 0
            ? self.interval
            : min(self.interval, Self.longestPause, Self.firstPause * (1 << min(self.failures - 1, 10)))
        // Devices that lost the same thing must not come back in step.
        self.nextAt = now + pause * (0.9 + jitter * 0.2)
    }
}
