// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// How text for people is laid out.
package struct TextStyle: Hashable, Sendable {
    /// Whether escape sequences may be used; whatever is coloured also says so in words.
    package var isColored: Bool
    /// The number of columns; nil not to wrap lines.
    package var width: Int?

    /// What a piece of text means.
    package enum Emphasis: String, Sendable {
        case good = "1;32"
        case caution = "1;33"
        case bad = "1;31"
        case strong = "1"
        case faint = "2"
    }

    /// Marks up a text, which is printable already.
    package func paint(_ text: String, _ emphasis: Emphasis) -> String {
        self.isColored ? "\u{1B}[\(emphasis.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension PathStatus {
    /// How the status is marked up.
    var emphasis: TextStyle.Emphasis {
        switch self {
        case .satisfied: .good
        case .requiresConnection: .caution
        case .unsatisfied: .bad
        }
    }
}

extension String {
    /// The text without anything that could act on a terminal: names come from any user who may create an interface.
    package var safe: String { self.printable(limit: 1_024) }
}

/// When to use colour.
package enum ColorChoice: String, Sendable, CaseIterable {
    case auto
    case always
    case never

    /// Decides for one output.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - environment: Where NO_COLOR (no-color.org) and TERM are looked up.
    /// - Returns: Whether escape sequences may be used.
    package func isColored(isTerminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            // A terminal that does not say what it is may show escape sequences as they are.
            isTerminal && environment["NO_COLOR", default: ""].isEmpty
                && !["", "dumb"].contains(environment["TERM", default: ""])
        }
    }
}
