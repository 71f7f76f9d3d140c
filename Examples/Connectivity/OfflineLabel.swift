// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The label of an application's screens: hidden while connected, "∆ No Network" while not.
//
// Only the screen on top has a handler; it is updated when it appears, when the one that hid it disappears, on every
// change, and when the program comes back from the background. Reads `present`, `dismiss`, `background` and
// `foreground`, a line each, in place of what a user does to a window.

import Connectivity
import Dispatch
import Foundation

@MainActor
private final class Screen {
    private let name: String
    private var label: String?

    init(_ name: String) {
        self.name = name
    }

    func didAppear() {
        self.label = nil
        // Called at once, and on every change; the one before is replaced.
        NetworkMonitor.shared.mainActorHandler = { [weak self] isConnected in self?.show(isConnected) }
    }

    func show(_ isConnected: Bool) {
        let label = isConnected ? "hidden" : "∆ No Network"
        guard label != self.label else { return }
        self.label = label
        say("\(self.name): \(label)")
    }
}

/// The screens, the one on top last.
@MainActor private var screens = [Screen("first")]

@MainActor
private func perform(_ command: String) {
    switch command {
    case "present":
        screens.append(Screen("second"))
        screens.last?.didAppear()
    case "dismiss":
        screens.removeLast()
        screens.last?.didAppear()
    case "background":
        NetworkMonitor.shared.mainActorHandler = nil
        say("in the background")
    case "foreground":
        NetworkMonitor.shared.refresh()
        screens.last?.didAppear()
    default: break
    }
}

@MainActor
func showLabel() -> Never {
    screens.last?.didAppear()
    Thread.detachNewThread {
        while let command = readLine() {
            DispatchQueue.main.async { perform(command) }
        }
    }
    dispatchMain()
}
