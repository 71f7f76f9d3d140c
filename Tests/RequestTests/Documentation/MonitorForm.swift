// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What the documentation of OfflineRequests shows of a monitor, with the imports that stand there.

import Connectivity
import OfflineRequests

extension Orders {
    func showWhatWaits() {
        let waiting = NetworkMonitor.shared.pendingRequests
        show(waiting.failure.map { "The queue cannot be read: \($0)" } ?? "\(waiting.count) not sent yet")
        NetworkMonitor.shared.forceTriggerRetry()
    }
}
