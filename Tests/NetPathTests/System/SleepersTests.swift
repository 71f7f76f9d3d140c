// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct SleepersTests {
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

    /// Whatever the deadlines, and whoever is cancelled, they wake when a list says it that is sorted once.
    @Test(arguments: 1...20)
    func theyWakeWhenTheyAreDue(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let sleepers = Sleepers()
        let noon = self.noon
        let (asleep, falls) = AsyncStream.makeStream(of: Void.self)
        let (woken, wakes) = AsyncStream.makeStream(of: Int.self)
        let seconds = (0..<40).map { _ in Int.random(in: 0..<10, using: &generator) }
        let tasks = seconds.enumerated().map { number, second in
            Task {
                try await sleepers.sleep(until: noon + .seconds(second)) { falls.yield() }
                wakes.yield(number)
            }
        }
        var asleepOnes = asleep.makeAsyncIterator()
        for _ in tasks { await asleepOnes.next() }
        let cancelled = Set((0..<10).map { _ in Int.random(in: 0..<40, using: &generator) })
        for number in cancelled {
            tasks[number].cancel()
            _ = await tasks[number].result
        }
        let rest = seconds.indices.filter { !cancelled.contains($0) }.sorted { seconds[$0] < seconds[$1] }
        var wokenOnes = woken.makeAsyncIterator()
        var woke: Set<Int> = []
        for moment in [2, 3, 3, 7, 9] {
            let isDue = rest.filter { seconds[$0] <= moment }
            sleepers.wakeDue(at: noon + .seconds(moment))
            let next = rest.first { seconds[$0] > moment }
            #expect(sleepers.nextDeadline == next.map { noon + .seconds(seconds[$0]) })
            while woke.count < isDue.count, let number = await wokenOnes.next() { woke.insert(number) }
            #expect(woke == Set(isDue))
        }
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
