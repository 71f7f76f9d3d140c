// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import Synchronization

/// The last line of the terminal on standard error, drawn anew in place; callable from any thread.
///
/// Nothing else about the terminal is changed, so that whatever ends the process leaves it as it was.
final class ProgressLine: Sendable {
    private static let start = "\r"
    private static let clearToEnd = "\u{1B}[K"

    private let shown = Mutex("")

    /// Creates a line on standard error; nil when that is no terminal, or one that cannot redraw a line.
    init?(environment: [String: String]) {
        guard isatty(STDERR_FILENO) == 1, !["", "dumb"].contains(environment["TERM", default: ""]) else { return nil }
    }

    /// Shows a text in place of the one before; what does not fit is cut off.
    ///
    /// A terminal that another process group uses, and one that takes nothing, is left alone.
    func show(_ text: String) {
        let text = String(text.safe.prefix(max(1, (StandardStreams.errorColumns ?? 80) - 1)))
        self.shown.withLock { shown in
            guard text != shown, TerminalScreen.isForeground(STDERR_FILENO) else { return }
            shown = text
            StandardStreams.writeNote(Self.start + text + Self.clearToEnd)
        }
    }

    /// Takes the line off the terminal.
    func clear() {
        self.shown.withLock { shown in
            if shown.isEmpty { return }
            shown = ""
            StandardStreams.writeNote(Self.start + Self.clearToEnd)
        }
    }
}
