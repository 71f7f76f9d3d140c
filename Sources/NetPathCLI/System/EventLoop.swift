// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPath
package import NetPathSystem
import Synchronization

/// What ended a wait; nothing when time was up.
struct PollResult: Hashable, Sendable {
    /// The reader is gone.
    var isReaderGone = false
    /// There is room for output.
    var hasRoom = false
    /// What the thread was woken for.
    var reasons: LoopWakeUp.Reasons = []
}

/// Runs the program's tasks and waits on the thread that calls it: the main one.
///
/// The global pool of Swift's runtime is libdispatch's, and once that was used it wakes the process every second for
/// ever, to look after its threads. A monitor that shall cost nothing while nothing happens needs a pool of its own,
/// and a single thread that blocks in poll(2) is all it takes.
package final class EventLoop: TaskExecutor, MonotonicClock, Sendable {
    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var file: Int32?
    }

    /// Ends the wait of this loop.
    package let wakeUp: LoopWakeUp
    private let state = Mutex(State())
    private let sleepers = Sleepers()

    /// Makes a loop.
    ///
    /// - Throws: `SystemError` when the process may open no more files.
    package init() throws(SystemError) {
        self.wakeUp = try LoopWakeUp()
    }

    // MARK: Tasks

    /// Takes a piece of a task; called by the runtime on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = self.state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { self.wakeUp.wake(.work) }
    }

    /// Returns the present moment.
    package func now() -> MonotonicTime { .now() }

    /// Suspends until a point in time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func sleep(until deadline: MonotonicTime) async throws {
        try await self.sleepers.sleep(until: deadline) { self.wakeUp.wake(.work) }
    }

    /// Wakes the thread that runs the loop with the reason `stop`, at a point in time.
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
        let file = self.state.withLock { $0.file }
        var entries = [
            // A negative descriptor is passed over.
            pollfd(
                fd: output.flatMap { $0.isPollable ? $0.rawValue : nil } ?? -1,
                events: wantsRoom ? Int16(POLLOUT) : 0,
                revents: 0
            ),
            pollfd(fd: self.wakeUp.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: screen?.input ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: file ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let now = self.now()
        let limits = [limit, self.sleepers.nextDeadline.map { max(.zero, $0 - now) }].compactMap { $0 }
        // Rounded up: waking before the deadline would only mean to wait again.
        let milliseconds = limits.min().map { Int32(clamping: ($0.inNanoseconds + 999_999) / 1_000_000) } ?? -1
        var result = PollResult()
        if unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 {
            let events = Int32(entries[0].revents)
            result.isReaderGone = events & (Int32(POLLERR) | Int32(POLLHUP) | Int32(POLLNVAL)) != 0
            result.hasRoom = events & Int32(POLLOUT) != 0
            if entries[1].revents != 0 { result.reasons = self.wakeUp.take() }
            if let screen, entries[2].revents != 0 { result.reasons.formUnion(screen.takeKeys()) }
            if entries[3].revents != 0 { result.reasons.insert(.file) }
        }
        self.sleepers.wakeDue(at: self.now())
        self.runJobs()
        return result
    }

    /// Turns once for who writes without waiting for room.
    ///
    /// - Parameter limit: How long to wait at most; nil to wait until something happens.
    /// - Returns: What the loop was woken for; nothing when time is up.
    package func reasons(limit: Duration? = nil) -> LoopWakeUp.Reasons {
        self.turn(limit: limit).reasons
    }

    /// Turns until something is so, time is up, or a signal asks for the end.
    ///
    /// - Returns: Whether a signal did.
    @discardableResult
    func wait(until deadline: MonotonicTime, or isOver: () -> Bool = { false }) -> Bool {
        while !isOver(), case let rest = deadline - self.now(), rest > .zero {
            if self.reasons(limit: rest).contains(.stop) { return true }
        }
        return false
    }

    private func runJobs() {
        while true {
            let jobs = self.state.withLock { exchange(&$0.jobs, with: []) }
            if jobs.isEmpty { return }
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension EventLoop {
    /// Ends a coordinator, and turns the loop until its backends have ended: plugins get the time to do so by themselves.
    ///
    /// A signal that asks for the end once more cuts it short.
    ///
    /// - Parameter coordinator: A coordinator whose tasks run here.
    func stop(_ coordinator: PathCoordinator) {
        let runs = coordinator.end()
        let isOver = Atomic(false)
        Task(executorPreference: self) {
            for run in runs { await run.value }
            isOver.store(true, ordering: .releasing)
            self.wakeUp.wake(.work)
        }
        self.wait(until: self.now() + .seconds(6)) { isOver.load(ordering: .acquiring) }
    }
}
