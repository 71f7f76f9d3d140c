// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

/// What is counted of a coordinator.
@Suite(.timeLimit(.minutes(5))) struct CoordinatorTallyTests {
    private let clock = ManualClock()
    private let monitor = ScriptedMonitor()
    private let coordinator: PathCoordinator

    init() async throws {
        self.coordinator = PathCoordinator(backends: [Backend("one", monitor: self.monitor)], clock: self.clock)
        #expect(self.coordinator.tally == nil)
        self.coordinator.keepTally()
        self.coordinator.start()
        try await self.monitor.waitForRun()
    }

    private var counts: CoordinatorTally {
        get throws { try #require(self.coordinator.tally).counts }
    }

    @Test func readingsAreCounted() throws {
        for evidence in [Evidence.through("eth0"), .through("eth0"), .noLink, .noLink] { self.monitor.report(evidence) }
        let backend = try #require(try self.counts.backends["one"])
        #expect(backend.reports == 4)
        #expect(backend.reportsWithoutChange == 2)
        #expect(backend.latency.counts.reduce(0, +) == 2)
        #expect(try self.counts.paths == 2)
    }

    @Test func downtimeIsAddedUpByReason() throws {
        self.monitor.report(.through("eth0"))
        self.clock.advance(by: .seconds(10))
        self.monitor.report(.noLink)
        self.clock.advance(by: .seconds(7))
        let (during, now) = try #require(self.coordinator.tally)
        #expect(during.downtime(at: now) == [.noCarrier: .seconds(7)])
        #expect(during.statusAge(at: now) == .seconds(7))
        self.monitor.report(.through("eth0"))
        self.clock.advance(by: .seconds(100))
        let (after, later) = try #require(self.coordinator.tally)
        #expect(after.downtime(at: later) == [.noCarrier: .seconds(7)])
        #expect(after.statusAge(at: later) == .seconds(100))
        #expect(after.changes == [.unsatisfied: 1, .satisfied: 1])
        #expect(after.time(in: .satisfied, at: later) == .seconds(110))
        #expect(after.time(in: .unsatisfied, at: later) == .seconds(7))
        #expect(after.time(in: .requiresConnection, at: later) == .zero)
    }

    @Test func aRoundThatIsToldAgainIsCountedOnce() throws {
        let start = self.clock.now()
        let answered = ProbeOutcome(target: "a:1", result: .connected, roundTrip: .milliseconds(3))
        let failed = ProbeOutcome(target: "b:1", result: .timedOut)
        for _ in 0..<3 { self.monitor.report(.probing(answered, failed, at: start)) }
        let next = ProbeOutcome(target: "a:1", result: .connected, roundTrip: .milliseconds(4))
        self.monitor.report(.probing(next, failed, at: start + .seconds(30)))
        let targets = try self.counts.targets
        #expect(targets["a:1"]?.results == [.connected: 2])
        #expect(targets["a:1"]?.latest == [.milliseconds(3), .milliseconds(4)])
        #expect(targets["a:1"]?.roundTrips.sum == .milliseconds(7))
        #expect(targets["b:1"]?.results == [.timedOut: 2])
        #expect(targets["b:1"]?.latest == [nil, nil])
    }

    @Test func onlyTheLatestRoundTripsAreKept() throws {
        for number in 1...100 {
            let outcome = ProbeOutcome(target: "a:1", result: .connected, roundTrip: .milliseconds(number))
            self.monitor.report(.probing(outcome, at: self.clock.now() + .seconds(number)))
        }
        let target = try #require(try self.counts.targets["a:1"])
        #expect(target.latest.count == CoordinatorTally.Target.kept)
        #expect(target.latest.last == .milliseconds(100))
        #expect(target.roundTrips.counts.reduce(0, +) == 100)
    }
}
