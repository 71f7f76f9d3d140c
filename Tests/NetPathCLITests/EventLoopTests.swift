// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Synchronization
import Testing

@testable import NetPathCLI

@Suite struct EventLoopTests {
    private final class Log: Sendable {
        private let values = Mutex<[Int]>([])

        var all: [Int] { self.values.withLock { $0 } }

        func append(_ value: Int) {
            self.values.withLock { $0.append(value) }
        }
    }

    @Test func tasksRunOnTheThreadThatTurnsTheLoop() throws {
        let loop = try EventLoop()
        let steps = Log()
        Task(executorPreference: loop) {
            steps.append(1)
            try await loop.sleep(until: loop.now() + .milliseconds(20))
            steps.append(2)
        }
        #expect(steps.all == [], "nothing runs unless the loop turns")
        let deadline = loop.now() + .seconds(20)
        while steps.all.count < 2, loop.now() < deadline { _ = loop.turn(limit: deadline - loop.now()) }
        #expect(steps.all == [1, 2])
    }

    @Test func sleepersWakeInTheOrderOfTheirDeadlines() throws {
        let loop = try EventLoop()
        let order = Log()
        let start = loop.now()
        for number in [3, 1, 2] {
            Task(executorPreference: loop) {
                try await loop.sleep(until: start + .milliseconds(10 * number))
                order.append(number)
            }
        }
        let deadline = start + .seconds(20)
        while order.all.count < 3, loop.now() < deadline { _ = loop.turn(limit: deadline - loop.now()) }
        #expect(order.all == [1, 2, 3])
    }

    /// A cancellation from another thread, at any moment of going to sleep, ends the sleep exactly once.
    @Test func cancellationRacesWithGoingToSleep() async throws {
        let loop = try EventLoop()
        let ended = Log()
        let count = 2_000
        let tasks = Mutex<[Task<Void, Never>]>([])
        // On threads of their own, which need nobody of the pool to be started: other tests may keep it busy for longer
        // than anybody waits here.
        let canceller = BackgroundThread.start {
            var cancelled = 0
            while cancelled < count {
                let some = tasks.withLock { tasks in
                    defer { tasks = [] }
                    return tasks
                }
                for task in some { task.cancel() }
                cancelled += some.count
            }
        }
        try #require(canceller)
        let endedInTime = try await onBlockingThread {
            for _ in 0..<count {
                let task = Task(executorPreference: loop) {
                    do { try await loop.sleep(until: loop.now() + .seconds(3_600)) } catch { ended.append(1) }
                }
                tasks.withLock { $0.append(task) }
                _ = loop.turn(limit: .zero)
            }
            let deadline = loop.now() + .seconds(60)
            while ended.all.count < count, loop.now() < deadline { _ = loop.turn(limit: .milliseconds(10)) }
            return ended.all.count
        }
        #expect(endedInTime == count)
    }
}
