// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Synchronization
import Testing

/// Callbacks: who is called when, by whom, and what may be done inside.
@Suite(.timeLimit(.minutes(5))) struct PathCoordinatorTests {
    @Test func theCurrentPathComesFirst() async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(monitor)
        let (early, late) = (PathRecorder(), PathRecorder())
        coordinator.subscribe(early.record)
        coordinator.start()
        try await monitor.waitForRun()
        #expect(coordinator.path == nil)
        #expect(early.paths.isEmpty, "no verdict, no path")

        monitor.report(.through("eth0"))
        monitor.report(.through("eth1"))
        coordinator.subscribe(late.record)
        #expect(late.paths.map(\.sequence) == [2], "before subscribe returned")
        monitor.report(.noLink)
        #expect(early.paths.map(\.sequence) == [1, 2, 3])
        #expect(late.paths.map(\.sequence) == [2, 3])
        #expect(coordinator.path == late.paths.last)
        #expect(coordinator.snapshots.map(\.verdict?.status) == [.unsatisfied])
    }

    @Test func equalReportsAreNotRepublished() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor)
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await monitor.waitForRun()
        for second in 1...5 {
            monitor.report(.through("eth0").changed { $0.observedAt = $0.observedAt + .seconds(second) })
        }
        #expect(recorder.paths.count == 1)
    }

    /// What sends packets is told whether they cost money before it is asked to send some.
    @Test func backendsAreToldWhetherThePathIsMetered() async throws {
        let (monitor, probe) = (ScriptedMonitor(.through("eth0")), ScriptedMonitor(.probing()))
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("eth1")))
        rule.isConstrained = true
        let coordinator = PathCoordinator(
            backends: [Backend("b0", monitor: monitor), Backend("b1", monitor: probe)],
            settings: CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule]))
        )
        coordinator.start()
        try await monitor.waitForRun()
        try await probe.waitForRun()
        let context = try #require(probe.context)
        #expect(!context.isMetered())
        #expect(!context.isMetered(through: "eth0") && !context.isMetered(through: "eth1"))
        let asked = probe.refreshRequests
        monitor.report(.through("eth1"))
        try await probe.waitForRefreshRequests(asked + 1)
        #expect(coordinator.path?.isConstrained == true)
        #expect(context.isMetered())
        // What leaves through another interface costs what that one costs.
        #expect(context.isMetered(through: "eth1") && !context.isMetered(through: "eth0"))
        monitor.report(.seeing(.wired("eth0", 2), .cellular("wwan0", 3)))
        #expect(context.isMetered(through: "wwan0") && !context.isMetered(through: "eth0"))
        coordinator.stop()
    }

    @Test func callbacksComeOneAtATimeAndInOrder() async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(monitor)
        let recorder = PathRecorder()
        let isInside = Atomic(false)
        let overlaps = Atomic(0)
        coordinator.subscribe { path in
            if isInside.exchange(true, ordering: .acquiringAndReleasing) { overlaps.add(1, ordering: .relaxed) }
            recorder.record(path)
            isInside.store(false, ordering: .releasing)
        }
        coordinator.start()
        try await monitor.waitForRun()
        let context = try #require(monitor.context)
        await withTaskGroup(of: Void.self) { group in
            for reporter in 0..<4 {
                group.addTask {
                    for step in 0..<200 { context.report(.through("eth\(reporter)-\(step)")) }
                }
            }
        }
        let paths = recorder.paths
        #expect(overlaps.load(ordering: .relaxed) == 0)
        #expect(paths.count == 800)
        #expect(zip(paths, paths.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
        #expect(paths.last == coordinator.path)
    }

    /// A callback that takes long holds up the backend that called it, which is no silence of its own.
    @Test func aBackendThatASubscriberHoldsUpIsNotSilent() async throws {
        let clock = ManualClock()
        let (held, silent) = (ScriptedMonitor(.through("eth0")), ScriptedMonitor(.through("eth0")))
        let coordinator = PathCoordinator(held, silent, clock: clock)
        for monitor in [held, silent] { monitor.answersRefreshes = false }
        coordinator.start()
        try await held.waitForRun()
        try await silent.waitForRun()
        let isInside = AwaitableState(false)
        let mayReturn = DispatchSemaphore(value: 0)
        coordinator.subscribe { path in
            guard path.interfaces.first?.name == "eth1", !isInside.value else { return }
            isInside.update { $0 = true }
            mayReturn.wait()
        }
        let thread = Thread { held.report(.through("eth1")) }
        thread.start()
        try await isInside.wait { $0 }
        coordinator.refresh()
        clock.advance(by: .seconds(1))
        while coordinator.snapshots[1].report.health != .unhealthy { await Task.yield() }
        #expect(coordinator.snapshots[0].report.health == .healthy)
        mayReturn.signal()
        // From then on it has the usual time.
        try await clock.waitForSleeper(until: clock.now() + .seconds(1))
        clock.advance(by: .seconds(1))
        while coordinator.snapshots[0].report.health != .unhealthy { await Task.yield() }
        coordinator.stop()
    }

    // MARK: Inside a callback

    @Test func nothingFollowsACancelInsideTheCallback() async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(monitor)
        let recorder = PathRecorder()
        let subscription = Mutex<ObservationToken?>(nil)
        let registered = coordinator.subscribe { path in
            recorder.record(path)
            // Publishes two more before this call returns.
            monitor.report(.through("again-\(path.sequence)"))
            monitor.report(.through("and-again-\(path.sequence)"))
            subscription.withLock { $0 }?.cancel()
        }
        subscription.withLock { $0 = registered }
        coordinator.start()
        try await monitor.waitForRun()
        monitor.report(.through("eth0"))
        monitor.report(.through("eth1"))
        #expect(recorder.paths.count == 1)
        #expect(coordinator.path?.sequence == 4)
    }

    @Test func aCallbackMayDoAnythingWithTheCoordinator() async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(monitor)
        let (inner, seen) = (PathRecorder(), PathRecorder())
        coordinator.subscribe { [weak coordinator] path in
            seen.record(path)
            guard let coordinator else { return }
            #expect(coordinator.path?.sequence ?? 0 >= path.sequence)
            #expect(!coordinator.snapshots.isEmpty)
            #expect(coordinator.route(to: .fixture("192.0.2.1")) == .unknown)
            coordinator.watchRoutes(to: [.fixture("192.0.2.1")])
            coordinator.refresh()
            coordinator.start()
            coordinator.subscribe(inner.record).cancel()
            coordinator.subscribe(inner.record)
            if path.interfaces.first?.name == "last" { coordinator.stop() }
        }
        coordinator.start()
        try await monitor.waitForRun()
        monitor.report(.through("eth0"))
        #expect(inner.paths.map(\.sequence) == [1], "called after the callback that subscribed it")
        monitor.report(.through("last"))
        monitor.report(.through("too late"))
        #expect(seen.paths.map { $0.interfaces.first?.name } == ["eth0", "last"])
        try await monitor.waitForEnd()
    }

    private final class Sentinel: Sendable {
        let atEnd: @Sendable () -> Void
        init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
        func touch() {}
        deinit { self.atEnd() }
    }

    /// A captured object may well use the coordinator when it goes away.
    @Test func noLockIsHeldWhileACallbackIsReleased() {
        let coordinator = PathCoordinator(ScriptedMonitor())
        let ended = Atomic(0)
        func subscribe() -> ObservationToken {
            let sentinel = Sentinel { [weak coordinator] in
                _ = coordinator?.path
                ended.add(1, ordering: .relaxed)
            }
            return coordinator.subscribe { _ in sentinel.touch() }
        }
        subscribe().cancel()
        #expect(ended.load(ordering: .relaxed) == 1)
        _ = subscribe()
        coordinator.stop()
        #expect(ended.load(ordering: .relaxed) == 2)
    }
}
