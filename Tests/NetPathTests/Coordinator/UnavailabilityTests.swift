// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// A backend that runs though its source is gone.
@Suite struct UnavailabilityTests {
    private let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))

    @Test func isUnhealthyWithoutARestart() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.reportUnavailable(0, "modem0 does not answer")
        #expect(harness.health == [.unhealthy])
        #expect(harness.machine.snapshots[0].report.error == "modem0 does not answer")
        #expect(harness.path?.status == .satisfied, "silence lowers nothing")
        #expect(harness.path?.isStale == true)
        harness.advance(by: .seconds(60))
        #expect(harness.running == [0])
        #expect(harness.generations == [1], "nothing was started again")
        #expect(harness.machine.nextDeadline == nil, "and nothing waits for it")
    }

    @Test func theNextReportCountsAtOnce() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.reportUnavailable(0, "gone")
        harness.advance(by: .milliseconds(1))
        harness.report(0, self.online.changed { $0.observedAt = harness.now })
        #expect(harness.health == [.healthy])
        #expect(harness.machine.snapshots[0].report.error == nil)
        #expect(harness.path?.isStale == false)
        #expect(harness.machine.snapshots[0].report.restarts == 0)
    }

    @Test func isAFirstWordAndAnAnswer() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.reportUnavailable(0, "gone")
        harness.advance(by: .seconds(10))
        harness.refresh()
        harness.reportUnavailable(0, "gone")
        harness.advance(by: .seconds(10))
        #expect(harness.cancelled == [])
        #expect(harness.machine.snapshots[0].report.error == "gone")
    }

    @Test func callsTheStandbyAndSendsItHomeAgain() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.reportUnavailable(0, "gone")
        #expect(harness.running == [0, 1])
        harness.report(1, self.online.changed { $0.observedAt = harness.now })
        #expect(harness.path?.isStale == false)
        harness.advance(by: .milliseconds(1))
        harness.report(0, self.online.changed { $0.observedAt = harness.now })
        #expect(harness.cancelled == [1])
    }

    @Test func aRunThatWasCancelledSaysNothingMore() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.end(0)
        harness.reportUnavailable(0, "late")
        #expect(harness.machine.snapshots[0].report.error == "broke")
    }

    @Test func saysSoThroughTheCoordinator() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor)
        coordinator.start()
        try await monitor.waitForRun()
        try #require(monitor.context).reportUnavailable("gone")
        #expect(coordinator.snapshots.map(\.report.error) == ["gone"])
        monitor.report(.through("eth0"))
        #expect(coordinator.snapshots.map(\.report.health) == [.healthy])
    }
}
