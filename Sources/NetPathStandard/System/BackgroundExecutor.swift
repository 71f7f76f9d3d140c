// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
package import NetPath
import Synchronization

/// Runs tasks on a thread of its own, which ends when there is nothing to do for a while.
///
/// The global pool of Swift's runtime is libdispatch's, and once that was used it wakes the process every second for
/// ever, to look after its threads. The threads of serial queues are not looked after in that way: an application that
/// monitors the network and does nothing else sleeps. Only the thread itself is a block of the queue; a block for each
/// piece of work would do, but libdispatch on Linux keeps what it allocated for blocks until their thread ends.
package final class BackgroundExecutor: TaskExecutor, MonotonicClock, Sendable {
    private struct Sleeper: Sendable {
        let deadline: MonotonicTime
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var sleepers: [UInt64: Sleeper] = [:]
        var lastID: UInt64 = 0
        var hasThread = false
    }

    /// How long the thread waits for more work.
    private static let patience: Duration = .milliseconds(500)

    private let queue = DispatchQueue(label: "netpath")
    private let work = DispatchSemaphore(value: 0)
    private let clock = SystemMonotonicClock()
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
        let id = self.state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = self.change { state in
                    // Asked once, under the lock that the cancellation takes too.
                    let isCancelled = Task.isCancelled
                    if !isCancelled { state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation) }
                    return isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = self.state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    // MARK: The thread

    /// Changes what there is to do, and sees that the thread knows.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, hasThread) = self.state.withLock { state in
            defer { state.hasThread = true }
            return (body(&state), state.hasThread)
        }
        if hasThread { self.work.signal() } else { self.queue.async { self.run() } }
        return result
    }

    private func run() {
        while true {
            let now = self.now()
            let (jobs, due, next) = self.state.withLock { state in
                let due = state.sleepers.filter { $0.value.deadline <= now }
                for id in due.keys { state.sleepers[id] = nil }
                defer { state.jobs = [] }
                let next = state.sleepers.values.map(\.deadline).min()
                return (state.jobs, due.values.sorted { $0.deadline < $1.deadline }, next)
            }
            for sleeper in due { sleeper.continuation.resume() }
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            guard jobs.isEmpty, due.isEmpty else { continue }
            // Both count the nanoseconds of CLOCK_MONOTONIC.
            let end = DispatchTime(uptimeNanoseconds: UInt64((next ?? now + Self.patience).nanoseconds))
            guard self.work.wait(timeout: end) == .timedOut, next == nil else { continue }
            let mayEnd = self.state.withLock { state in
                state.hasThread = !state.jobs.isEmpty || !state.sleepers.isEmpty
                return !state.hasThread
            }
            if mayEnd { return }
        }
    }
}
