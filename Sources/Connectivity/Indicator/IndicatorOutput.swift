// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

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
    public static var standardError: IndicatorOutput { Self(.error) }
    /// Standard output.
    public static var standardOutput: IndicatorOutput { Self(.output) }

    private init(_ stream: StandardStream) {
        self.init(isTerminal: stream.isTerminal) { text in
            // A banner that cannot be written is no reason to end a program.
            try? stream.write(text)
        }
    }
}
