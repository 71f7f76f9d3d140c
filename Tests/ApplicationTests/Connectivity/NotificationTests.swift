// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import ConnectivityNotifications
import Foundation
import NetPathTestKit
import Testing

struct NotificationTests {
    /// Adds what is posted for a monitor.
    private func listen(to monitor: NetworkMonitor, at center: NotificationCenter, _ calls: Calls<String>) {
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
    }

    @Test func changesArePosted() async throws {
        let script = ScriptedMonitor(.wifi)
        let center = NotificationCenter()
        let queue = DispatchQueue(label: "notifications")
        let monitor = NetworkMonitor(monitor: script, deliverOn: .queue(queue))
        let calls = Calls<String>()
        self.listen(to: monitor, at: center, calls)
        let posting = monitor.postNotifications(to: center)
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
        // A monitor that was stopped while the network changed posts the change when it runs again.
        monitor.stop()
        script.report(.noLink)
        monitor.start()
        script.report(.noLink)
        #expect(try await calls.next() == "changed false")
        posting.cancel()
        script.report(.wifi)
        try await monitor.wait()
        script.report(.noLink)
        try await monitor.wait { !$0.isConnected }
        queue.async { calls.add("end") }
        #expect(try await calls.next() == "end")
    }
}
