// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

/// When rounds run, what is reported meanwhile, and what a storm of changes costs.
struct ProbeScheduleTests {
    private func simulation(
        seed: UInt64 = 1,
        _ targets: String...,
        change: (inout TCPProbeMonitor.Options) -> Void = { _ in }
    ) throws -> Simulation {
        let targets = targets.isEmpty ? ["192.0.2.1:1"] : targets
        var options = TCPProbeMonitor.Options(targets: try targets.map { text in try ProbeTarget(text) })
        change(&options)
        return Simulation(options, seed: seed)
    }

    private static let connected: Simulation.Answer = (.milliseconds(20), .connected)
    private static let unreachable: Simulation.Answer = (.milliseconds(20), .unreachable(errno: 113))

    // MARK: Pauses

    @Test(arguments: 1...5) func whileItWorksTheIntervalHolds(seed: UInt64) throws {
        var simulation = try self.simulation(seed: seed)
        simulation.answer = { _ in Self.connected }
        simulation.run(until: .seconds(600))
        let times = simulation.connects.map(\.at)
        let pauses = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(pauses.allSatisfy { $0 >= .seconds(27) && $0 <= .milliseconds(33_020) })
        // By chance, not in step.
        #expect(Set(pauses).count == pauses.count)
    }

    @Test(arguments: 1...5) func pausesAfterFailuresDouble(seed: UInt64) throws {
        var simulation = try self.simulation(seed: seed)
        simulation.answer = { _ in Self.unreachable }
        simulation.run(until: .seconds(180))
        let times = simulation.connects.map(\.at)
        let pauses = zip(times.dropFirst(), times).map { $0 - $1 - .milliseconds(20) }
        for (pause, expected) in zip(pauses, [1, 2, 4, 8, 16, 30, 30, 30]) {
            #expect(abs(pause / .seconds(expected) - 1) <= 0.1001)
        }
        #expect(pauses.count >= 8)
    }

    // MARK: Refreshes

    @Test func aRefreshIsAnsweredAtOnceAndStartsARound() throws {
        var simulation = try self.simulation()
        simulation.answer = { _ in Self.connected }
        simulation.run(until: .seconds(5))
        #expect(simulation.reports.count == 1)
        simulation.refresh()
        // What is known stays known while the round runs.
        #expect(simulation.reports.map(\.at) == [.milliseconds(20), .seconds(5)])
        #expect(simulation.reports.last?.round.answered == true)
        #expect(simulation.connects.map(\.at) == [.zero, .seconds(5)])
        simulation.run(until: .seconds(6))
        #expect(simulation.reports.last?.at == .milliseconds(5_020))
    }

    @Test func theFirstWordWaitsForAQuickRoundOnly() throws {
        var simulation = try self.simulation()
        simulation.refresh()
        #expect(simulation.reports.isEmpty)
        simulation.run(until: .seconds(2))
        #expect(simulation.reports.map(\.at) == [ProbeSchedule.firstReportLimit])
        #expect(simulation.reports.last?.round == ProbeRound(outcomes: [], isComplete: false))
    }

    @Test func aDisturbedRoundIsReplacedSoon() throws {
        var simulation = try self.simulation()
        simulation.run(until: .milliseconds(1_000))
        // The way is free, but the packets of the round under way are lost.
        simulation.answer = { _ in Self.connected }
        simulation.refresh()
        simulation.run(until: .milliseconds(1_100))
        #expect(simulation.connects.map(\.at) == [.zero, .seconds(1)])
        #expect(simulation.closes == [.seconds(1)])
        #expect(simulation.reports.last?.round.answered == true)
    }

    @Test func aYoungRoundGetsItsChanceFirst() throws {
        var simulation = try self.simulation()
        simulation.run(until: .milliseconds(100))
        simulation.refresh()
        #expect(simulation.connects.count == 1)
        simulation.run(until: .milliseconds(300))
        #expect(simulation.connects.map(\.at) == [.zero, .milliseconds(250)])
    }

    @Test func aFailureOnTheFormerNetworkIsNotReported() throws {
        var simulation = try self.simulation()
        simulation.answer = { _ in Self.connected }
        simulation.run(until: .seconds(1))
        simulation.answer = { _ in (.milliseconds(50), .unreachable(errno: 101)) }
        simulation.refresh()
        simulation.run(until: .milliseconds(1_010))
        simulation.answer = { _ in Self.connected }
        simulation.refresh()
        simulation.run(until: .seconds(2))
        #expect(simulation.reports.count == 4)
        #expect(simulation.reports.allSatisfy { $0.round.answered })
    }

    @Test func aNetworkThatNeverRestsIsToldAboutToo() throws {
        for answer in [nil, Self.unreachable] {
            var simulation = try self.simulation { $0.maxPerMinute = 6_000 }
            simulation.answer = { _ in answer }
            for step in 1...3_000 {
                simulation.refresh()
                simulation.run(until: .milliseconds(10 * step))
            }
            #expect(simulation.reports.contains { $0.round.isComplete })
        }
    }

    // MARK: Expiry

    @Test func outcomesExpireWhenNoRoundCanEnd() throws {
        var simulation = try self.simulation { options in
            options.validFor = .seconds(5)
            options.maxPerMinute = 2
            options.interval = .seconds(30)
        }
        simulation.answer = { _ in Self.connected }
        simulation.run(until: .seconds(10))
        #expect(simulation.reports.map(\.at) == [.milliseconds(20), .milliseconds(5_020)])
        #expect(simulation.reports.last?.round == ProbeRound(outcomes: [], isComplete: false))
    }

    // MARK: Storms

    /// No 60 s hold more attempts than the limit.
    private func expectCap(_ simulation: Simulation, _ limit: Int) {
        let times = (simulation.connects.map(\.at) + simulation.lookups.map(\.at)).sorted()
        for (first, last) in zip(times, times.dropFirst(limit)) { #expect(last - first > .seconds(60)) }
    }

    static let networks: [Simulation.Answer?] = [nil, Self.connected, Self.unreachable, (.zero, .refused)]

    @Test(arguments: networks.indices) func tenThousandRefreshesStayWithinTheCap(network: Int) throws {
        var simulation = try self.simulation("192.0.2.1:1", "[2001:db8::1]:1") { $0.maxPerMinute = 30 }
        simulation.answer = { _ in Self.networks[network] }
        for step in 1...10_000 {
            simulation.refresh()
            simulation.run(until: .milliseconds(step))
        }
        // A burst, then a trickle: half the limit at once, of the other half a few rounds in these 10 s.
        #expect((15...21).contains(simulation.connects.count))
        simulation.run(until: .seconds(300))
        self.expectCap(simulation, 30)
        // The last change was not forgotten for want of attempts.
        simulation.answer = { _ in Self.connected }
        simulation.refresh()
        simulation.run(until: .seconds(320))
        #expect(simulation.reports.last?.round.answered == true)
    }

    /// However often monitors are restarted: their attempts are counted together, and what was known is told at once.
    @Test(arguments: networks.indices) func aHundredStartsHaveOneBudget(network: Int) throws {
        let options = try TCPProbeMonitor.Options.to("192.0.2.1:1", "gone.example:1") { $0.maxPerMinute = 6 }
        let ledger = ProbeLedger()
        var attempts: [Duration] = []
        var last: Duration?
        for start in 0..<600 {
            let start = Duration.milliseconds(start * 200)
            var simulation = Simulation(options, ledger: ledger, at: start)
            simulation.answer = { _ in Self.networks[network] }
            simulation.lookup = { _ in (.milliseconds(1), .failed("no such name")) }
            simulation.run(until: start + .milliseconds(199))
            attempts += (simulation.connects.map(\.at) + simulation.lookups.map(\.at)).sorted()
            if let last { #expect(simulation.reports.first?.of == last) }
            last = simulation.reports.last?.of ?? last
        }
        for (first, last) in zip(attempts, attempts.dropFirst(6)) { #expect(last - first > .seconds(60)) }
        #expect(attempts.count >= 6)
    }

    @Test func aNameThatDoesNotResolveIsLookedUpWithinTheCap() throws {
        var simulation = try self.simulation("gone.example:1") { $0.maxPerMinute = 6 }
        simulation.lookup = { _ in (.milliseconds(1), .failed("no such name")) }
        for step in 1...4_000 {
            simulation.refresh()
            simulation.run(until: .milliseconds(50 * step))
        }
        self.expectCap(simulation, 6)
        #expect(simulation.lookups.count >= 15)
        // Every refresh is answered with what is known, and since when.
        #expect(simulation.reports.count > 3_900)
        let ages = simulation.reports.map { $0.at - $0.of }
        #expect(try #require(ages.max()) <= .seconds(62))
        #expect(ages.contains { $0 > .seconds(5) })
    }

    /// Rounds come to an end in a storm however scarce attempts are: none starts from the beginning for ever.
    @Test(arguments: [2, 3, 6]) func whatAnswersLastIsFoundInAStorm(limit: Int) throws {
        for target in ["192.0.2.9:1", "a.example:1"] {
            var simulation = try self.simulation("192.0.2.1:1", "192.0.2.2:1", target) { $0.maxPerMinute = limit }
            simulation.lookup = { _ in (.milliseconds(5), .addresses([InternetAddress(ipv4: 0xC000_0209)])) }
            simulation.answer = { "\($0.address)" == "192.0.2.9" ? Self.connected : nil }
            for step in 1...1_500 {
                simulation.refresh()
                simulation.run(until: .milliseconds(100 * step))
            }
            self.expectCap(simulation, limit)
            #expect(simulation.reports.contains { $0.round.answered }, "\(target)")
        }
    }

    @Test func whatIsConnectedToNeedsNoLookup() throws {
        var simulation = try self.simulation("a.example:1", "192.0.2.1:1")
        simulation.answer = { _ in Self.connected }
        simulation.run(until: .seconds(600))
        #expect(simulation.connects.count >= 18)
        #expect(simulation.lookups.isEmpty)
    }

    /// Anything in any order: every action is legal (the simulation checks), nothing spins, and at the end the truth is
    /// known.
    @Test(arguments: 0..<200) func anyHistoryEndsWithTheTruth(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var simulation = try self.simulation(seed: seed, "192.0.2.1:1", "a.example:2", "[2001:db8::1]:3", "b.example:4")
        let addresses = ["192.0.2.7", "2001:db8::7", "192.0.2.8"].compactMap { InternetAddress($0) }
        let all = Self.networks
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            let delay = Duration.milliseconds(Int.random(in: 0...400, using: &random))
            let results = (0..<4).map { _ in all[Int.random(in: 0..<all.count, using: &random)]?.result }
            simulation.answer = { endpoint in results[Int(endpoint.address.bits % 4)].map { (delay, $0) } }
            let isFound = Bool.random(using: &random)
            simulation.lookup = { _ in (delay * 9, isFound ? .addresses(addresses) : .failed("no")) }
            if Int.random(in: 0..<3, using: &random) > 0 { simulation.refresh() }
            let pause = [0, 1, 10, 200, 2_000, 40_000].randomElement(using: &random) ?? 0
            simulation.run(until: simulation.elapsed + .milliseconds(pause))
        }
        let isOnline = Bool.random(using: &random)
        simulation.answer = { _ in isOnline ? Self.connected : nil }
        simulation.lookup = { _ in (.milliseconds(5), .addresses(addresses)) }
        simulation.refresh()
        simulation.run(until: simulation.elapsed + .seconds(150))
        let last = try #require(simulation.reports.last)
        #expect(last.round.answered == isOnline && (isOnline || last.round.isComplete), "seed \(seed)")
        self.expectCap(simulation, 60)
    }
}
