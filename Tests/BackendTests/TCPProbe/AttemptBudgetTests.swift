// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

struct AttemptBudgetTests {
    private static let start = MonotonicTime(nanoseconds: 5)

    private func target(_ text: String = "192.0.2.1:1") throws -> ProbeTarget { try ProbeTarget(text) }

    private func budget(_ limit: Int, of ledger: ProbeLedger = ProbeLedger()) throws -> AttemptBudget {
        AttemptBudget([try self.target()], perMinute: limit, ledger: ledger)
    }

    @Test(arguments: [2, 3, 7, 60, 600], [UInt64(1), 2, 3])
    func noWindowOfAMinuteHoldsMoreThanTheLimit(limit: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var now = Self.start
        let budget = try self.budget(limit)
        let subject = try self.target().connection
        var taken: [MonotonicTime] = []
        for _ in 0..<5_000 {
            if budget.take(subject, now: now) { taken.append(now) }
            // Storms, pauses, and waiting for exactly the next one.
            switch Int.random(in: 0..<100, using: &random) {
            case 0: now = now + .seconds(Int.random(in: 0..<200, using: &random))
            case 1..<15: now = budget.available(now: now)
            case 15..<30: now = budget.nextRound(taking: 1, now: now)
            default: now = now + .milliseconds(Int.random(in: 0..<20, using: &random))
            }
        }
        #expect(taken.count > limit)
        for (first, last) in zip(taken, taken.dropFirst(limit)) { #expect(last - first > .seconds(60)) }
    }

    @Test(arguments: 1...4) func whatIsAvailableCanBeTaken(count: Int) throws {
        var now = Self.start
        let budget = try self.budget(3)
        let subject = try self.target().connection
        for _ in 0..<10 {
            // More than the limit at once there never are.
            for _ in 0..<min(count, 3) { #expect(budget.take(subject, now: now)) }
            let next = budget.available(count, now: now)
            #expect(next - now <= .seconds(62))
            now = next
        }
    }

    /// In a storm the limit is used up, and nobody has to wait for long.
    @Test(arguments: [(2, 31), (6, 16), (60, 3), (600, 1)], 1...3)
    func roundsAreSpreadOverTheTime(limit: (perMinute: Int, gap: Int), size: Int) throws {
        guard size * 2 <= limit.perMinute else { return }
        var now = Self.start
        let budget = try self.budget(limit.perMinute)
        let subject = try self.target().connection
        var taken = 0
        while now < Self.start + .seconds(600) {
            for _ in 0..<size { taken += budget.take(subject, now: now) ? 1 : 0 }
            let next = budget.nextRound(taking: size, now: now)
            #expect(next - now <= .seconds(limit.gap * size) + .milliseconds(1))
            now = next
        }
        #expect(taken >= 9 * limit.perMinute)
    }

    @Test func attemptsOfEverybodyCount() throws {
        let ledger = ProbeLedger()
        let (first, second) = (try self.budget(6, of: ledger), try self.budget(6, of: ledger))
        let subject = try self.target().connection
        let taken = (0..<10).count { ($0 % 2 == 0 ? first : second).take(subject, now: Self.start) }
        #expect(taken == 6)
        // A smaller limit counts what was taken under a greater one.
        #expect(try !self.budget(2, of: ledger).take(subject, now: Self.start + .seconds(59)))
        #expect(try self.budget(7, of: ledger).take(subject, now: Self.start))
        // Of other targets nobody asked.
        let other = try self.target("192.0.2.1:2")
        #expect(AttemptBudget([other], perMinute: 2, ledger: ledger).take(other.connection, now: Self.start))
    }

    @Test func aLookupCountsForEveryTargetOfTheName() throws {
        let ledger = ProbeLedger()
        let targets = [try self.target("a.example:1"), try self.target("A.Example:2")]
        let budgets = targets.map { AttemptBudget([$0], perMinute: 2, ledger: ledger) }
        for target in targets { #expect(budgets[0].take(try #require(target.lookup), now: Self.start)) }
        #expect(!budgets[1].take(targets[1].connection, now: Self.start))
    }
}
