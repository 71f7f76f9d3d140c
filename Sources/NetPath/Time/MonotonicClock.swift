// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A source of monotonic time, replaceable in tests.
///
/// The standard `Clock` protocol hides its instants behind an associated type; evidence needs instants that can be
/// stored, compared and handed between modules, hence a protocol of our own.
public protocol MonotonicClock: Sendable {
    /// Returns the present moment.
    func now() -> MonotonicTime

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: MonotonicTime) async throws
}

/// The machine's own monotonic clock (CLOCK_MONOTONIC).
public struct SystemMonotonicClock: MonotonicClock {
    private let clock = SuspendingClock()

    /// Creates the clock.
    public init() {}

    /// Returns the present moment.
    public func now() -> MonotonicTime {
        MonotonicTime(nanoseconds: self.clock.systemEpoch.duration(to: self.clock.now).inNanoseconds)
    }

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: MonotonicTime) async throws {
        try await self.clock.sleep(
            until: self.clock.systemEpoch.advanced(by: .nanoseconds(deadline.nanoseconds)),
            tolerance: nil
        )
    }
}
