// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ScriptedMonitorTests {
    /// A context of its own, and what came out of it.
    private struct Stage {
        let context: MonitorContext
        let refresh: AsyncStream<Void>.Continuation
        let reports: @Sendable () -> [Evidence]

        init() {
            final class Reports: Sendable {
                let all = Mutex<[Evidence]>([])
            }
            let kept = Reports()
            let (requests, refresh) = AsyncStream.makeStream(of: Void.self)
            self.refresh = refresh
            self.reports = { kept.all.withLock { $0 } }
            self.context = MonitorContext(
                clock: ManualClock(),
                refreshRequests: requests,
                watchedAddresses: AsyncStream { $0.yield([]) },
                report: { evidence in kept.all.withLock { $0.append(evidence) } },
                register: { _ in },
                log: { _, _ in }
            )
        }
    }

    @Test func reportsAtTheStartOnChangesAndWhenAsked() async throws {
        let monitor = ScriptedMonitor(.noLink)
        let stage = Stage()
        let run = Task { try await monitor.run(stage.context) }
        try await monitor.waitForRun()
        monitor.report(.through("eth0"))
        stage.refresh.yield()
        try await monitor.waitForRefreshRequests()
        monitor.finish()
        try await run.value
        #expect(stage.reports() == [.noLink, .through("eth0"), .through("eth0")])
        try await monitor.waitForWatchedAddresses([])
        #expect(monitor.endedRuns == 1)
    }

    @Test func throwsWhatTheScriptSaysAndRunsAgain() async throws {
        let monitor = ScriptedMonitor()
        monitor.fail("no socket")
        let first = Stage()
        await #expect(throws: ScriptedMonitor.Failure("no socket")) { try await monitor.run(first.context) }
        let second = Stage()
        let run = Task { try await monitor.run(second.context) }
        try await monitor.waitForRun(2)
        monitor.report(.noLink)
        monitor.finish()
        try await run.value
        #expect(first.reports().isEmpty)
        #expect(second.reports() == [.noLink])
    }

    @Test func cancellationEndsARun() async throws {
        let monitor = ScriptedMonitor()
        let stage = Stage()
        let run = Task { try await monitor.run(stage.context) }
        try await monitor.waitForRun()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(monitor.endedRuns == 1)
    }

    @Test func aSilentOrWedgedMonitorRecordsOnly() async throws {
        let monitor = ScriptedMonitor(.noLink)
        monitor.fallSilent()
        monitor.answersRefreshes = false
        let stage = Stage()
        let run = Task { try await monitor.run(stage.context) }
        try await monitor.waitForRun()
        monitor.report(.noLink)
        stage.refresh.yield()
        try await monitor.waitForRefreshRequests()
        monitor.finish()
        try await run.value
        #expect(stage.reports() == [.noLink])
    }
}
