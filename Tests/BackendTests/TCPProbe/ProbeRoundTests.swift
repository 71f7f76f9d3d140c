// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Testing

@testable import NetPathTCPProbe

/// One round: whom it asks, in which order, and what it makes of the answers.
struct ProbeRoundTests {
    private static let dead = ["192.0.2.1:1", "[2001:db8::1]:1", "192.0.2.3:1"]

    private func simulation(
        _ targets: [String],
        change: (inout TCPProbeMonitor.Options) -> Void = { _ in }
    ) throws -> Simulation {
        var options = TCPProbeMonitor.Options(targets: try targets.map { text in try ProbeTarget(text) })
        change(&options)
        return Simulation(options)
    }

    @Test func attemptsAreStaggeredAndTimeOut() throws {
        var simulation = try self.simulation(Self.dead)
        simulation.run(until: .milliseconds(3_600))
        #expect(simulation.connects.map(\.at) == [.zero, .milliseconds(250), .milliseconds(500)])
        #expect(simulation.connects.map(\.to) == ["192.0.2.1", "2001:db8::1", "192.0.2.3"])
        #expect(simulation.closes == [.milliseconds(3_000), .milliseconds(3_250), .milliseconds(3_500)])
        let round = ProbeRound(
            outcomes: Self.dead.map { ProbeOutcome(target: $0, result: .timedOut) },
            isComplete: true
        )
        #expect(simulation.reports.last?.round == round)
        #expect(simulation.reports.last?.at == .milliseconds(3_500))
    }

    @Test func aFailureStartsTheNextAtOnce() throws {
        var simulation = try self.simulation(Self.dead)
        simulation.answer = { _ in (.milliseconds(10), .unreachable(errno: 113)) }
        simulation.run(until: .milliseconds(100))
        #expect(simulation.connects.map(\.at) == [.zero, .milliseconds(10), .milliseconds(20)])
        #expect(simulation.reports.map(\.at) == [.milliseconds(30)])
        #expect(simulation.reports.last?.round.isComplete == true)
        #expect(simulation.closes.isEmpty)
    }

    @Test(arguments: [ProbeOutcome.Result.connected, .refused])
    func theFirstAnswerEndsTheRound(result: ProbeOutcome.Result) throws {
        var simulation = try self.simulation(Self.dead)
        simulation.answer = { $0.address.family == .ipv6 ? (.milliseconds(300), result) : nil }
        simulation.run(until: .seconds(2))
        // The others are given up, and of them nothing is known.
        #expect(simulation.connects.count == 3)
        #expect(simulation.closes == [.milliseconds(550), .milliseconds(550)])
        #expect(simulation.reports.count == 1)
        let round = try #require(simulation.reports.first?.round)
        #expect(round == ProbeRound(outcomes: [ProbeOutcome(target: Self.dead[1], result: result)], isComplete: false))
        #expect(round.outcomes.first?.roundTrip == .milliseconds(300))
        #expect(!simulation.isBusy)
    }

    @Test func anAnswerInTimeCountsHoweverManyFailedBefore() throws {
        var simulation = try self.simulation(Self.dead)
        simulation.answer = {
            "\($0.address)" == "192.0.2.3" ? (.milliseconds(5), .connected) : (.zero, .unreachable(errno: 101))
        }
        simulation.run(until: .seconds(1))
        let round = try #require(simulation.reports.last?.round)
        #expect(round.isComplete)
        #expect(round.outcomes.map(\.result) == [.unreachable(errno: 101), .unreachable(errno: 101), .connected])
    }

    @Test func whatAnsweredIsAskedFirstNextTime() throws {
        var simulation = try self.simulation(Self.dead) { $0.interval = .seconds(10) }
        simulation.answer = { "\($0.address)" == "192.0.2.3" ? (.milliseconds(5), .connected) : nil }
        simulation.run(until: .seconds(12))
        #expect(simulation.connects.map(\.to) == ["192.0.2.1", "2001:db8::1", "192.0.2.3", "192.0.2.3"])
    }

    @Test func familiesAlternate() throws {
        var simulation = try self.simulation(["example.net:443", "192.0.2.9:443"]) { $0.stagger = .milliseconds(100) }
        let addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2"]
        simulation.lookup = { _ in (.milliseconds(50), .addresses(addresses.compactMap { InternetAddress($0) })) }
        simulation.run(until: .seconds(1))
        #expect(
            simulation.connects.map(\.to)
                == ["192.0.2.9", "2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "2001:db8::3"]
        )
        // Nothing waits for the resolver that need not.
        #expect(simulation.connects.first?.at == .zero)
    }

    @Test func ofThousandAddressesEightAreTried() throws {
        var simulation = try self.simulation(["many.example:1"])
        let ipv4 = (0..<500).map { InternetAddress(ipv4: 0x0A00_0000 + UInt32($0)) }
        let ipv6 = (0..<500).map { InternetAddress(ipv6: 0x2001_0DB8 << 96 + UInt128($0)) }
        simulation.lookup = { _ in (.milliseconds(1), .addresses(ipv4 + ipv6 + ipv4)) }
        simulation.answer = { _ in (.zero, .unreachable(errno: 113)) }
        simulation.run(until: .milliseconds(500))
        #expect(simulation.connects.count == 8)
        #expect(simulation.connects.prefix(4).map(\.to) == ["10.0.0.0", "2001:db8::", "10.0.0.1", "2001:db8::1"])
        #expect(simulation.reports.last?.round.outcomes.map(\.result) == [.unreachable(errno: 113)])
    }

    @Test func ofSeveralFailuresTheTellingOneIsReported() throws {
        for addresses in [["2001:db8::1", "192.0.2.1", "192.0.2.2"], ["192.0.2.2", "192.0.2.1", "2001:db8::1"]] {
            var simulation = try self.simulation(["a.example:1"])
            simulation.lookup = { _ in (.zero, .addresses(addresses.compactMap { InternetAddress($0) })) }
            // EHOSTUNREACH.
            let results = ["2001:db8::1": SystemError.networkUnreachable.errno, "192.0.2.1": 113]
            simulation.answer = { endpoint in
                results["\(endpoint.address)"].map { (.zero, .unreachable(errno: $0)) }
            }
            simulation.run(until: .seconds(4))
            #expect(simulation.reports.last?.round.outcomes.map(\.result) == [.timedOut])
        }
    }

    // MARK: Names

    @Test(arguments: [NameLookup.failed("no"), .addresses([])])
    func aNameWithoutAddress(lookup: NameLookup) throws {
        var simulation = try self.simulation(["a.example:1", "a.example:2"])
        simulation.lookup = { _ in (.milliseconds(20), lookup) }
        simulation.run(until: .milliseconds(500))
        // One lookup for both.
        #expect(simulation.lookups.count == 1)
        #expect(simulation.reports.last?.round.outcomes.map(\.result) == [.notResolved, .notResolved])
        #expect(simulation.reports.last?.round.isComplete == true)
    }

    @Test func aHangingResolverIsNotWaitedForLongerThanTheTimeout() throws {
        var simulation = try self.simulation(["a.example:1"])
        simulation.run(until: .seconds(30))
        #expect(simulation.reports.first { $0.round.isComplete }?.at == .seconds(3))
        #expect(simulation.reports.last?.round.outcomes.map(\.result) == [.notResolved])
        // However many rounds: nothing more is asked while the first lookup hangs.
        #expect(simulation.lookups.count == 1)
        // An address that comes late is good for the next round.
        simulation.answer = { _ in (.milliseconds(1), .connected) }
        simulation.refresh()
        simulation.resolve("a.example", .addresses([InternetAddress(ipv4: 0xC000_0201)]))
        simulation.run(until: .seconds(32))
        #expect(simulation.reports.last?.round.answered == true)
    }

    @Test func aFailureFromAnotherNetworkIsAskedAgain() throws {
        var simulation = try self.simulation(["a.example:1"])
        simulation.run(until: .milliseconds(3_500))
        #expect(simulation.lookups.count == 1)
        simulation.refresh()
        simulation.resolve("a.example", .failed("name server out of reach"))
        #expect(simulation.lookups.count == 2)
        simulation.resolve("a.example", .addresses([InternetAddress(ipv4: 0xC000_0201)]))
        #expect(simulation.connects.count == 1)
    }
}
