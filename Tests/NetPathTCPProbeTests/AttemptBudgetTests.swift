// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

struct AttemptBudgetTests {
    @Test(arguments: [2, 3, 7, 60, 600], [UInt64(1), 2, 3])
    func noWindowOfAMinuteHoldsMoreThanTheLimit(limit: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now = MonotonicTime(nanoseconds: 0)
        var budget = AttemptBudget(perMinute: limit, now: now)
        var taken: [MonotonicTime] = []
        for _ in 0..<20_000 {
            if budget.take(now: now) { taken.append(now) }
            // Storms, pauses, and waiting for exactly the next one.
            switch Int.random(in: 0..<100, using: &random) {
            case 0: now = now + .seconds(Int.random(in: 0..<200, using: &random))
            case 1..<30: now = budget.available(now: now)
            default: now = now + .milliseconds(Int.random(in: 0..<20, using: &random))
            }
        }
        #expect(taken.count > limit)
        for (first, last) in zip(taken, taken.dropFirst(limit)) { #expect(last - first > .seconds(60)) }
    }

    @Test func whatIsAvailableCanBeTaken() {
        var now = MonotonicTime(nanoseconds: 5)
        var budget = AttemptBudget(perMinute: 2, now: now)
        for _ in 0..<10 {
            let taken = [budget.take(now: now), budget.take(now: now)]
            #expect(taken == [true, false])
            let next = budget.available(now: now)
            #expect(next - now <= .seconds(61))
            now = next
        }
    }
}
