// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How long to wait before a backend that ended is started again.
///
/// Attempt 0 waits 0.25–0.5 s, each further one twice as long, at most 30 s. The jitter keeps a fleet of devices that
/// lost the same thing from coming back in step.
enum RestartBackoff {
    /// A run of at least this length counts as a success: the next failure starts over at attempt 0.
    static let settledAfter: Duration = .seconds(10)

    /// Returns the delay before an attempt; `jitter` is a random number in 0..<1.
    static func delay(attempt: Int, jitter: Double) -> Duration {
        let ceiling = min(30_000, 500 << max(0, min(attempt, 10)))
        // Of a recording it may be any number.
        return .milliseconds(ceiling / 2 + Int(Double(ceiling / 2) * max(0, min(1, jitter))))
    }
}
