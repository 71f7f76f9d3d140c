// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

/// What rounds cost where nothing answers them, and where packets cost money.
struct ProbeCostTests {
    private static let connected: Simulation.Answer = (.milliseconds(20), .connected)
    private static let addresses = ["2001:db8::7", "192.0.2.7"].compactMap { InternetAddress($0) }
    /// Linux sends a SYN at once and every second, and an attempt is given up after three.
    private static let transmissions = 3

    private func simulation(
        seed: UInt64 = 1,
        _ target: String = "192.0.2.1:1",
        change: (inout TCPProbeMonitor.Options) -> Void = { _ in }
    ) throws -> Simulation {
        var options = try TCPProbeMonitor.Options.to(target)
        change(&options)
        var simulation = Simulation(options, seed: seed)
        simulation.lookup = { _ in (.milliseconds(5), .addresses(Self.addresses)) }
        return simulation
    }

    // MARK: Black holes

    @Test(arguments: 1...20, ["192.0.2.1:1", "two.example:1"])
    func aBlackHoleCostsAtMostSixtyPacketsAnHour(seed: UInt64, target: String) throws {
        var simulation = try self.simulation(seed: seed, target)
        simulation.run(until: .seconds(4 * 3_600))
        let times = simulation.connects.map(\.at)
        for start in times {
            let count = times.count { $0 >= start && $0 < start + .seconds(3_600) }
            #expect(count * Self.transmissions <= 60, "from \(start) on")
        }
        // It is looked at soon at first, and never given up.
        #expect(times.count { $0 < .seconds(60) } >= 5)
        #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 < .seconds(410) })
        // It counts as silent all the time.
        let last = try #require(simulation.reports.last)
        #expect(last.round.isComplete && !last.round.answered)
        #expect(simulation.reports.dropFirst(2).allSatisfy { $0.round.isComplete })
    }

    @Test func aChangeEndsTheLongPause() throws {
        var simulation = try self.simulation()
        simulation.run(until: .seconds(3_000))
        simulation.answer = { _ in Self.connected }
        simulation.refresh()
        simulation.run(until: .seconds(3_001))
        #expect(simulation.reports.last?.round.answered == true)
    }

    /// Of a name one address at a time is tried, each in its turn.
    @Test(arguments: 0...1) func theAddressThatComesBackIsFound(index: Int) throws {
        var simulation = try self.simulation("two.example:1")
        simulation.run(until: .seconds(3_000))
        simulation.answer = { $0.address == Self.addresses[index] ? Self.connected : nil }
        simulation.run(until: .seconds(3_900))
        #expect(simulation.reports.last?.round.answered == true)
    }

    /// An address that this host cannot send to costs nothing, and the next one is tried at once.
    @Test func anAddressWithoutARouteIsNoSilence() throws {
        var simulation = try self.simulation("two.example:1")
        simulation.answer = { $0.address.family == .ipv6 ? (.zero, .unreachable(errno: 101)) : nil }
        simulation.run(until: .seconds(600))
        let fourth = simulation.connects.filter { $0.to == "192.0.2.7" }.count
        #expect(fourth == simulation.connects.filter { $0.to != "192.0.2.7" }.count || fourth >= 8)
    }

    @Test func aRefusalOfTheNetworkIsLookedAtAsOftenAsEver() throws {
        var simulation = try self.simulation()
        simulation.answer = { _ in (.milliseconds(20), .unreachable(errno: 113)) }
        simulation.run(until: .seconds(600))
        #expect(simulation.connects.count >= 20)
    }

    @Test func whoWantsToKnowSoonerSaysSo() throws {
        var simulation = try self.simulation { options in
            options.interval = .seconds(2)
            options.backoff = .seconds(2)
        }
        simulation.run(until: .seconds(100))
        #expect(simulation.connects.count >= 18)
    }

    // MARK: Metered paths

    @Test(arguments: 1...5) func onAMeteredPathRoundsAreATenth(seed: UInt64) throws {
        var simulation = try self.simulation(seed: seed)
        simulation.answer = { _ in Self.connected }
        simulation.isMetered = true
        simulation.run(until: .seconds(36_000))
        #expect((108...134).contains(simulation.connects.count))
        // What was found out counts from one round to the next.
        #expect(simulation.reports.allSatisfy { $0.round.answered })
        simulation.isMetered = false
        simulation.refresh()
        simulation.run(until: .seconds(39_600))
        #expect((217...268).contains(simulation.connects.count), "the full rate from the next change on")
    }

    @Test func aMeteredPathCanBeToldToBeAsAnyOther() throws {
        var simulation = try self.simulation { $0.meteredInterval = $0.interval }
        simulation.answer = { _ in Self.connected }
        simulation.isMetered = true
        simulation.run(until: .seconds(3_600))
        #expect(simulation.connects.count >= 108)
    }
}
