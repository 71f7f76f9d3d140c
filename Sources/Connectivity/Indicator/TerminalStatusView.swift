// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import NetPath
import Synchronization

/// The state of the network on a terminal, in colour: `● Online via WiFi`.
///
/// A program that shows nothing else is one line, `TerminalStatusView().run()`. On a terminal the view is the last line,
/// green while online, red while offline, yellow otherwise, and is written anew with every change; elsewhere each change
/// is a line. It starts its monitor when it appears and stops it when it disappears, so that a hidden view costs
/// nothing. Thread-safe.
public final class TerminalStatusView: Sendable {
    private struct State: Sendable {
        var observation: ObservationToken?
        var drawn: String?
    }

    private let monitor: NetworkMonitor
    private let output: IndicatorOutput
    /// Held while writing: two threads must not write into one another's line.
    private let state = Mutex(State())

    /// Creates a view; ``appear()`` shows it.
    ///
    /// - Parameters:
    ///   - monitor: What is shown, which the view starts and stops; nil for this machine's network.
    ///   - output: Where it is shown.
    public init(monitor: NetworkMonitor? = nil, output: IndicatorOutput = .standardOutput) {
        // Of its own queue, because the main thread of many programs is busy with their work.
        self.monitor = monitor ?? NetworkMonitor(deliverOn: .queue(DispatchQueue(label: "netpath.view")))
        self.output = output
    }

    deinit {
        self.disappear()
    }

    /// Shows the network from now on; nothing when shown already.
    public func appear() {
        self.state.withLock { state in
            guard state.observation == nil else { return }
            // No call is made here: monitors call elsewhere.
            state.observation = self.monitor.observeUpdates { [weak self] update in self?.draw(StatusLine(update)) }
        }
        self.monitor.start()
    }

    /// Removes the view from the terminal, and shows no more.
    public func disappear() {
        self.state.withLock { state in
            guard let observation = state.observation.take() else { return }
            observation.cancel()
            self.monitor.stop()
            if self.output.isTerminal, state.drawn != nil { self.output.write(StatusLine.erase) }
            state.drawn = nil
        }
    }

    /// Shows the network until the program ends, for programs that do nothing else; called on the main thread.
    public func run() -> Never {
        self.appear()
        dispatchMain()
    }

    private func draw(_ line: StatusLine) {
        self.state.withLock { state in
            // A call that was under way when the view disappeared comes too late.
            guard state.observation != nil, state.drawn != line.text else { return }
            self.output.write(self.output.isTerminal ? line.drawn : "\(line.text)\n")
            state.drawn = line.text
        }
    }
}

/// What a view of the status shows.
struct StatusLine: Sendable {
    static let erase = "\r\u{1B}[K"

    let text: String
    /// The text as the last line of a terminal, in place of what was there.
    let drawn: String

    init(_ update: ConnectivityUpdate) {
        let (symbol, background) =
            switch update.status {
            case .connected: ("●", 42)
            case .disconnected, .unsatisfied: ("○", 41)
            case .portal, .noInternet, .requiresConnection, .unknown: ("◐", 43)
            }
        self.text = "\(symbol) \(update.status.displayName) \(update.connectionType.phrase)"
        // A line that wraps could not be erased.
        self.drawn = "\(Self.erase)\u{1B}[?7l\u{1B}[30;\(background)m \(self.text) \u{1B}[m\u{1B}[?7h"
    }
}
