// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization
import Testing

@testable import NetPathCLI

@Suite struct EventLoopTests {
    @Test func tasksRunOnTheThreadThatTurnsTheLoop() throws {
        let loop = try EventLoop()
        let steps = Mutex<[Int]>([])
        Task(executorPreference: loop) {
            steps.withLock { $0.append(1) }
            try await loop.sleep(until: loop.now() + .milliseconds(20))
            steps.withLock { $0.append(2) }
        }
        #expect(steps.withLock { $0 } == [], "nothing runs unless the loop turns")
        let deadline = loop.now() + .seconds(20)
        while steps.withLock({ $0.count }) < 2, loop.now() < deadline { _ = loop.turn(limit: deadline - loop.now()) }
        #expect(steps.withLock { $0 } == [1, 2])
    }

    @Test func sleepersWakeInTheOrderOfTheirDeadlines() throws {
        let loop = try EventLoop()
        let order = Mutex<[Int]>([])
        let start = loop.now()
        for number in [3, 1, 2] {
            Task(executorPreference: loop) {
                try await loop.sleep(until: start + .milliseconds(10 * number))
                order.withLock { $0.append(number) }
            }
        }
        let deadline = start + .seconds(20)
        while order.withLock({ $0.count }) < 3, loop.now() < deadline { _ = loop.turn(limit: deadline - loop.now()) }
        #expect(order.withLock { $0 } == [1, 2, 3])
    }

    /// A cancellation from another thread, at any moment of going to sleep, ends the sleep exactly once.
    @Test func cancellationRacesWithGoingToSleep() throws {
        let loop = try EventLoop()
        let ended = Mutex(0)
        let count = 2_000
        for _ in 0..<count {
            let task = Task(executorPreference: loop) {
                do { try await loop.sleep(until: loop.now() + .seconds(3_600)) } catch { ended.withLock { $0 += 1 } }
            }
            Task { task.cancel() }
            _ = loop.turn(limit: .zero)
        }
        let deadline = loop.now() + .seconds(20)
        while ended.withLock({ $0 }) < count, loop.now() < deadline { _ = loop.turn(limit: .milliseconds(10)) }
        #expect(ended.withLock { $0 } == count)
    }
}
