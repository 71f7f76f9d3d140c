// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath

/// The notice that a route to a watched host may have changed.
@Suite(.timeLimit(.minutes(5))) struct RouteWatchTests {
    private let monitor = ScriptedMonitor(.noLink)
    private let coordinator: PathCoordinator
    private let recorder = PathRecorder()

    /// How often somebody was told.
    private final class Counter: Sendable {
        private let atomic = Atomic(0)
        var value: Int { self.atomic.load(ordering: .relaxed) }
        func count() { self.atomic.add(1, ordering: .relaxed) }
    }

    init() async throws {
        self.coordinator = PathCoordinator(backends: [Backend("scripted", monitor: self.monitor)])
        self.coordinator.subscribe(self.recorder.record)
        self.coordinator.start()
        try await self.monitor.waitForRun()
    }

    @Test func aNoticePublishesNothing() throws {
        let counter = Counter()
        self.coordinator.watchRoutes(to: [.fixture("203.0.113.9")], onChange: counter.count)
        #expect(counter.value == 0)
        self.monitor.context?.routesChanged()
        self.monitor.context?.routesChanged()
        #expect(counter.value == 2)
        #expect(self.recorder.paths.count == 1)
    }

    @Test func evidenceAndResolversMayChangeAnswers() throws {
        struct Resolver: RouteResolver {
            func route(to _: InternetAddress, through _: UInt32?) -> RouteLookupResult { .noRoute }
        }
        let counter = Counter()
        self.coordinator.watchRoutes(to: [], onChange: counter.count)
        self.monitor.context?.register(Resolver())
        #expect(counter.value == 1)
        self.monitor.report(.online(.wired("eth0", 2).with("192.0.2.2/24"), gateway: "192.0.2.1"))
        #expect(counter.value == 2)
    }

    @Test func aBackendThatIsCancelledAnswersNoMoreAndThatIsTold() async throws {
        struct Resolver: RouteResolver {
            func route(to _: InternetAddress, through _: UInt32?) -> RouteLookupResult { .noRoute }
        }
        let (monitor, clock, counter) = (ScriptedMonitor(.noLink), ManualClock(), Counter())
        let coordinator = PathCoordinator(backends: [Backend("wedged", monitor: monitor)], clock: clock)
        coordinator.start()
        try await monitor.waitForRun()
        monitor.context?.register(Resolver())
        let host = InternetAddress.fixture("203.0.113.9")
        coordinator.watchRoutes(to: [host]) { if coordinator.route(to: host) == .unknown { counter.count() } }
        monitor.answersRefreshes = false
        coordinator.refresh()
        for limit in [Supervision.answerLimit, Supervision.wedgedLimit] {
            try await clock.waitForSleeper()
            clock.advance(by: limit)
        }
        try await monitor.waitForEnd()
        #expect(coordinator.route(to: host) == .unknown)
        while counter.value == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func everybodysHostsAreWatched() async throws {
        let (one, two): (InternetAddress, InternetAddress) = (.fixture("203.0.113.9"), .fixture("2001:db8::9"))
        let first = self.coordinator.watchRoutes(to: [one])
        let second = self.coordinator.watchRoutes(to: [one, two])
        try await self.monitor.waitForWatchedAddresses([one, two])
        second.cancel()
        try await self.monitor.waitForWatchedAddresses([one])
        let counter = Counter()
        let third = self.coordinator.watchRoutes(to: [one], onChange: counter.count)
        third.cancel()
        self.monitor.context?.routesChanged()
        #expect(counter.value == 0)
        first.cancel()
        try await self.monitor.waitForWatchedAddresses([])
    }

    @Test func anEndedWatchMayEndItselfInsideTheCall() throws {
        let counter = Counter()
        let watch = Mutex<RouteWatch?>(nil)
        let made = self.coordinator.watchRoutes(to: []) {
            counter.count()
            watch.withLock { $0 }?.cancel()
        }
        watch.withLock { $0 = made }
        self.monitor.context?.routesChanged()
        self.monitor.context?.routesChanged()
        #expect(counter.value == 1)
    }
}
