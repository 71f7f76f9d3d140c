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
