// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Testing

@Suite struct SleepersTests {
    private let noon = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test func whoeverIsDueWakesAndNobodyElse() async {
        let sleepers = Sleepers()
        let noon = self.noon
        let (asleep, falls) = AsyncStream.makeStream(of: Void.self)
        let (woken, wakes) = AsyncStream.makeStream(of: Int.self)
        for number in 1...3 {
            Task {
                try await sleepers.sleep(until: noon + .seconds(number)) { falls.yield() }
                wakes.yield(number)
            }
        }
        var asleepOnes = asleep.makeAsyncIterator()
        for _ in 1...3 { await asleepOnes.next() }
        #expect(!sleepers.wakeDue(at: noon))
        var wokenOnes = woken.makeAsyncIterator()
        for number in 1...3 {
            #expect(sleepers.nextDeadline == noon + .seconds(number))
            #expect(sleepers.wakeDue(at: noon + .seconds(number)))
            #expect(await wokenOnes.next() == number)
        }
        #expect(sleepers.nextDeadline == nil)
    }

    @Test func aTaskThatIsCancelledDoesNotSleep() async {
        let sleepers = Sleepers()
        let noon = self.noon
        let (asleep, falls) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await #expect(throws: CancellationError.self) {
                try await sleepers.sleep(until: noon) { falls.yield() }
            }
            await #expect(throws: CancellationError.self, "it is cancelled before it goes to sleep") {
                try await sleepers.sleep(until: noon) { Issue.record("it fell asleep") }
            }
        }
        var iterator = asleep.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        await task.value
        #expect(sleepers.nextDeadline == nil && !sleepers.wakeDue(at: self.noon))
    }
}
