// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathStandard
import Synchronization

/// Tells a queue how the network is, from its start to its end.
final class PathFeed: Sendable {
    private struct State {
        var updates: Task<Void, Never>?
        var notifications: (any NSObjectProtocol)?
        var isEnded = false
    }

    private let state = Mutex(State())

    func start(_ monitor: NetworkMonitor, on executor: BackgroundExecutor, telling mailbox: Mailbox<QueueMessage>) {
        self.state.withLock { state in
            guard state.updates == nil, !state.isEnded else { return }
            monitor.start()
            // The sequence, because the calls of a monitor wait for a main thread that may be blocked.
            state.updates = Task(executorPreference: executor) {
                for await update in monitor.updates { mailbox.post(.path(update)) }
            }
            state.notifications = NotificationCenter.default.addObserver(
                forName: NetworkMonitor.connectivityRestoredNotification,
                object: monitor,
                queue: nil
            ) { _ in mailbox.post(.restored) }
        }
    }

    func end() {
        self.state.withLock { state in
            state.isEnded = true
            state.updates?.cancel()
            if let observer = state.notifications { NotificationCenter.default.removeObserver(observer) }
            state.notifications = nil
        }
    }
}
