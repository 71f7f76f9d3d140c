// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// Runs the program's tasks and waits on the thread that calls it: the main one.
///
/// The global pool of Swift's runtime is libdispatch's, and once that was used it wakes the process every second for
/// ever, to look after its threads. A monitor that shall cost nothing while nothing happens needs a pool of its own,
/// and a single thread that blocks in poll(2) is all it takes.
final class EventLoop: TaskExecutor, MonotonicClock, Sendable {
    private struct Sleeper: Sendable {
        let deadline: MonotonicTime
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var sleepers: [UInt64: Sleeper] = [:]
        var lastID: UInt64 = 0
        var file: Int32?
    }

    /// Ends the wait of this loop.
    let wakeUp: WakeUp
    private let state = Mutex(State())

    /// Makes a loop.
    ///
    /// - Throws: `SystemError` when the process may open no more files.
    init() throws(SystemError) {
        self.wakeUp = try WakeUp()
    }

    // MARK: Tasks

    /// Takes a piece of a task; called by the runtime on any thread.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = self.state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { self.wakeUp.wake(.work) }
    }

    /// Returns the present moment.
    func now() -> MonotonicTime { .now() }

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func sleep(until deadline: MonotonicTime) async throws {
        let id = self.state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A cancellation that came before this finds no sleeper to wake.
                let isCancelled = self.state.withLock { state in
                    // Asked once: it may change between two questions.
                    let isCancelled = Task.isCancelled
                    if !isCancelled { state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation) }
                    return isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { self.wakeUp.wake(.work) }
            }
        } onCancel: {
            let sleeper = self.state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Wakes whoever turns the loop with the reason `stop`, at a point in time.
    func stop(at deadline: MonotonicTime) {
        Task(executorPreference: self) {
            try await self.sleep(until: deadline)
            self.wakeUp.wake(.stop)
        }
    }

    // MARK: The loop

    /// Ends every wait with the reason `file` while a descriptor is readable, in place of any named before.
    func watch(file descriptor: Int32?) {
        self.state.withLock { $0.file = descriptor }
    }

    /// Runs everything that is ready, then waits once: for more, for an output, a wake-up, or the end of a limit.
    ///
    /// - Parameters:
    ///   - output: A descriptor that is written to; that its reader is gone is noticed in any case.
    ///   - wantsRoom: Whether to wait for room on it.
    ///   - screen: Where to look for keys.
    ///   - limit: How long to wait at most; nil to wait until something happens.
    /// - Returns: What ended the wait.
    func turn(
        output: WatchDescriptor? = nil,
        wantsRoom: Bool = false,
        screen: TerminalScreen? = nil,
        limit: Duration?
    ) -> PollResult {
        self.runJobs()
        let now = self.now()
        let (next, file) = self.state.withLock { state in (state.sleepers.values.map(\.deadline).min(), state.file) }
        let limits = [limit, next.map { max(.zero, $0 - now) }].compactMap { $0 }
        let result = wait(
            for: output,
            wantsRoom: wantsRoom,
            wakeUp: self.wakeUp,
            screen: screen,
            file: file,
            limit: limits.min()
        )
        self.wakeSleepers()
        self.runJobs()
        return result
    }

    private func wakeSleepers() {
        let now = self.now()
        let due = self.state.withLock { state in
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    private func runJobs() {
        while true {
            let jobs = self.state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            if jobs.isEmpty { return }
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
