// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

// Writes a line for every signal, until it is ended.
NetworkCheck.shared.startMonitoring {
    let check = NetworkCheck.shared
    let line = check.isConnected ? "connected (\(check.connectionType))\n" : "∆ No Network\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}
dispatchMain()
