// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Synchronization
import Testing

/// Start, supervision, and the end.
@Suite(.timeLimit(.minutes(5))) struct PathCoordinatorLifetimeTests {
    // MARK: Start and stop

    @Test func startingTwiceIsStartingOnce() async throws {
        let monitor = ScriptedMonitor(.noLink)
        let coordinator = PathCoordinator(monitor)
        coordinator.refresh()
        #expect(monitor.runs == 0, "nothing happens before start")
        coordinator.start()
        coordinator.start()
        try await monitor.waitForRun()
        coordinator.start()
        #expect(monitor.runs == 1)
    }

    @Test func whatIsOffDoesNotRun() async throws {
        let (on, off) = (ScriptedMonitor(.noLink), ScriptedMonitor(.noLink))
        let coordinator = PathCoordinator(
            backends: [Backend("off", mode: .off, monitor: off), Backend("on", monitor: on)],
            clock: ManualClock()
        )
        coordinator.start()
        try await on.waitForRun()
        #expect(coordinator.path?.backends.map(\.health) == [.off, .healthy])
        #expect(off.runs == 0)
    }

    @Test func stopIsFinal() async throws {
        let clock = ManualClock()
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor, clock: clock)
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await monitor.waitForRun()
        coordinator.stop()
        coordinator.stop()
        try await monitor.waitForEnd()
        monitor.report(.through("eth1"))
        coordinator.start()
        coordinator.refresh()
        coordinator.subscribe(recorder.record)
        clock.advance(by: .seconds(60))
        #expect(recorder.paths.count == 1)
        #expect(coordinator.interfaceNames == ["eth0"], "what was known stays readable")
        #expect(monitor.runs == 1)
        try await clock.waitForNoSleeper()
    }

    @Test func aRunLastsUntilItsTaskIsCancelled() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor)
        let run = Task { try await coordinator.run() }
        try await monitor.waitForRun()
        run.cancel()
        try await run.value
        try await monitor.waitForEnd()
        #expect(monitor.runs == 1)
        await #expect(throws: CoordinatorStoppedError()) { try await coordinator.run() }
    }

    @Test func stoppingEndsARun() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor)
        coordinator.start()
        let run = Task { try await coordinator.run() }
        try await monitor.waitForRun()
        coordinator.stop()
        // It may come too late to run at all.
        do { try await run.value } catch is CoordinatorStoppedError {}
        #expect(monitor.runs == 1)
    }

    @Test func aRunOfACancelledTaskStops() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor)
        try await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await coordinator.run()
        }.value
        #expect(await coordinator.paths().first { _ in true } == nil)
    }

    @Test func stopBeforeStart() {
        let monitor = ScriptedMonitor(.noLink)
        let coordinator = PathCoordinator(monitor)
        coordinator.stop()
        coordinator.start()
        #expect(monitor.runs == 0)
    }

    @Test func theLastReferenceEndsTheBackends() async throws {
        let clock = ManualClock()
        let (silent, speaking) = (ScriptedMonitor(), ScriptedMonitor(.noLink))
        var coordinator: PathCoordinator? = PathCoordinator(silent, speaking, clock: clock)
        weak let released = coordinator
        let subscription = coordinator?.subscribe { _ in }
        coordinator?.start()
        try await silent.waitForRun()
        try await speaking.waitForRun()
        coordinator = nil
        #expect(released == nil)
        try await silent.waitForEnd()
        try await speaking.waitForEnd()
        try await clock.waitForNoSleeper()
        speaking.report(.through("eth0"))
        subscription?.cancel()
    }

    // MARK: Supervision

    @Test func aBackendThatFailsIsStartedAgain() async throws {
        let clock = ManualClock()
        let monitor = ScriptedMonitor(.through("eth0"))
        let messages = Mutex<[String]>([])
        let coordinator = PathCoordinator(monitor, clock: clock) { level, message in
            if level == .warning { messages.withLock { $0.append(message) } }
        }
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await monitor.waitForRun()
        let lateContext = try #require(monitor.context)

        monitor.fail("the socket is gone")
        try await recorder.waitForPath { $0.isStale }
        #expect(coordinator.path?.status == .satisfied)
        #expect(coordinator.path?.backends.first?.error == "the socket is gone")
        try await clock.waitForSleeper()
        #expect(monitor.runs == 1)
        clock.advance(by: .milliseconds(500))
        try await monitor.waitForRun(2)
        try await recorder.waitForPaths(3)
        #expect(recorder.paths.map(\.isStale) == [false, true, false])
        #expect(coordinator.path?.backends.first?.restarts == 1)
        lateContext.report(.noLink)
        #expect(coordinator.path?.status == .satisfied, "a late report of the first run")
        #expect(messages.withLock { $0 } == ["a: the socket is gone; it will be started again"])
    }

    @Test func silenceIsNoticed() async throws {
        let clock = ManualClock()
        let (silent, speaking) = (ScriptedMonitor(), ScriptedMonitor(.through("eth0")))
        let coordinator = PathCoordinator(silent, speaking, clock: clock)
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await silent.waitForRun()
        try await speaking.waitForRun()
        let start = clock.now()
        try await clock.waitForSleeper(until: start + .milliseconds(200))
        #expect(coordinator.path == nil)
        clock.advance(by: .milliseconds(200))
        try await recorder.waitForPaths(1)
        try await clock.waitForSleeper(until: start + .seconds(2))
        clock.advance(to: start + .seconds(2))
        try await recorder.waitForPath { $0.backends.first?.health == .unhealthy }
        silent.report(.through("eth1"))
        #expect(coordinator.interfaceNames == ["eth1"])
    }

    @Test func anUnansweredRefreshIsNoticed() async throws {
        let clock = ManualClock()
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = PathCoordinator(monitor, clock: clock)
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        coordinator.start()
        try await monitor.waitForRun()
        coordinator.refresh()
        try await monitor.waitForRefreshRequests(1)
        try await clock.waitForNoSleeper()
        #expect(recorder.paths.count == 1)

        monitor.answersRefreshes = false
        coordinator.refresh()
        try await monitor.waitForRefreshRequests(2)
        try await clock.waitForSleeper(until: clock.now() + .seconds(1))
        clock.advance(by: .seconds(1))
        try await recorder.waitForPath { $0.isStale }
        #expect(coordinator.path?.status == .satisfied)
    }

    @Test func aChangeRefreshesTheOthers() async throws {
        let (first, second) = (ScriptedMonitor(.through("eth0")), ScriptedMonitor(.through("eth0")))
        let coordinator = PathCoordinator(first, second)
        coordinator.start()
        try await first.waitForRun()
        try await second.waitForRun()
        let before = second.refreshRequests
        first.report(.noLink)
        try await second.waitForRefreshRequests(before + 1)
    }

    /// A timer that fires while another is being set must not leave that one behind.
    @Test func thereIsOneTimer() async throws {
        let clock = ManualClock()
        let monitor = ScriptedMonitor(.through("eth0"))
        monitor.answersRefreshes = false
        let coordinator = PathCoordinator(monitor, clock: clock)
        coordinator.start()
        try await monitor.waitForRun()
        for _ in 0..<100 {
            coordinator.refresh()
            try await clock.waitForSleeper(until: clock.now() + .seconds(1))
            clock.advance(by: .seconds(1))
            // The timer has fired and is on its way; meanwhile it is replaced.
            monitor.report(.through("eth0"))
            coordinator.refresh()
            for _ in 0..<10 { await Task.yield() }
            monitor.report(.through("eth0"))
            try await clock.waitForNoSleeper()
        }
    }

    // MARK: Routes

    private final class Resolver: RouteResolver {
        private let answer: @Sendable () -> RouteLookupResult
        private let atEnd: @Sendable () -> Void

        init(_ answer: @escaping @Sendable () -> RouteLookupResult, atEnd: @escaping @Sendable () -> Void = {}) {
            self.answer = answer
            self.atEnd = atEnd
        }

        deinit { self.atEnd() }

        func route(to _: InternetAddress, through _: UInt32?) -> RouteLookupResult { self.answer() }
    }

    /// A resolver may well use the coordinator when it goes away.
    @Test func noLockIsHeldWhileAResolverIsReleased() async throws {
        let monitor = ScriptedMonitor(.noLink)
        let coordinator = PathCoordinator(monitor)
        let released = Mutex<[String]>([])
        @Sendable func resolver(_ name: String) -> Resolver {
            Resolver(
                { .noRoute },
                atEnd: { [weak coordinator] in
                    let status = coordinator?.path?.status
                    released.withLock { $0.append("\(name) \(status?.rawValue ?? "nil")") }
                }
            )
        }
        coordinator.start()
        try await monitor.waitForRun()
        monitor.context?.register(resolver("first"))
        monitor.context?.register(resolver("second"))
        #expect(released.withLock { $0 } == ["first unsatisfied"])
        let recorder = PathRecorder()
        coordinator.subscribe(recorder.record)
        monitor.finish()
        try await recorder.waitForPath { $0.isStale }
        while released.withLock({ $0.count }) < 2 { await Task.yield() }
        #expect(released.withLock { $0.last } == "second unsatisfied")
    }

    @Test func theFirstResolverThatKnowsAnswers() async throws {
        let (first, second) = (ScriptedMonitor(.noLink), ScriptedMonitor(.noLink))
        let clock = ManualClock()
        let coordinator = PathCoordinator(first, second, clock: clock)
        let host = InternetAddress.fixture("192.0.2.1")
        #expect(coordinator.route(to: host) == .unknown)
        coordinator.start()
        try await first.waitForRun()
        try await second.waitForRun()
        let old = try #require(second.context)
        old.register(Resolver { .noRoute })
        #expect(coordinator.route(to: host) == .noRoute)
        first.context?.register(
            // No lock is held while it is asked.
            Resolver { [weak coordinator] in
                coordinator?.path == nil ? .noRoute : .unknown
            }
        )
        #expect(coordinator.route(to: host) == .noRoute)
        first.context?.register(Resolver { .rejected(.prohibit) })
        #expect(coordinator.route(to: host) == .rejected(.prohibit))

        first.fail("gone")
        second.fail("gone")
        try await first.waitForEnd()
        try await second.waitForEnd()
        // Both have to wait for their next run before its time comes.
        while coordinator.snapshots.contains(where: { $0.report.health != .unhealthy }) { await Task.yield() }
        try await clock.waitForSleeper()
        clock.advance(by: .milliseconds(500))
        try await first.waitForRun(2)
        try await second.waitForRun(2)
        #expect(coordinator.route(to: host) == .unknown, "an offer lasts as long as the run")
        old.register(Resolver { .noRoute })
        #expect(coordinator.route(to: host) == .unknown, "a late offer of the first run")
    }

    @Test func watchedAddressesReachEveryRun() async throws {
        let clock = ManualClock()
        let monitor = ScriptedMonitor(.noLink)
        let coordinator = PathCoordinator(monitor, clock: clock)
        let (one, two): (Set<InternetAddress>, Set<InternetAddress>) = (
            [.fixture("192.0.2.1")], [.fixture("2001:db8::1")]
        )
        let watch = coordinator.watchRoutes(to: one)
        coordinator.start()
        try await monitor.waitForWatchedAddresses(one)
        watch.change(to: two)
        try await monitor.waitForWatchedAddresses(two)
        monitor.fail("gone")
        try await clock.waitForSleeper()
        clock.advance(by: .milliseconds(500))
        try await monitor.waitForRun(2)
        while monitor.watchedAddresses.count < 3 { await Task.yield() }
        #expect(monitor.watchedAddresses == [one, two, two])
    }

    @Test func messagesNameTheBackend() async throws {
        let messages = Mutex<[String]>([])
        let monitor = ScriptedMonitor(.noLink)
        let coordinator = PathCoordinator(monitor) { level, message in
            messages.withLock { $0.append("\(level): \(message)") }
        }
        coordinator.start()
        try await monitor.waitForRun()
        monitor.context?.log(.info, "no IPv6 here")
        #expect(messages.withLock { $0 } == ["info: a: no IPv6 here"])
    }
}
