// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// How an application shows whether there is a connection: Examples connectivity label|overlay|status|event-loop.

import Foundation

/// Writes a line at once, though the output may be a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

@MainActor
func connectivityExample(_ arguments: [String]) {
    switch arguments.first {
    case "label": showLabel()
    case "overlay": showOverlay()
    case "status": showStatus()
    case "event-loop": runOwnLoop()
    default:
        say("usage: Examples connectivity label|overlay|status|event-loop")
        exit(64)
    }
}
