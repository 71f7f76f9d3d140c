// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

@testable import OfflineRequests

struct BackoffTests {
    @Test func theCeilingDoublesUpToTheCap() {
        let ceilings = (0..<6).map { Backoff.ceiling(attempt: $0, base: .seconds(1), cap: .seconds(10)) }
        #expect(ceilings == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10), .seconds(10)])
    }

    @Test(arguments: [
        (-1, Duration.seconds(1), Duration.seconds(300), Duration.seconds(1)),
        (62, .seconds(1), .seconds(300), .seconds(300)), (63, .seconds(1), .seconds(300), .seconds(300)),
        (Int.max, .seconds(1), .seconds(300), .seconds(300)), (Int.max, .nanoseconds(1), .seconds(300), .seconds(300)),
        (5, .seconds(Int64.max), .seconds(300), .seconds(300)), (5, .zero, .seconds(300), .zero),
        (5, .seconds(-1), .seconds(300), .zero), (5, .seconds(1), .seconds(-1), .zero),
    ])
    func nothingOverflows(_ attempt: Int, _ base: Duration, _ cap: Duration, _ expected: Duration) {
        var generator = SeededGenerator(seed: 1)
        #expect(Backoff.ceiling(attempt: attempt, base: base, cap: cap) == expected)
        let settings = QueueSettings.with { ($0.baseBackoff, $0.maxBackoff) = (base, cap) }
        let wait = settings.fullJitter(attempt: attempt, using: &generator)
        #expect(wait >= .zero && wait <= expected)
    }

    /// Uniform from nothing to the ceiling: that is what spreads a fleet.
    @Test(arguments: UInt64(0)..<4)
    func fullJitterIsUniform(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var tenths = [Int](repeating: 0, count: 10)
        let count = 20_000
        for _ in 0..<count {
            let wait = QueueSettings().fullJitter(attempt: 3, using: &generator)
            #expect(wait >= .zero && wait <= .seconds(8))
            tenths[min(9, Int(wait / .milliseconds(800)))] += 1
        }
        // Expected 2,000 each with a deviation of 42: five of them are never reached by chance.
        for tenth in tenths { #expect(abs(tenth - count / 10) < 215, "\(tenths) seed \(seed)") }
    }

    @Test func equalJitterIsNeverNothing() {
        var generator = SeededGenerator(seed: 3)
        for attempt in 0..<40 {
            let ceiling = Backoff.ceiling(attempt: attempt, base: .seconds(1), cap: .seconds(300))
            for _ in 0..<100 {
                let wait = QueueSettings().equalJitter(attempt: attempt, using: &generator)
                #expect(wait >= ceiling / 2 && wait <= ceiling)
            }
        }
    }
}
