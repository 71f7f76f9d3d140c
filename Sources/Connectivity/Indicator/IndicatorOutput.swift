// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Where an indicator writes.
public struct IndicatorOutput: Sendable {
    let isTerminal: Bool
    let write: @Sendable (String) -> Void

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether a line can be erased and written anew.
    ///   - write: Writes text as it is; called on any thread, one call at a time. It must not call the indicator.
    public init(isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Standard error.
    public static var standardError: IndicatorOutput { Self(.standardError) }
    /// Standard output.
    public static var standardOutput: IndicatorOutput { Self(.standardOutput) }

    private init(_ file: FileHandle) {
        let isDumb = ProcessInfo.processInfo.environment["TERM"].map { $0.isEmpty || $0 == "dumb" } ?? true
        self.init(isTerminal: isatty(file.fileDescriptor) == 1 && !isDumb) { text in
            // Whoever reads may be gone; a banner is no reason to end a program.
            try? file.write(contentsOf: Data(text.utf8))
        }
    }
}
