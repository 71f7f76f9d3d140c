// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathTCPProbe

/// The monitor itself in a storm of refreshes, against a listener of this process that counts.
struct StormTests {
    @Test(.timeLimit(.minutes(5))) func aStormStaysWithinTheCapAndIsAnswered() async throws {
        let listener = try Listener()
        let options = try TCPProbeMonitor.Options.to(listener.target) { $0.maxPerMinute = 20 }
        let monitor = TCPProbeMonitor(options, names: .shared, ledger: ProbeLedger())
        let (requests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reports = Mutex(0)
        let context = MonitorContext(
            clock: SystemMonotonicClock(),
            refreshRequests: requests,
            watchedAddresses: AsyncStream { _ in },
            report: { _ in reports.withLock { $0 += 1 } },
            register: { _ in },
            log: { _, _ in }
        )
        let start = ContinuousClock.now
        let run = Task { try await monitor.run(context) }
        var accepted = 0
        for _ in 0..<2_000 {
            refresh.yield()
            accepted += listener.accepted()
            try await Task.sleep(for: .milliseconds(1))
        }
        run.cancel()
        _ = await run.result
        accepted += listener.accepted()
        let elapsed = ContinuousClock.now - start
        // Half the limit at once, the other half in the course of a minute.
        #expect(accepted >= 10 && Double(accepted) <= 11 + elapsed / .seconds(6))
        #expect(reports.withLock { $0 } >= 10)
    }

    /// As after failures, and after reloads that change something else about the probe.
    @Test(.timeLimit(.minutes(5))) func aHundredRunsStartNoNewBudgetAndKnowWhatWasKnown() async throws {
        let listener = try Listener()
        let ledger = ProbeLedger()
        var accepted = 0
        let start = ContinuousClock.now
        for run in 1...100 {
            let options = try TCPProbeMonitor.Options.to(listener.target) { options in
                options.maxPerMinute = 6
                options.timeout = .milliseconds(1_000 + run)
            }
            let (reports, speak) = AsyncStream.makeStream(of: Evidence.self)
            let context = MonitorContext(
                clock: SystemMonotonicClock(),
                refreshRequests: AsyncStream { _ in },
                watchedAddresses: AsyncStream { _ in },
                report: { speak.yield($0) },
                register: { _ in },
                log: { _, _ in }
            )
            let monitor = TCPProbeMonitor(options, names: .shared, ledger: ledger)
            let task = Task { try await monitor.run(context) }
            let first = await reports.first { _ in true }
            #expect(first?.probes?.answered == true, "run \(run)")
            task.cancel()
            _ = await task.result
            accepted += listener.accepted()
        }
        #expect(accepted >= 3 && accepted <= 6 * (1 + Int((ContinuousClock.now - start) / .seconds(60))))
    }
}
