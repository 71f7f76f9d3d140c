// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath

/// A new configuration while everything runs.
@Suite(.timeLimit(.minutes(5))) struct ReconfigurationTests {
    private let online = Evidence.through("eth0")

    // MARK: On paper

    @Test func whoIsKeptRunsOn() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        let ids = harness.apply([("new", .active), ("b0", .active)], keeping: ["b0", "new"])
        #expect(ids == [2, 0])
        #expect(harness.cancelled == [1])
        #expect(harness.health == [.starting, .healthy])
        #expect(harness.path?.status == .satisfied)
        harness.end(1)
        #expect(harness.warnings.isEmpty, "nobody misses it")
        harness.report(2, .noLink)
        #expect(harness.path?.status == .unsatisfied, "the new one is of higher priority")
    }

    @Test func theLastWordOfASuccessorsPredecessorStands() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        let partialNo = Evidence.seeing(NetworkInterface.wired("eth0", 2).with("192.0.2.7/24"))
            .changed { $0.isPartial = true }
        harness.report(1, partialNo)
        harness.apply([("b0", .active), ("b1", .active)], keeping: ["b1"])
        harness.report(1, partialNo)
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        harness.report(2, self.online)
        #expect(harness.path?.isStale == false)
        harness.apply([("b1", .active)], keeping: ["b1"])
        #expect(harness.path?.status == .unsatisfied, "there is no stronger backend any more")
    }

    /// A whole no of another backend does not decide before the successor has had the time for its first report.
    @Test func theSuccessorHasItsTime() {
        let noRoute = Evidence.seeing(NetworkInterface.wired("eth0", 2).with("192.0.2.7/24"))
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, noRoute)
        harness.apply([("b0", .active), ("b1", .active)], keeping: ["b1"])
        harness.report(1, noRoute)
        harness.advance(by: .milliseconds(1_999))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        harness.advance(by: .milliseconds(1))
        harness.report(1, noRoute)
        #expect(harness.path?.status == .unsatisfied)
    }

    @Test func whoMayHaveToStandInForAReplacedOneLooksAgain() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        let asked = harness.refreshed.count
        harness.apply([("b0", .active), ("b1", .active)], keeping: ["b1"])
        #expect(harness.refreshed.dropFirst(asked) == [1])
        harness.end(2)
        harness.report(1, self.online)
        #expect(harness.path?.isStale == false)
    }

    @Test func modesChangeWhileRunning() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        harness.apply([("b0", .active), ("b1", .standby)], keeping: ["b0", "b1"])
        #expect(harness.cancelled == [1])
        harness.end(1)
        harness.apply([("b0", .off), ("b1", .standby)], keeping: ["b0", "b1"])
        #expect(harness.cancelled == [1, 0])
        #expect(harness.running.contains(1))
        #expect(harness.health == [.off, .starting])
        #expect(harness.path?.isStale == true)
        harness.end(0)
        harness.apply([("b0", .active), ("b1", .off)], keeping: ["b0", "b1"])
        #expect(harness.running.contains(0))
        #expect(harness.cancelled == [1, 0, 1])
    }

    @Test func settingsApplyAtOnce() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, .noLink)
        let names: [(name: String, mode: BackendMode)] = [("b0", .active), ("b1", .active)]
        harness.apply(names, settings: CoordinatorSettings(merge: .unanimous), keeping: ["b0", "b1"])
        #expect(harness.path?.status == .unsatisfied)
        var ignoring = InterfaceRule(InterfaceRule.Match(name: GlobPattern("eth0")))
        ignoring.isIgnored = true
        let settings = CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [ignoring]))
        harness.apply(names, settings: settings, keeping: ["b0", "b1"])
        #expect(harness.path?.reason.code == .ignoredInterface)
    }

    @Test func newRulesAskTheRunningBackendsToLookAgain() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.apply([("b0", .active)], keeping: ["b0"])
        #expect(harness.refreshed.isEmpty, "the rules are the same")
        var dialling = InterfaceRule(InterfaceRule.Match(name: GlobPattern("ppp*")))
        dialling.dialsOnDemand = true
        let settings = CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [dialling]))
        harness.apply([("b0", .active)], settings: settings, keeping: ["b0"])
        #expect(harness.refreshed == [0])
    }

    @Test func beforeTheStartItOnlyReplaces() {
        var harness = CoordinatorHarness(.active)
        harness.apply([("x", .active), ("y", .standby)])
        #expect(harness.running.isEmpty)
        harness.start()
        #expect(harness.running == [1])
    }

    // MARK: With threads

    @Test func subscribersStay() async throws {
        let (first, second) = (ScriptedMonitor(self.online), ScriptedMonitor(.through("eth1")))
        let coordinator = PathCoordinator(first, clock: ManualClock())
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await first.waitForRun()
        coordinator.apply(backends: [Backend("a", monitor: second)], settings: CoordinatorSettings(), keeping: [])
        try await first.waitForEnd()
        try await recorder.waitForPath { $0.interfaces.first?.name == "eth1" }
        #expect(recorder.paths.allSatisfy { $0.status == .satisfied })
        #expect(recorder.paths.map(\.isStale) == [false, true, false])
        first.report(.noLink)
        #expect(coordinator.interfaceNames == ["eth1"], "a word of somebody who is no longer there")
        coordinator.stop()
        coordinator.apply(backends: [Backend("b", monitor: first)], settings: CoordinatorSettings(), keeping: [])
        #expect(first.runs == 1)
    }

    @Test func aKeptBackendKeepsItsMonitor() async throws {
        let (kept, other, unused) = (ScriptedMonitor(self.online), ScriptedMonitor(self.online), ScriptedMonitor())
        let coordinator = PathCoordinator(kept, clock: ManualClock())
        coordinator.start()
        try await kept.waitForRun()
        coordinator.apply(
            backends: [Backend("b", monitor: other), Backend("a", monitor: unused)],
            settings: CoordinatorSettings(merge: .any),
            keeping: ["a"]
        )
        try await other.waitForRun()
        kept.report(.noLink)
        #expect(coordinator.snapshots.map(\.report.name) == ["b", "a"])
        #expect(coordinator.snapshots.map(\.verdict?.status) == [.satisfied, .unsatisfied])
        #expect(unused.runs == 0)
        #expect(kept.endedRuns == 0)
    }

    @Test func snapshotsAreToldWithoutAPath() async throws {
        let monitor = ScriptedMonitor(self.online.unanswered(.ipv4))
        let coordinator = PathCoordinator(monitor, clock: ManualClock())
        let healths = Mutex<[[BackendHealth]]>([])
        let subscription = coordinator.subscribeSnapshots { snapshots in
            healths.withLock { $0.append(snapshots.map(\.report.health)) }
        }
        #expect(healths.withLock { $0 } == [[.starting]], "the current ones first")
        coordinator.start()
        try await monitor.waitForRun()
        #expect(coordinator.path == nil)
        #expect(healths.withLock { $0.last } == [.healthy])
        let count = healths.withLock { $0.count }
        monitor.report(self.online.unanswered(.ipv4))
        #expect(healths.withLock { $0.count } == count + 1, "every report")
        subscription.cancel()
        monitor.report(self.online)
        #expect(healths.withLock { $0.count } == count + 1)
    }

    @Test func aStandbyTakesOverAndHandsBack() async throws {
        let clock = ManualClock()
        let (first, standby) = (ScriptedMonitor(self.online), ScriptedMonitor(self.online))
        let coordinator = PathCoordinator(
            backends: [Backend("a", monitor: first), Backend("b", mode: .standby, monitor: standby)],
            clock: clock
        )
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await first.waitForRun()
        #expect(standby.runs == 0)
        for round in 1...20 {
            first.fail("killed")
            try await standby.waitForRun(round)
            try await recorder.waitForPath { !$0.isStale && $0.backends.map(\.health) == [.unhealthy, .healthy] }
            clock.advance(by: .seconds(30))
            try await first.waitForRun(round + 1)
            try await standby.waitForEnd(ofRun: round)
            #expect(coordinator.path?.backends.map(\.health) == [.healthy, .standby])
        }
        #expect(recorder.paths.allSatisfy { $0.status == .satisfied })
    }

    /// Reports, failures, and configurations from several threads at once: nothing is lost, nobody runs twice.
    @Test func reconfiguringUnderLoad() async throws {
        let kept = ScriptedMonitor(self.online)
        let coordinator = PathCoordinator(kept, clock: ManualClock())
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await kept.waitForRun()
        // Its answer to a refresh could overtake what it reports at the same time.
        kept.answersRefreshes = false
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for step in 0..<500 { kept.report(.through("eth\(step)")) } }
            group.addTask {
                for step in 0..<100 {
                    let other = ScriptedMonitor(.through("other\(step)"))
                    let backends = [Backend("a", monitor: kept), Backend("b", monitor: other)]
                    coordinator.apply(backends: backends, settings: CoordinatorSettings(), keeping: ["a"])
                }
            }
            group.addTask { for _ in 0..<200 { coordinator.refresh() } }
        }
        #expect(kept.runs == 1)
        while coordinator.interfaceNames != ["eth499"] {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(recorder.paths.allSatisfy { $0.status == .satisfied })
        #expect(zip(recorder.paths, recorder.paths.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }
}
