// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The status view of an application: its colour, an icon, "Online" or "Offline", and "via WiFi".
//
// It starts its monitor when it appears and stops it when it disappears, so that a view that nobody sees costs nothing.
// Reads `appear` and `disappear`, a line each.

import Connectivity
import Dispatch
import Foundation

@MainActor
final class StatusView {
    private let monitor = NetworkMonitor()
    private var observation: ConnectivityObservation?
    private let isTerminal = isatty(FileHandle.standardOutput.fileDescriptor) == 1
    private var drawn: String?

    func appear() {
        self.drawn = nil
        self.monitor.start()
        self.observation = self.monitor.observeUpdates { [weak self] update in
            MainActor.assumeIsolated { self?.draw(update) }
        }
    }

    func disappear() {
        self.observation?.cancel()
        self.monitor.stop()
        say("stopped")
    }

    private func draw(_ update: ConnectivityUpdate) {
        func column(_ text: String, _ width: Int) -> String {
            text.padding(toLength: width, withPad: " ", startingAt: 0)
        }
        let colour = update.isConnected ? "green" : "red"
        let text = [
            column(colour, 7), column(update.status.iconName, 12), column(update.status.displayName, 9),
            update.connectionType.phrase,
        ].joined()
        guard text != self.drawn else { return }
        self.drawn = text
        say(self.isTerminal ? "\u{1B}[\(update.isConnected ? 42 : 41)m\(text)\u{1B}[m" : text)
    }
}

@MainActor
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

let view = StatusView()
view.appear()
Thread.detachNewThread {
    while let command = readLine() {
        DispatchQueue.main.async {
            switch command {
            case "appear": view.appear()
            case "disappear": view.disappear()
            default: break
            }
        }
    }
}
dispatchMain()
