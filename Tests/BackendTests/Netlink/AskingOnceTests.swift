// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import Synchronization
import Testing

@testable import NetPathNetlink

/// The monitor on this machine, asked for the present state only.
@Suite struct AskingOnceTests {
    /// What a context was told, and on which thread.
    private final class Recorder: Sendable {
        let reports = Mutex<[(Evidence, thread: pthread_t)]>([])
        let offers = Mutex(0)

        func context(asksOnce: Bool) -> MonitorContext {
            MonitorContext(
                clock: SystemMonotonicClock(),
                refreshRequests: AsyncStream { $0.finish() },
                watchedAddresses: AsyncStream { $0.finish() },
                asksOnce: asksOnce,
                report: { evidence in self.reports.withLock { $0.append((evidence, pthread_self())) } },
                register: { _ in self.offers.withLock { $0 += 1 } },
                log: { _, _ in }
            )
        }
    }

    /// A task that stays on the thread that calls it.
    private final class Inline: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            unsafe UnownedJob(job).runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    @Test func nothingIsOpenedThatTellsOfChanges() throws {
        let session = try NetlinkSession(options: .init(), context: Recorder().context(asksOnce: true))
        #expect(session.events == nil)
        #expect(session.clockWatcher == nil)
        #expect(session.radioSwitches == nil)
        #expect(session.resolverFile.fileDescriptor == nil)
        #expect(session.limitations == [], "what is not wanted is not missing")
        let watching = try NetlinkSession(options: .init(), context: Recorder().context(asksOnce: false))
        #expect(watching.events != nil)
    }

    @Test func readsAndReportsOnTheThreadOfTheTaskAndReturns() throws {
        let recorder = Recorder()
        let ended = Mutex(false)
        Task(executorPreference: Inline()) {
            try await NetlinkMonitor().run(recorder.context(asksOnce: true))
            ended.withLock { $0 = true }
        }
        #expect(ended.withLock { $0 }, "without waiting for anything")
        let reports = recorder.reports.withLock { $0 }
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { $0.thread == pthread_self() })
        #expect(try #require(reports.last).0.interfaces != nil)
        #expect(recorder.offers.withLock { $0 } == 1)
    }
}
