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
struct ObservationTests {
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
        var iterator: AsyncStream<ConnectivityUpdate>.Iterator
        do {
            let monitor = NetworkMonitor(monitor: script)
            iterator = monitor.updates.makeAsyncIterator()
            monitor.start()
            #expect(await iterator.next()?.isConnected == true)
        }
        #expect(await iterator.next() == nil)
        try await script.waitForEnd(ofRun: 1)
    }

    @Test func notificationsOfChanges() async throws {
        let script = ScriptedMonitor(.wifi)
        let center = NotificationCenter()
        let queue = DispatchQueue(label: "notifications")
        let monitor = NetworkMonitor(monitor: script, deliverOn: .queue(queue), notificationCenter: center)
        let calls = Calls<String>()
        let names = [
            NetworkMonitor.connectivityChangedNotification: "changed",
            NetworkMonitor.connectivityRestoredNotification: "restored",
        ]
        for (name, text) in names {
            _ = center.addObserver(forName: name, object: monitor, queue: nil) { notification in
                let isConnected = notification.userInfo?[NetworkMonitor.isConnectedKey] as? Bool
                calls.add("\(text) \(isConnected == true)")
            }
        }
        monitor.start()
        let connected = Calls<Bool>()
        monitor.observe(connected.add)
        // The first path is no change.
        #expect(try await connected.next())
        script.report(.noLink)
        #expect(try await calls.next() == "changed false")
        script.report(.seeing(.loopback()))
        script.report(.ethernet)
        #expect(try await calls.next() == "changed true")
        #expect(try await calls.next() == "restored true")
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
        #expect(captive.path?.internet == .portal)
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
