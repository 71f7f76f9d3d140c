// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Network

/// Whether a path leads anywhere.
public func isOnline(_ path: NWPath) -> Bool { path.status == .satisfied }
