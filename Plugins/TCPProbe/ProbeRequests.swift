// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// Everything that came for the monitor's thread since it last looked.
struct ProbeRequests: Hashable, Sendable {
    var stop = false
    var refresh = false
    var lookups: [String: NameLookup] = [:]
}
