// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathTestKit
import Observation
import Synchronization
import Testing

/// When, where and how often a monitor calls.
@Suite(.timeLimit(.minutes(5)))
struct MonitorTests {
    @Test func handlerIsCalledWhenSetAndOnChanges() async throws {
        let scripted = Scripted()
        let calls = Calls<Bool>()
        scripted.monitor.start()
        scripted.monitor.handler = calls.add
        #expect(try await calls.next())
        // Not connected in another way, and connected over something else, are no news.
        scripted.script.report(.ethernet)
        scripted.script.report(.noLink)
        #expect(try await !calls.next())
        scripted.script.report(.seeing(.loopback()))
        scripted.script.report(.modem)
        #expect(try await calls.next())
        #expect(scripted.monitor.connected)
        #expect(scripted.monitor.connectionType == .cellular)
        #expect(scripted.monitor.isExpensive)
    }

    @Test func handlerSetBeforeTheStart() async throws {
        let scripted = Scripted(.noLink)
        let calls = Calls<Bool>()
        scripted.monitor.handler = calls.add
        #expect(scripted.monitor.handler != nil)
        scripted.monitor.start()
        #expect(try await !calls.next())
    }

    @Test func startsWithItsFirstHandlerObserverOrSequence() async throws {
        let calls = Calls<Bool>()
        let handled = Scripted(.noLink)
        handled.monitor.handler = calls.add
        #expect(try await !calls.next())
        let observed = Scripted()
        observed.monitor.observe(calls.add)
        #expect(try await calls.next())
        let (updated, updates) = (Scripted(.modem), Calls<ConnectivityUpdate>())
        updated.monitor.observeUpdates(updates.add)
        #expect(try await updates.next().connectionType == .cellular)
        let read = Scripted(.ethernet)
        var iterator = read.monitor.updates.makeAsyncIterator()
        #expect(await iterator.next()?.connectionType == .ethernet)
    }

    @Test func onlyStartStartsWhatWasStopped() async throws {
        let scripted = Scripted()
        let calls = Calls<String>()
        scripted.monitor.stop()
        scripted.monitor.handler = { _ in calls.add("handler") }
        await scripted.settle()
        calls.add("start")
        scripted.monitor.start()
        #expect(try await calls.next() == "start")
        #expect(try await calls.next() == "handler")
        #expect(scripted.script.runs == 1)
    }

    @Test func coordinatorOfOnesOwn() async throws {
        let script = ScriptedMonitor(.wifi)
        let coordinator = PathCoordinator(
            backends: [Backend("scripted", monitor: script)],
            settings: .metered("wlan*")
        )
        let delivery = ConnectivityDelivery.queue(DispatchQueue(label: "coordinator"))
        let (first, second) = (
            NetworkMonitor(coordinator: coordinator, deliverOn: delivery),
            NetworkMonitor(coordinator: coordinator, deliverOn: delivery)
        )
        // It starts with the first question.
        _ = first.isConnected
        try await script.waitForRun()
        #expect(first.isConnected && first.isExpensive && first.connectionType == .wifi)
        let calls = Calls<Bool>()
        first.handler = calls.add
        #expect(try await calls.next())
        second.start()
        first.stop()
        script.report(.noLink)
        try await second.wait { !$0.isConnected }
        #expect(coordinator.path?.status == .unsatisfied)
        first.start()
        #expect(try await !calls.next())
        #expect(script.runs == 1)
        coordinator.stop()
    }

    @Test func waitsForAState() async throws {
        let scripted = Scripted(.noLink)
        async let online = scripted.monitor.wait { $0.connectionType == .cellular }
        try await scripted.monitor.wait { !$0.isConnected }
        scripted.script.report(.wifi)
        scripted.script.report(.modem)
        #expect(try await online.isExpensive)
        let waiting = Task { try await scripted.monitor.wait { $0.status == .unknown } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func whileNobodyCanTellProgramsMayTry() async throws {
        let scripted = Scripted(nil)
        #expect(scripted.monitor.status == .unknown)
        #expect(scripted.monitor.isConnected)
        let calls = Calls<Bool>()
        scripted.monitor.handler = calls.add
        scripted.monitor.start()
        // It hears that nobody can tell, within a second.
        #expect(try await calls.next())
        #expect(scripted.monitor.status == .unknown)
        scripted.script.report(.noLink)
        #expect(try await !calls.next())
        #expect(scripted.monitor.status == .disconnected)
    }

    @Test func aBackendThatBreaksAtOnceIsNotOffline() async throws {
        struct Broken: PathMonitor {
            func run(_ context: MonitorContext) async throws { throw ScriptedMonitor.Failure("no netlink, no /sys") }
        }
        let monitor = NetworkMonitor(monitor: Broken(), deliverOn: .queue(DispatchQueue(label: "broken")))
        #expect(monitor.status == .unknown)
        #expect(monitor.isConnected)
        #expect(monitor.connectionType == .other)
    }

    @Test func settingsFromCode() async throws {
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("*")))
        rule.isIgnored = true
        let settings = CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule]))
        // Whatever this machine has: no interface counts.
        #expect(NetworkMonitor(settings: settings).isConnected == false)
    }

    @Test func handlerIsReplacedAndRemovedInsideItself() async throws {
        let scripted = Scripted()
        let calls = Calls<String>()
        let monitor = scripted.monitor
        monitor.handler = { [weak monitor] _ in
            calls.add("first")
            // A lock held during the call would make this a deadlock.
            monitor?.handler = { _ in
                monitor?.handler = nil
                calls.add("second \(monitor?.isConnected == true)")
            }
        }
        monitor.start()
        #expect(try await calls.next() == "first")
        #expect(try await calls.next() == "second true")
        let witness = Calls<Bool>()
        monitor.observe(witness.add)
        #expect(try await witness.next())
        scripted.script.report(.noLink)
        #expect(try await !witness.next())
        #expect(monitor.handler == nil)
    }

    @Test func observersByToken() async throws {
        let scripted = Scripted()
        let (first, second) = (Calls<Bool>(), Calls<Bool>())
        scripted.monitor.start()
        let token = scripted.monitor.observe(first.add)
        scripted.monitor.observe(second.add)
        #expect(try await first.next())
        #expect(try await second.next())
        token.cancel()
        scripted.script.report(.noLink)
        #expect(try await !second.next())
        scripted.script.report(.wifi)
        #expect(try await second.next())
        // What is added by hand is the first that came since the cancellation.
        first.add(true)
        #expect(try await first.next())
    }

    @Test func interruptionIsToldToWhoWasBusy() async throws {
        let scripted = Scripted()
        let calls = Calls<Bool>()
        scripted.monitor.start()
        scripted.monitor.handler = calls.add
        #expect(try await calls.next())
        scripted.queue.suspend()
        for _ in 0..<5 {
            scripted.script.report(.noLink)
            scripted.script.report(.wifi)
        }
        scripted.queue.resume()
        #expect(try await !calls.next())
        #expect(try await calls.next())
        scripted.script.report(.noLink)
        #expect(try await !calls.next())
    }

    @Test func nothingFollowsStopAndStartGoesOn() async throws {
        let scripted = Scripted()
        let calls = Calls<Bool>()
        let monitor = scripted.monitor
        monitor.handler = { [weak monitor] isConnected in
            calls.add(isConnected)
            if !isConnected { monitor?.stop() }
        }
        monitor.start()
        monitor.start()
        #expect(try await calls.next())
        scripted.script.report(.noLink)
        #expect(try await !calls.next())
        await scripted.settle()
        try await scripted.script.waitForEnd(ofRun: 1)
        #expect(!monitor.isConnected)
        scripted.script.report(.wifi)
        monitor.start()
        // What was last known is not what is now.
        #expect(monitor.isConnected)
        #expect(try await calls.next())
        #expect(scripted.script.runs == 2)
    }

    @Test func refreshReadsAnew() async throws {
        let scripted = Scripted()
        scripted.monitor.refresh()
        scripted.monitor.start()
        try await scripted.script.waitForRun()
        scripted.monitor.refresh()
        try await scripted.script.waitForRefreshRequests()
    }

    @Test func readingStartsNothingForGood() async throws {
        let scripted = Scripted(.ethernet)
        #expect(scripted.monitor.isConnected)
        try await scripted.script.waitForEnd(ofRun: 1)
        #expect(scripted.monitor.path?.status == .satisfied)
        try await scripted.script.waitForEnd(ofRun: 2)
    }

    @Test func endsWhileItCalls() async throws {
        // The handler holds the last reference: the monitor ends within its own call.
        let script = ScriptedMonitor(.wifi)
        let calls = Calls<Bool>()
        do {
            let box = Holder()
            let monitor = NetworkMonitor(monitor: script, deliverOn: .queue(DispatchQueue(label: "end")))
            box.monitor.withLock { $0 = monitor }
            monitor.handler = { isConnected in
                let last = box.monitor.withLock { $0.take() }
                calls.add(isConnected)
                withExtendedLifetime(last) {}
            }
            monitor.start()
        }
        #expect(try await calls.next())
        try await script.waitForEnd(ofRun: 1)
    }

    private final class Holder: Sendable {
        let monitor = Mutex<NetworkMonitor?>(nil)
    }

    @Test func everythingFromEveryThread() async throws {
        let scripted = Scripted()
        let monitor = scripted.monitor
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<100 { Self.use(scripted, (number + round) % 8, round) }
                }
            }
        }
        monitor.handler = nil
        scripted.script.report(.noLink)
        monitor.start()
        scripted.script.report(.ethernet)
        let calls = Calls<Bool>()
        monitor.observe(calls.add)
        // It may hear of the former state first; it must hear of the last one.
        while try await !calls.next() {}
        monitor.stop()
    }

    private static func use(_ scripted: Scripted, _ choice: Int, _ round: Int) {
        let monitor = scripted.monitor
        switch choice {
        case 0: monitor.start()
        case 1: monitor.stop()
        case 2: monitor.handler = { [weak monitor] _ in monitor?.refresh() }
        case 3: monitor.observe { _ in }.cancel()
        case 4: scripted.script.report(round.isMultiple(of: 2) ? .noLink : .wifi)
        case 5: monitor.observeUpdates { _ in }.cancel()
        case 6: _ = monitor.updates.makeAsyncIterator()
        default: monitor.handler = nil
        }
    }
}
