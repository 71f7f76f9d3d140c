// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
package import NetPath
import NetPathSystem
import Synchronization

/// Runs tasks on a thread of its own, which ends when there is nothing to do for a while.
///
/// The global pool of Swift's runtime is libdispatch's, and once that was used it wakes the process every second for
/// ever, to look after its threads. The threads of serial queues are not looked after in that way: an application that
/// monitors the network and does nothing else sleeps. Only the thread itself is a block of the queue; a block for each
/// piece of work would do, but libdispatch on Linux keeps what it allocated for blocks until their thread ends.
package final class BackgroundExecutor: TaskExecutor, MonotonicClock, Sendable {
    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var hasThread = false
    }

    /// How long the thread waits for more work.
    private static let patience: Duration = .milliseconds(500)

    private let queue = DispatchQueue(label: "netpath")
    private let work = DispatchSemaphore(value: 0)
    private let clock = SystemMonotonicClock()
    private let sleepers = Sleepers()
    private let state = Mutex(State())

    /// Makes an executor; its thread starts with the first work.
    package init() {}

    /// Takes a piece of a task; called by the runtime on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.change { $0.jobs.append(job) }
    }

    /// Returns the present moment.
    package func now() -> MonotonicTime { self.clock.now() }

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(until deadline: MonotonicTime) async throws {
        try await self.sleepers.sleep(until: deadline) { self.change { _ in } }
    }

    // MARK: The thread

    /// Changes what there is to do, and sees that the thread knows.
    private func change(_ body: (inout State) -> Void) {
        let hasThread = self.state.withLock { state in
            body(&state)
            defer { state.hasThread = true }
            return state.hasThread
        }
        if hasThread { self.work.signal() } else { self.queue.async { self.run() } }
    }

    private func run() {
        while true {
            let now = self.now()
            let jobs = self.state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            let hasWoken = self.sleepers.wakeDue(at: now)
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            guard jobs.isEmpty, !hasWoken else { continue }
            let next = self.sleepers.nextDeadline
            // Both count the nanoseconds of CLOCK_MONOTONIC.
            let end = DispatchTime(uptimeNanoseconds: UInt64((next ?? now + Self.patience).nanoseconds))
            guard self.work.wait(timeout: end) == .timedOut, next == nil else { continue }
            let mayEnd = self.state.withLock { state in
                // Who falls asleep after this question finds no thread, and starts one.
                state.hasThread = !state.jobs.isEmpty || self.sleepers.nextDeadline != nil
                return !state.hasThread
            }
            if mayEnd { return }
        }
    }
}
