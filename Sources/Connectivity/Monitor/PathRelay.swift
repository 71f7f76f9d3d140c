// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathStandard
import Synchronization

/// Hears of paths for one run of a monitor, without keeping the monitor alive.
final class PathRelay: SharedPathListener {
    private weak let monitor: NetworkMonitor?
    private let isWanted = Mutex(true)

    init(_ monitor: NetworkMonitor) {
        self.monitor = monitor
    }

    var wantsPaths: Bool { self.isWanted.withLock { $0 } }

    func end() {
        self.isWanted.withLock { $0 = false }
    }

    func receive(_ snapshot: PathSnapshot) {
        self.monitor?.receive(ConnectivityUpdate(snapshot.path), number: snapshot.number, from: self)
    }
}
