// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// When rounds begin: at the start, after every change of the network, and at intervals, sooner while the internet
/// cannot be reached, and later while nothing comes back at all; never more than the limit in any 60 s.
///
/// Rounds that could not send anything do not count. A round every 10 s is kept in reserve, so that a person who signs in
/// to a portal, and a path that comes back after many changes, need not wait until the minute is over; an interval for
/// which the limit without the reserve is too small is longer, so that rounds are spread over the minute.
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

    private let options: HTTPProbeMonitor.Options
    private let limit: Int
    private var starts: [MonotonicTime] = []
    private var failures = 0
    private var nextAt: MonotonicTime
    /// When a round may begin at the earliest, whatever changes.
    private var notBefore: MonotonicTime
    /// Whether nothing came back of the last round, on what is still the same network.
    private(set) var isSilent = false

    init(_ options: HTTPProbeMonitor.Options, now: MonotonicTime) {
        self.options = options
        self.limit = options.maxRoundsPerMinute
        self.nextAt = now
        self.notBefore = now
    }

    /// The least time between rounds that a limit leaves, apart from the reserve.
    static func leastInterval(roundsPerMinute limit: Int) -> Duration { Self.window / Self.usualRounds(of: limit) }

    /// How many rounds of a limit are not in reserve; of a small limit half.
    private static func usualRounds(of limit: Int) -> Int { max(1, limit - min(Self.reserve, limit / 2)) }

    /// When the next round begins.
    func next(now: MonotonicTime) -> MonotonicTime {
        let recent = self.starts.drop { now - $0 >= Self.window }
        guard let first = recent.first, let last = recent.last, recent.count >= Self.usualRounds(of: self.limit)
        else { return self.nextAt }
        return max(self.nextAt, recent.count < self.limit ? last + Self.reservedPause : first + Self.window)
    }

    /// The network may be another one.
    mutating func changed(now: MonotonicTime) {
        self.failures = 0
        self.isSilent = false
        self.nextAt = max(now, self.notBefore)
    }

    mutating func began(now: MonotonicTime) {
        self.starts.removeAll { now - $0 >= Self.window }
        self.starts.append(now)
    }

    /// Notes the end of a round; `jitter` is a random number in 0..<1.
    mutating func ended(
        _ round: ProbeRound,
        wasSent: Bool = true,
        isSilent: Bool = false,
        isMetered: Bool = false,
        jitter: Double,
        now: MonotonicTime
    ) {
        if !wasSent {
            _ = self.starts.popLast()
            self.notBefore = now + Self.unsentPause
        }
        self.failures = round.answered ? 0 : self.failures + 1
        self.isSilent = isSilent
        // Devices that lost the same thing must not come back in step.
        self.nextAt = now + self.pause(after: round, isMetered: isMetered) * (0.9 + jitter * 0.2)
    }

    private func pause(after round: ProbeRound, isMetered: Bool) -> Duration {
        let least = Self.leastInterval(roundsPerMinute: self.limit)
        let interval = max(least, self.options.interval)
        let usual = isMetered ? max(least, self.options.meteredInterval ?? interval * 10) : interval
        if self.failures == 0 { return usual }
        let longest =
            if round.outcomes.contains(where: { $0.result == .portal }) {
                min(usual, Self.reservedPause)
            } else if self.isSilent {
                max(usual, self.options.backoff)
            } else {
                min(usual, Self.longestPause * max(1, usual / interval))
            }
        return min(longest, Self.firstPause * (1 << min(self.failures - 1, 20)))
    }
}
