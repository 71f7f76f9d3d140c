// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The status view of an application, on a terminal: its colour, a symbol, "Online" or "Offline", and "via WiFi".
//
// It starts its monitor when it appears and stops it when it disappears, so that a hidden view costs nothing.
// Reads `appear` and `disappear`, a line each, until the end. A program that only shows it is one line:
//
//     TerminalStatusView().run()

import Connectivity

@MainActor
func showStatus() {
    let view = TerminalStatusView()
    view.appear()
    while let command = readLine() {
        switch command {
        case "appear": view.appear()
        case "disappear":
            view.disappear()
            say("stopped")
        default: break
        }
    }
    view.disappear()
}
