// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation

extension NetworkMonitor {
    /// Posted when ``isConnected`` has changed; the object is the monitor.
    ///
    /// Every monitor posts for itself: observe the notifications of one of them, for example ``shared``. The first path
    /// is no change. `userInfo` has the new value under ``isConnectedKey``.
    public static let connectivityChangedNotification = Notification.Name("NetworkMonitor.connectivityChanged")

    /// Posted after ``connectivityChangedNotification`` when the connection is back; the object is the monitor.
    public static let connectivityRestoredNotification = Notification.Name("NetworkMonitor.connectivityRestored")

    /// The key of a `Bool` in the notifications' `userInfo`.
    public static let isConnectedKey = "isConnected"

    func post(_ isConnected: Bool, to center: NotificationCenter) {
        let details = [Self.isConnectedKey: isConnected]
        center.post(name: Self.connectivityChangedNotification, object: self, userInfo: details)
        guard isConnected else { return }
        center.post(name: Self.connectivityRestoredNotification, object: self, userInfo: details)
    }
}
