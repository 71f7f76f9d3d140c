// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPath
import NetPathStandard

extension NetworkMonitor {
    /// Creates a monitor of something else than this machine's network: a preview, a script of a test, a backend.
    ///
    /// - Parameters:
    ///   - monitor: What is watched.
    ///   - delivery: Where the handler, observers and notifications are called.
    ///   - notificationCenter: Where notifications are posted.
    public convenience init(
        monitor: any PathMonitor,
        deliverOn delivery: ConnectivityDelivery = .main,
        notificationCenter: NotificationCenter = .default
    ) {
        let source = SharedPath(clock: BackgroundExecutor()) { executor in
            PathCoordinator(backends: [Backend("injected", monitor: monitor)], clock: executor, executor: executor)
        }
        self.init(source: source, deliverOn: delivery, notificationCenter: notificationCenter)
    }

    /// The path with all details; nil when nobody had an opinion.
    public var path: NetworkPath? {
        self.access(keyPath: \.path)
        return self.update.path
    }
}
