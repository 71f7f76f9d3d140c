// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The overlay of an application: presented once when the connection is lost, dismissed once when it is back, however
// often the network is reported in between.

import Connectivity
import ConnectivityNotifications
import Dispatch
import Foundation

@MainActor
private final class Overlay {
    private var isPresented = false

    func show(_ isConnected: Bool) {
        // What is known at the start may be reported again.
        guard self.isPresented == isConnected else { return }
        self.isPresented = !isConnected
        say(isConnected ? "dismiss" : "present ∆ No Network")
    }
}

@MainActor
func showOverlay() -> Never {
    let overlay = Overlay()
    let token = NotificationCenter.default.addObserver(
        forName: NetworkMonitor.connectivityChangedNotification,
        object: NetworkMonitor.shared,
        queue: nil
    ) { notification in
        let isConnected = notification.userInfo?[NetworkMonitor.isConnectedKey] as? Bool ?? true
        // Posted on the main queue, where NetworkMonitor.shared makes its calls.
        MainActor.assumeIsolated { overlay.show(isConnected) }
    }
    // All of them are of NetworkMonitor.shared, unless another monitor was told to post.
    let retry = NotificationCenter.default.addObserver(
        forName: NetworkMonitor.connectivityRestoredNotification,
        object: nil,
        queue: nil
    ) { _ in say("retry") }
    // Notifications tell of changes only. Asked after the observer was added, so that no change is missed in between.
    overlay.show(NetworkMonitor.shared.isConnected)
    say("started")
    withExtendedLifetime((token, retry)) { dispatchMain() }
}
