// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath

/// A coordinator that asks for the present state only.
@Suite(.timeLimit(.minutes(5))) struct AskingOnceTests {
    private let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))

    private static func harness(_ modes: BackendMode...) -> CoordinatorHarness {
        var harness = CoordinatorHarness(modes: modes, settings: CoordinatorSettings())
        harness.start(once: true)
        return harness
    }

    @Test func whoeverHasReportedMayEnd() throws {
        var harness = Self.harness(.active, .standby)
        harness.report(0, self.online)
        harness.end(0, nil)
        #expect(harness.health == [.healthy, .standby])
        #expect(try #require(harness.path).status == .satisfied)
        #expect(harness.warnings.isEmpty)
        #expect(harness.machine.nextDeadline == nil, "nothing is left to wait for")
        harness.advance(by: .seconds(60))
        harness.refresh()
        #expect(harness.running.isEmpty, "nobody is started again")
        #expect(harness.health == [.healthy, .standby])
    }

    @Test func whoeverEndedIsNotAskedAgain() {
        var harness = Self.harness(.active, .active)
        harness.report(0, self.online)
        harness.end(0, nil)
        harness.report(1, .noLink)
        #expect(!harness.refreshed.contains(0))
        #expect(harness.running == [1])
        harness.advance(by: .seconds(10))
        #expect(harness.health == [.healthy, .healthy])
    }

    @Test func toEndWithoutAWordIsAFailure() {
        var harness = Self.harness(.active, .standby)
        harness.end(0, nil)
        #expect(harness.health == [.unhealthy, .starting])
        #expect(harness.running == [1])
    }

    @Test func anErrorIsAFailure() {
        var harness = Self.harness(.active, .standby)
        harness.report(0, self.online)
        harness.end(0, "broke")
        #expect(harness.health == [.unhealthy, .starting])
    }

    @Test func whoeverWatchesFailsWhenItEnds() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.end(0, nil)
        #expect(harness.health == [.unhealthy])
    }

    private struct Resolver: RouteResolver {
        func route(to destination: InternetAddress, through interface: UInt32?) -> RouteLookupResult { .noRoute }
    }

    /// Reports and offers what it is told to, and is done.
    private struct Brief: PathMonitor {
        let evidence: Evidence

        func run(_ context: MonitorContext) async throws {
            #expect(context.asksOnce)
            context.register(Resolver())
            context.report(self.evidence)
        }
    }

    @Test func whatWasOfferedGoesOnAnswering() async throws {
        let (brief, lasting) = (Brief(evidence: self.online), ScriptedMonitor())
        let coordinator = PathCoordinator(
            backends: [Backend("brief", monitor: brief), Backend("lasting", monitor: lasting)],
            clock: ManualClock()
        )
        coordinator.start(once: true)
        while !coordinator.state.withLock({ $0.machine.isDone(0) }) { await Task.yield() }
        #expect(coordinator.route(to: .fixture("192.0.2.1")) == .noRoute)
        try await lasting.waitForRun()
        try #require(lasting.context).report(.noLink)
        #expect(coordinator.route(to: .fixture("192.0.2.1")) == .noRoute)
        #expect(coordinator.snapshots.map(\.report.health) == [.healthy, .healthy])
    }

    /// Who asks once wants to hear of no file, and who waits for the network need not.
    @Test(arguments: [(false, true, true), (false, false, false), (true, true, false)])
    func filesAreWatchedForWhomTheyConcern(_ once: Bool, _ watchingFiles: Bool, _ expected: Bool) async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(backends: [Backend("b", monitor: monitor)], clock: ManualClock())
        coordinator.start(once: once, watchingFiles: watchingFiles)
        try await monitor.waitForRun()
        #expect(try #require(monitor.context).watchesFiles == expected)
    }
}
