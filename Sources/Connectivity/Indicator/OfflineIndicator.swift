// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import NetPath
import Synchronization

/// One line that is there while the network is not: `∆ No Network`, for programs on a terminal and for services.
///
/// On a terminal the banner is the last line. It appears while disconnected and disappears on restore; what the program
/// prints with ``print(_:)`` goes above it, and ``progress(_:)`` stands beside it. Elsewhere, in a file or a journal, each
/// transition is one line. A program that is connected sees none of it.
///
/// Thread-safe. An indicator disappears when it is released.
public final class OfflineIndicator: Sendable {
    private let monitor: NetworkMonitor
    private let output: IndicatorOutput
    /// Held while writing: two threads must not write into one another's line.
    private let line: Mutex<BannerLine>
    private let observation = Mutex<ObservationToken?>(nil)

    /// Creates an indicator; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - banner: What is shown while disconnected, one line.
    ///   - restored: What is written where no line can be erased, when the connection is back.
    ///   - monitor: What is shown, which starts unless it was stopped; nil for this machine's network.
    ///   - output: Where it is shown.
    public init(
        _ banner: String = "∆ No Network",
        restored: String = "Network is back",
        monitor: NetworkMonitor? = nil,
        output: IndicatorOutput = .standardError
    ) {
        // Of its own queue, because the main thread of many programs is busy with their work.
        self.monitor = monitor ?? NetworkMonitor(deliverOn: .queue(DispatchQueue(label: "netpath.indicator")))
        self.output = output
        self.line = Mutex(BannerLine(banner: banner, restored: restored, isTerminal: output.isTerminal))
    }

    deinit {
        self.stop()
    }

    /// Shows the banner from now on whenever there is no network; nothing when started already.
    public func start() {
        self.observation.withLock { observation in
            guard observation == nil else { return }
            // No call is made here: monitors call elsewhere.
            observation = self.monitor.observe { [weak self] isConnected in self?.show(isOffline: !isConnected) }
        }
    }

    /// Removes the banner and the progress, and shows no more.
    public func stop() {
        let observation = self.observation.withLock { $0.take() }
        guard let observation else { return }
        observation.cancel()
        self.change { $0.clear() }
    }

    /// Prints a line, or several, above the banner.
    public func print(_ text: String) {
        self.change { $0.print(text) }
    }

    /// What the program shows of its own beside the banner, for example a progress bar; only on a terminal.
    ///
    /// - Parameter text: The text, which is cut at the edge of the terminal; nil or empty for none.
    public func progress(_ text: String?) {
        self.change { $0.show(progress: text) }
    }

    private func show(isOffline: Bool) {
        // A call that was under way when the indicator was stopped comes too late.
        self.change { line in
            self.observation.withLock { $0 != nil } ? line.show(isOffline: isOffline) : ""
        }
    }

    private func change(_ body: (inout sending BannerLine) -> String) {
        self.line.withLock { line in
            let text = body(&line)
            if !text.isEmpty { self.output.write(text) }
        }
    }
}
