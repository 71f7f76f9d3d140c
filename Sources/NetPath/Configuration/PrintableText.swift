// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension String {
    /// The text without anything that could act on a terminal, and no longer than a limit.
    ///
    /// Configuration text is quoted in error messages; an escape sequence or a bidirectional override in it must
    /// not be able to rewrite what the reader of the message sees.
    ///
    /// - Parameter limit: The number of scalars after which an ellipsis stands for the rest.
    /// - Returns: The text with control and format characters spelled as `\u{1B}`.
    package func printable(limit: Int) -> String {
        var result = ""
        var count = 0
        for scalar in unicodeScalars {
            guard count < limit else { return result + "\u{2026}" }
            count += 1
            if scalar.isPrintable {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows the scalar and does nothing else with it.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
