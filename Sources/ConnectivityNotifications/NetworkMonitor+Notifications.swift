// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity
public import Foundation
import Synchronization

extension NetworkMonitor {
    /// Posted when `isConnected` of a monitor has changed; the object is the monitor.
    ///
    /// The first use of this name or of ``connectivityRestoredNotification`` has `NetworkMonitor.shared` start,
    /// unless it was stopped, and post to `NotificationCenter.default` from then on; other monitors post once for each call
    /// of ``postNotifications(to:)``. `userInfo` has the new value under ``isConnectedKey``. The first path is no change.
    public static let connectivityChangedNotification: Notification.Name = {
        _ = NetworkMonitor.sharedPosting
        return .connectivityChanged
    }()

    /// Posted after ``connectivityChangedNotification`` when the connection is back; the object is the monitor.
    public static let connectivityRestoredNotification: Notification.Name = {
        _ = NetworkMonitor.sharedPosting
        return .connectivityRestored
    }()

    /// The key of a `Bool` in the notifications' `userInfo`.
    public static let isConnectedKey = "isConnected"

    private static let sharedPosting = NetworkMonitor.shared.startPosting(to: .default)

    /// Posts the notifications of this monitor too, where it makes its calls, until the observation is cancelled.
    ///
    /// Starts a monitor that was neither started nor stopped yet. What `NetworkMonitor.shared` posts to the default center
    /// is posted once, however often this is called, and to the end of the process: others observe it too.
    ///
    /// - Parameter center: Where they are posted.
    /// - Returns: What ends it.
    @discardableResult
    public func postNotifications(to center: NotificationCenter = .default) -> ObservationToken {
        guard self === NetworkMonitor.shared, center === NotificationCenter.default else {
            return self.startPosting(to: center)
        }
        _ = NetworkMonitor.sharedPosting
        return ObservationToken()
    }

    private func startPosting(to center: NotificationCenter) -> ObservationToken {
        let isFirst = Atomic(true)
        return self.observe { [weak self] isConnected in
            // An observer is told of the present state first.
            guard !isFirst.exchange(false, ordering: .relaxed), let self else { return }
            let details = [Self.isConnectedKey: isConnected]
            center.post(name: .connectivityChanged, object: self, userInfo: details)
            guard isConnected else { return }
            center.post(name: .connectivityRestored, object: self, userInfo: details)
        }
    }
}

extension Notification.Name {
    fileprivate static let connectivityChanged = Self("NetworkMonitor.connectivityChanged")
    fileprivate static let connectivityRestored = Self("NetworkMonitor.connectivityRestored")
}
