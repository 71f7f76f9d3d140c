// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A clock that stands still until the test moves it.
///
/// Thread-safe. ``waitForSleeper(until:)`` replaces sleeping in tests: it returns when the code under test has gone to
/// sleep, and only then is it worth moving the clock.
public final class ManualClock: MonotonicClock {
    private struct State: Sendable {
        var now: MonotonicTime
        var sleepers: [UInt64: MonotonicTime] = [:]
        var lastID: UInt64 = 0
    }

    private let state: AwaitableState<State>

    /// Creates a clock that shows a time, 1000 s after boot unless told otherwise.
    public init(at time: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)) {
        self.state = AwaitableState(State(now: time))
    }

    /// Returns the time the clock shows.
    public func now() -> MonotonicTime { self.state.value.now }

    /// The deadlines of the tasks that sleep now, the earliest first.
    public var sleepers: [MonotonicTime] { self.state.value.sleepers.values.sorted() }

    /// Moves the clock forward and resumes those whose deadline it reaches.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a monotonic clock never goes back")
        self.state.update { $0.now = $0.now + duration }
    }

    /// Moves the clock forward to a point in time, or leaves it when that has passed.
    public func advance(to time: MonotonicTime) {
        self.state.update { $0.now = max($0.now, time) }
    }

    /// Suspends until the clock shows a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func sleep(until deadline: MonotonicTime) async throws {
        let id = self.state.update { state in
            state.lastID += 1
            state.sleepers[state.lastID] = deadline
            return state.lastID
        }
        defer { self.state.update { $0.sleepers[id] = nil } }
        try await self.state.wait { $0.now >= deadline }
    }

    /// Suspends until some task sleeps, or until one sleeps until exactly the given deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first, for example by a test's time limit.
    public func waitForSleeper(until deadline: MonotonicTime? = nil) async throws {
        try await self.state.wait { state in
            state.sleepers.values.contains { $0 > state.now && (deadline == nil || $0 == deadline) }
        }
    }

    /// Suspends until no task sleeps.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForNoSleeper() async throws {
        try await self.state.wait { $0.sleepers.isEmpty }
    }
}
