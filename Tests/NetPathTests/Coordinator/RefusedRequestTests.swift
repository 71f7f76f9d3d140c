// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// A backend whose source speaks by itself, and cannot be asked.
@Suite struct RefusedRequestTests {
    private let stated = Evidence(at: CoordinatorHarness.origin).changed {
        $0.conclusion = Conclusion(.unsatisfied, PathReason(.stated, "the modem is off"))
    }
    private let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))

    private func started() -> CoordinatorHarness {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.takesNoRefreshRequests(1)
        harness.report(0, self.online)
        harness.report(1, self.stated)
        return harness
    }

    @Test func isNotAskedAndItsSilenceIsNoFailure() {
        var harness = self.started()
        let asked = harness.refreshed.count
        harness.refresh()
        #expect(harness.refreshed.dropFirst(asked) == [0])
        harness.report(0, self.online)
        harness.advance(by: .seconds(60))
        #expect(harness.health == [.healthy, .healthy])
        #expect(harness.cancelled == [])
    }

    @Test func whatItSaidBeforeStandsInForNobody() {
        var harness = self.started()
        harness.advance(by: .seconds(1))
        harness.end(0)
        #expect(harness.path?.isStale == true)
        #expect(harness.path?.statedBy == nil)
        harness.advance(by: .milliseconds(1))
        harness.report(
            1,
            self.stated.changed {
                $0.observedAt = harness.now
                $0.conclusion = Conclusion(.satisfied, PathReason(.stated, "the modem is on"))
            }
        )
        #expect(harness.path?.isStale == false)
        #expect(harness.path?.statedBy == "b1")
    }

    /// The next run may be of another kind.
    @Test func theRefusalEndsWithTheRun() {
        var harness = self.started()
        harness.end(1)
        harness.advance(by: .seconds(5))
        #expect(harness.generations[1] == 2)
        harness.report(1, self.stated)
        let asked = harness.refreshed.count
        harness.refresh()
        #expect(harness.refreshed.dropFirst(asked) == [0, 1])
    }

    @Test(.timeLimit(.minutes(5))) func saysSoThroughTheCoordinator() async throws {
        let clock = ManualClock()
        // The second does not say so, and shows that silence has been judged.
        let (monitor, deaf) = (ScriptedMonitor(.through("eth0")), ScriptedMonitor(.through("eth0")))
        for silent in [monitor, deaf] { silent.answersRefreshes = false }
        let coordinator = PathCoordinator(monitor, deaf, clock: clock)
        coordinator.start()
        try await monitor.waitForRun()
        try await deaf.waitForRun()
        try #require(monitor.context).takesNoRefreshRequests()
        coordinator.refresh()
        try await clock.waitForSleeper(until: clock.now() + Supervision.answerLimit)
        clock.advance(by: Supervision.answerLimit)
        while coordinator.snapshots.last?.report.health == .healthy {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(coordinator.snapshots.map(\.report.health) == [.healthy, .unhealthy])
        coordinator.stop()
    }
}
