// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Everything asked of the monitor's thread since it last looked.
struct MonitorRequests: Hashable, Sendable {
    var stop = false
    var refresh = false
    var watched: Set<InternetAddress>?
}
