// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathTestKit
import Observation
import Testing

/// The other ways to hear of changes.
@Suite(.timeLimit(.minutes(5)))
struct EvidenceTests {
    @Test func propertiesAreObservable() async throws {
        let scripted = Scripted()
        scripted.monitor.start()
        let updates = Calls<ConnectivityUpdate>()
        scripted.monitor.observeUpdates(updates.add)
        _ = try await updates.next()
        let calls = Calls<String>()
        withObservationTracking {
            _ = scripted.monitor.isConnected
        } onChange: {
            calls.add("isConnected")
        }
        withObservationTracking {
            _ = scripted.monitor.connectionType
        } onChange: {
            calls.add("connectionType")
        }
        // Another type, and still connected.
        scripted.script.report(.ethernet)
        #expect(try await calls.next() == "connectionType")
        scripted.script.report(.noLink)
        #expect(try await calls.next() == "isConnected")
    }

    @Test func updatesBeginWithTheCurrentOneAndSkip() async throws {
        let scripted = Scripted()
        scripted.monitor.start()
        #expect(scripted.monitor.isConnected)
        var iterator = scripted.monitor.updates.makeAsyncIterator()
        #expect(await iterator.next()?.connectionType == .wifi)
        scripted.script.report(.noLink)
        scripted.script.report(.modem)
        #expect(await iterator.next()?.connectionType == .cellular)
    }

    @Test func updatesEndWithTheMonitor() async throws {
        let script = ScriptedMonitor(.wifi)
        var iterator: ConnectivityUpdates.AsyncIterator
        do {
            let monitor = NetworkMonitor(monitor: script)
            iterator = monitor.updates.makeAsyncIterator()
            monitor.start()
            #expect(await iterator.next()?.isConnected == true)
        }
        #expect(await iterator.next() == nil)
        try await script.waitForEnd(ofRun: 1)
    }

    @Test func deliveryOnAnActor() async throws {
        actor Screen {
            nonisolated func show(_ isConnected: Bool, _ calls: Calls<Bool>) {
                self.assertIsolated()
                calls.add(isConnected)
            }
        }
        let screen = Screen()
        let script = ScriptedMonitor(.wifi)
        let monitor = NetworkMonitor(monitor: script, deliverOn: .actor(screen))
        let calls = Calls<Bool>()
        monitor.handler = { screen.show($0, calls) }
        monitor.start()
        #expect(try await calls.next())
        script.report(.noLink)
        #expect(try await !calls.next())
    }

    @Test @MainActor func deliveryOnTheMainActorByDefault() async throws {
        let monitor = NetworkMonitor.preview(.offline)
        let calls = Calls<Bool>()
        monitor.handler = { isConnected in
            MainActor.assertIsolated()
            calls.add(isConnected)
        }
        #expect(try await !calls.next())
    }
}

/// For what belongs to the main actor: the compiler is the first half of each test.
@Suite(.timeLimit(.minutes(5)))
struct MainActorTests {
    /// As toolkits have it: neither Sendable nor isolated.
    private final class Label {
        var isHidden = false
        var text = ""
    }

    @Test @MainActor func theLabelOfAScreen() async throws {
        let scripted = Scripted(.noLink)
        let label = Label()
        label.text = "∆ No Network"
        scripted.monitor.mainActorHandler = { label.isHidden = $0 }
        try await scripted.monitor.waitOnMainActor { !$0 }
        #expect(!label.isHidden)
        scripted.script.report(.wifi)
        try await scripted.monitor.waitOnMainActor { $0 }
        #expect(label.isHidden)
        #expect(scripted.monitor.mainActorHandler != nil && scripted.monitor.handler == nil)
        scripted.monitor.mainActorHandler = nil
    }

    @Test @MainActor func aLoopOnTheMainActor() async {
        let monitor = NetworkMonitor.preview(.captive)
        let label = Label()
        for await update in monitor.updates {
            label.text = "\(update.status.displayName) \(update.connectionType.phrase)"
            break
        }
        #expect(label.text == "Sign In via WiFi")
    }

    @Test @MainActor func nothingFollowsTheRemovalOnTheMainActor() async throws {
        let scripted = Scripted()
        let calls = Calls<String>()
        // Called on its queue, on the way to the main actor, which is busy here.
        scripted.monitor.mainActorHandler = { _ in calls.add("removed") }
        scripted.monitor.observe { isConnected in
            DispatchQueue.main.async { calls.add("kept \(isConnected)") }
        }
        let told = DispatchSemaphore(value: 0)
        scripted.monitor.observeUpdates { _ in scripted.queue.async { told.signal() } }
        told.wait()
        scripted.monitor.mainActorHandler = nil
        #expect(try await calls.next() == "kept true")
        scripted.script.report(.noLink)
        #expect(try await calls.next() == "kept false")
    }

    @Test func anEventLoopOfOnesOwn() async throws {
        let (loop, enqueued) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        let script = ScriptedMonitor(.noLink)
        let monitor = NetworkMonitor(monitor: script, deliverOn: .custom { enqueued.yield($0) })
        let calls = Calls<Bool>()
        monitor.handler = calls.add
        var bodies = loop.makeAsyncIterator()
        await bodies.next()?()
        #expect(try await !calls.next())
        script.report(.wifi)
        await bodies.next()?()
        #expect(try await calls.next())
    }

    @Test func sharedMonitorIsToldTooLate() {
        _ = NetworkMonitor.shared
        #expect(!NetworkMonitor.configureShared(deliverOn: .queue(DispatchQueue(label: "late"))))
    }
}

extension NetworkMonitor {
    /// Waits until the main actor has been told something by all who were added before.
    @MainActor
    fileprivate func waitOnMainActor(until isAwaited: @escaping @Sendable (Bool) -> Bool) async throws {
        let calls = Calls<Bool>()
        let evidence = self.observe { isConnected in
            DispatchQueue.main.async { calls.add(isConnected) }
        }
        while try await !isAwaited(calls.next()) {}
        evidence.cancel()
    }
}

/// Networks that do not exist.
@Suite(.timeLimit(.minutes(5)))
struct PreviewTests {
    @Test func stillPreviews() {
        let online = NetworkMonitor.preview(.online)
        #expect(online.isConnected && online.connectionType == .wifi)
        #expect(NetworkMonitor.preview(.online(over: .cellular)).isExpensive)
        #expect(NetworkMonitor.preview(.online(over: .ethernet)).connectionType == .ethernet)
        #expect(NetworkMonitor.preview(.offline).status == .disconnected)
        let captive = NetworkMonitor.preview(.captive)
        #expect(captive.isConnected)
        #expect(captive.internet == .portal && captive.status == .portal)
        let metered = NetworkMonitor.preview(.metered)
        #expect(metered.isExpensive && metered.connectionType == .wifi)
    }

    @Test func flapping() async throws {
        let queue = ConnectivityDelivery.queue(DispatchQueue(label: "flapping"))
        let monitor = NetworkMonitor.preview(.flapping(every: .milliseconds(20)), deliverOn: queue)
        let calls = Calls<Bool>()
        monitor.handler = calls.add
        var last = try await calls.next()
        for _ in 0..<4 {
            let next = try await calls.next()
            #expect(next != last)
            last = next
        }
    }
}
