// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

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

    /// A random wait from nothing up to the ceiling, for a request.
    static func fullJitter(
        attempt: Int,
        base: Duration,
        cap: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let ceiling = self.ceiling(attempt: attempt, base: base, cap: cap)
        return .nanoseconds(Int64.random(in: 0...max(0, ceiling.inNanoseconds), using: &generator))
    }

    /// A random wait of at least half the ceiling, where no wait at all would mean to spin.
    static func equalJitter(
        attempt: Int,
        base: Duration,
        cap: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let half = max(0, self.ceiling(attempt: attempt, base: base, cap: cap).inNanoseconds) / 2
        return .nanoseconds(half + Int64.random(in: 0...half, using: &generator))
    }
}
