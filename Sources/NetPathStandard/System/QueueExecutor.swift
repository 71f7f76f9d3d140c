// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
package import NetPath

/// Runs tasks on a serial queue of its own, and waits for points in time there.
///
/// The global pool of Swift's runtime is libdispatch's, and once that was used it wakes the process every second for
/// ever, to look after its threads. The threads of serial queues are not looked after in that way: an application that
/// monitors the network and does nothing else sleeps.
package final class QueueExecutor: TaskExecutor, MonotonicClock, Sendable {
    private let queue = DispatchQueue(label: "netpath")
    private let clock = SystemMonotonicClock()

    /// Makes an executor; its thread exists only while there is work.
    package init() {}

    /// Takes a piece of a task; called by the runtime on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns the present moment.
    package func now() -> MonotonicTime { self.clock.now() }

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(until deadline: MonotonicTime) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: self.queue)
        timer.setEventHandler { continuation.finish() }
        // Both count the nanoseconds of CLOCK_MONOTONIC.
        timer.schedule(
            deadline: DispatchTime(uptimeNanoseconds: UInt64(max(0, deadline.nanoseconds))),
            leeway: .nanoseconds(0)
        )
        timer.activate()
        defer { timer.cancel() }
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
