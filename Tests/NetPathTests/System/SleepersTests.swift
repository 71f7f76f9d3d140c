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

    /// Whatever the deadlines, and whoever is cancelled, they wake as a list says that is sorted once.
    ///
    /// On the main actor tasks begin, and go on, in the order in which they were asked to.
    @Test(arguments: 1...20)
    func theyWakeInTheOrderOfDeadlinesAndThenOfFallingAsleep(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let sleepers = Sleepers()
        let noon = self.noon
        let (asleep, falls) = AsyncStream.makeStream(of: Void.self)
        let (woken, wakes) = AsyncStream.makeStream(of: Int.self)
        let seconds = (0..<40).map { _ in Int.random(in: 0..<10, using: &generator) }
        var tasks: [Task<Void, any Error>] = []
        for (number, second) in seconds.enumerated() {
            tasks.append(
                Task { @MainActor in
                    try await sleepers.sleep(until: noon + .seconds(second)) { falls.yield() }
                    wakes.yield(number)
                }
            )
        }
        var asleepOnes = asleep.makeAsyncIterator()
        for _ in tasks { await asleepOnes.next() }
        let cancelled = Set((0..<10).map { _ in Int.random(in: 0..<40, using: &generator) })
        for number in cancelled {
            tasks[number].cancel()
            _ = await tasks[number].result
        }
        let rest = seconds.indices.filter { !cancelled.contains($0) }.sorted { (seconds[$0], $0) < (seconds[$1], $1) }
        for moment in [4, 4, 9] {
            sleepers.wakeDue(at: noon + .seconds(moment))
            let next = rest.first { seconds[$0] > moment }
            #expect(sleepers.nextDeadline == next.map { noon + .seconds(seconds[$0]) })
        }
        var wokenOnes = woken.makeAsyncIterator()
        for number in rest { #expect(await wokenOnes.next() == number) }
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
