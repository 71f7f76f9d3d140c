// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How a host fails, and until when it is left alone: its circuit breaker.
struct HostHealth: Hashable, Sendable {
    /// How many attempts failed since the last one that did not.
    private var failures = 0
    /// How many pauses followed one another because it was not reached or did not answer.
    private(set) var pauses = 0
    /// Until when it is left alone; may have passed.
    private(set) var pausedUntil: MonotonicTime?
    private(set) var failedAt: MonotonicTime?
    /// How many requests were sent to it since the first of those failures.
    var probes = 0

    /// When its last pause ends, or it failed last.
    var leftAlone: MonotonicTime? { [self.pausedUntil, self.failedAt].compactMap(\.self).max() }

    func pause(at now: MonotonicTime) -> MonotonicTime? {
        self.pausedUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// It answered, but with the failure of that request; returns whether it has to be left alone for a moment, because
    /// every answer is one.
    mutating func faulted(at now: MonotonicTime, _ settings: QueueSettings) -> Bool {
        if self.pause(at: now) == nil { self.pauses = 0 }
        return self.failed(pausesAtOnce: false, at: now, settings)
    }

    /// An attempt failed; returns whether the host has to be left alone: because it fails often, or at once.
    mutating func failed(pausesAtOnce: Bool, at now: MonotonicTime, _ settings: QueueSettings) -> Bool {
        // What was under way when the pause began says nothing new.
        guard self.pause(at: now) == nil else { return false }
        self.failures += 1
        self.failedAt = now
        return pausesAtOnce || self.pauses > 0 || self.failures >= max(1, settings.failuresBeforePause)
    }

    mutating func pause(until end: MonotonicTime, isReached: Bool) {
        self.pausedUntil = end
        if !isReached { self.pauses += 1 }
    }
}

/// How long to wait before the next attempt.
///
/// Full jitter, `random(0, min(cap, base · 2^attempt))`, spreads the requests of a fleet over the whole time and so
/// needs the fewest attempts (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
enum Backoff {
    /// The longest wait after an attempt; the first is number 0.
    static func ceiling(attempt: Int, base: Duration, cap: Duration) -> Duration {
        let base = max(base, .zero).inNanoseconds
        let (product, overflow) = base.multipliedReportingOverflow(by: 1 << min(max(attempt, 0), 62))
        return min(max(cap, .zero), overflow ? cap : .nanoseconds(product))
    }
}

extension QueueSettings {
    /// A random wait from nothing up to the ceiling, for a request.
    func fullJitter(attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
        .nanoseconds(Int64.random(in: 0...self.ceiling(attempt: attempt), using: &random))
    }

    /// A random wait of at least half the ceiling, where no wait at all would mean to spin.
    func equalJitter(attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let half = self.ceiling(attempt: attempt) / 2
        return .nanoseconds(half + Int64.random(in: 0...half, using: &random))
    }

    private func ceiling(attempt: Int) -> Int64 {
        max(0, Backoff.ceiling(attempt: attempt, base: self.baseBackoff, cap: self.maxBackoff).inNanoseconds)
    }
}
