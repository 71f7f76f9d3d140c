// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct ManualClockTests {
    @Test func sleepersWakeInTheirTime() async throws {
        let clock = ManualClock()
        let start = clock.now()
        let short = Task { try await clock.sleep(until: start + .seconds(1)) }
        let long = Task { try await clock.sleep(until: start + .seconds(2)) }
        try await clock.waitForSleeper(until: start + .seconds(1))
        try await clock.waitForSleeper(until: start + .seconds(2))
        #expect(clock.sleepers == [start + .seconds(1), start + .seconds(2)])
        clock.advance(by: .milliseconds(1500))
        try await short.value
        #expect(clock.sleepers == [start + .seconds(2)])
        clock.advance(to: start + .seconds(2))
        try await long.value
        #expect(clock.sleepers.isEmpty)
        clock.advance(to: start)
        #expect(clock.now() == start + .seconds(2))
    }

    @Test func aDeadlineThatHasPassedIsNoSleep() async throws {
        let clock = ManualClock()
        try await clock.sleep(until: clock.now())
    }

    @Test func cancellationWakesASleeper() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(until: clock.now() + .seconds(1)) }
        try await clock.waitForSleeper()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        try await clock.waitForNoSleeper()
    }

    @Test func aCancelledTaskDoesNotSleep() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(until: clock.now() + .seconds(1))
        }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func cancellingAndAdvancingAtOnceIsSafe() async throws {
        for _ in 0..<500 {
            let clock = ManualClock()
            let sleeper = Task { try await clock.sleep(until: clock.now() + .seconds(1)) }
            async let advanced: Void = clock.advance(by: .seconds(1))
            sleeper.cancel()
            await advanced
            clock.advance(by: .seconds(1))
            _ = await sleeper.result
            #expect(clock.sleepers.isEmpty)
        }
    }
}
