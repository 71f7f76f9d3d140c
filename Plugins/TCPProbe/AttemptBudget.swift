// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How many attempts may be made: never more than the limit in any 60 s, whatever happens.
///
/// A lookup of a name is one attempt, a connection another. What was asked of the same targets by anybody in the
/// process counts, also before the monitor was started.
///
/// Rounds of the first half of the limit may begin at once; the other half is spread evenly over the time until attempts
/// fall out of the window, so that after a burst there is something left for the next change.
struct AttemptBudget: Sendable {
    /// The time in which attempts are counted, and which slides along.
    ///
    /// A second more than a minute: an attempt takes a moment from here to the network, and not always the same.
    static let window: Duration = .seconds(61)

    private let ledger: ProbeLedger
    private let subjects: Set<ProbeLedger.Subject>
    private let limit: Int

    /// Creates the budget for some targets; a limit below 2 counts as 2.
    init(_ targets: [ProbeTarget], perMinute limit: Int, ledger: ProbeLedger) {
        self.ledger = ledger
        self.subjects = Set(targets.map(\.connection) + targets.compactMap(\.lookup))
        self.limit = max(2, limit)
    }

    /// Takes one attempt out, if there is one.
    func take(_ subject: ProbeLedger.Subject, now: MonotonicTime) -> Bool {
        self.ledger.take(subject, among: self.subjects, limit: self.limit, now: now)
    }

    /// When so many attempts, or the limit, may be made in a row; `now` when they may be made at once.
    func available(_ count: Int = 1, now: MonotonicTime) -> MonotonicTime {
        self.available(count, after: self.ledger.attempts(self.subjects, now: now), now: now)
    }

    /// When a round that takes at least so many attempts may begin; `now` when it may at once.
    func nextRound(taking count: Int, now: MonotonicTime) -> MonotonicTime {
        let recent = self.ledger.attempts(self.subjects, now: now)
        let earliest = self.available(count, after: recent, now: now)
        guard let first = recent.first, let last = recent.last, recent.count >= (self.limit + 1) / 2
        else { return earliest }
        let rounds = max(0, self.limit - recent.count) / count
        return max(earliest, last + (first + Self.window - last) / (rounds + 1))
    }

    private func available(_ count: Int, after recent: [MonotonicTime], now: MonotonicTime) -> MonotonicTime {
        let excess = recent.count + min(count, self.limit) - self.limit
        guard excess > 0 else { return now }
        // A millisecond more, as the window includes both of its ends.
        return recent[excess - 1] + Self.window + .milliseconds(1)
    }
}
