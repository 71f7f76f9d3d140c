// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A point in time on the kernel's CLOCK_MONOTONIC: nanoseconds since boot, not counting suspend.
///
/// The kernel stamps addresses on the same scale, so evidence and deadlines compare directly.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    public let nanoseconds: Int64

    /// Creates a point in time from nanoseconds since boot.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Whether the left point comes before the right one.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The point in time a duration later; the last one there is where it lies beyond that.
    public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds.addingSaturating(duration.inNanoseconds))
    }

    /// The duration from the right point to the left one, 292 years at most.
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }
}

extension Int64 {
    /// The sum, or the nearest number there is: what is decoded may be any number.
    package func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = self.addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number there is.
    package func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, isTooLarge) = self.subtractingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    ///
    /// Saturates at 146 years: no deadline of ours is that far away, and adding it to the present moment never
    /// overflows.
    package var inNanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let nanoseconds = max(-5_000_000_000, min(5_000_000_000, seconds)) * 1_000_000_000 + attoseconds / 1_000_000_000
        return max(-Int64.max / 2, min(Int64.max / 2, nanoseconds))
    }
}
