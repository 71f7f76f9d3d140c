// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import NetPath
import NetPathTestKit
import Testing

/// `wait(timeout:where:)`: how it ends.
@Suite(.timeLimit(.minutes(5)))
struct WaitTests {
    @Test func thePresentStateCounts() async throws {
        let scripted = Scripted()
        #expect(try await scripted.monitor.wait().connectionType == .wifi)
        #expect(try await scripted.monitor.wait(timeout: .seconds(60)).isConnected)
    }

    @Test func aLaterStateCounts() async throws {
        let scripted = Scripted(.noLink)
        async let update = scripted.monitor.wait(timeout: .seconds(300)) { $0.connectionType == .ethernet }
        scripted.script.report(.wifi)
        scripted.script.report(.ethernet)
        #expect(try await update.isConnected)
    }

    @Test func timeIsOver() async throws {
        let scripted = Scripted(.noLink)
        let error = await #expect(throws: WaitError.self) {
            try await scripted.monitor.wait(timeout: .milliseconds(20))
        }
        #expect(error?.isTimeout == true)
        #expect(error.map { "\($0)" } == "the state did not come within 20ms")
        // The monitor and others who wait are as they were.
        scripted.script.report(.wifi)
        try await scripted.monitor.wait()
    }

    @Test func aStopEndsIt() async throws {
        let scripted = Scripted(.noLink)
        var states = scripted.monitor.updates.makeAsyncIterator()
        let waiting = Task { try await scripted.monitor.wait() }
        #expect(await states.next()?.isConnected == false)
        // Both orders are right: stopped before the wait, and while it waits.
        scripted.monitor.stop()
        await #expect(throws: WaitError.stopped) { try await waiting.value }
        await #expect(throws: WaitError.stopped) { try await scripted.monitor.wait(timeout: .seconds(300)) }
        // Sequences wait for the next start, and so can a new wait.
        scripted.monitor.start()
        scripted.script.report(.wifi)
        try await scripted.monitor.wait()
        #expect(await states.next() != nil)
    }

    @Test func cancellationEndsIt() async throws {
        let scripted = Scripted(.noLink)
        let waiting = Task { try await scripted.monitor.wait(timeout: .seconds(300)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    /// A loop that waits and tries again has to end, also where the state is there all the time.
    @Test func cancellationComesBeforeThePresentState() async throws {
        let scripted = Scripted()
        try await scripted.monitor.wait()
        let waiting = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await scripted.monitor.wait()
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    /// A property that blocks until the monitor knows is read where loops sleep.
    @Test func theExecutorOfLoopsIsNotThatOfMonitors() async {
        let script = ScriptedMonitor(.noLink)
        let isConnected = await Task(executorPreference: NetworkMonitor.executor) {
            NetworkMonitor(monitor: script).isConnected
        }.value
        #expect(!isConnected)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func noPeriodIsTooShort(period: Duration) async throws {
        let monitor = NetworkMonitor.preview(.flapping(every: period))
        try await monitor.wait { !$0.isConnected }
        try await monitor.wait { $0.isConnected }
        monitor.stop()
    }
}
