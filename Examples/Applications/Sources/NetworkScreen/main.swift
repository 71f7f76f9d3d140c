// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

// Writes which screens come and go, until it is ended.
NetworkCheck.shared.startMonitoring()
dispatchMain()
