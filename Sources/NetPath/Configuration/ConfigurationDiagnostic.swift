// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// One thing that is wrong with a configuration, or doubtful, told so that a person can put it right.
public struct ConfigurationDiagnostic: Sendable, Hashable {
    /// The part of a line that a diagnostic is about.
    package struct Excerpt: Sendable, Hashable {
        /// The line; only the part around the caret when it is very long.
        package let line: String

        /// How many scalars of ``line`` stand before the caret.
        package let caretOffset: Int

        /// The line, and below it the caret.
        var rendered: String {
            // Tabs are kept, so that the caret moves as far as the line above it does.
            let indentation = line.unicodeScalars.prefix(caretOffset).map { $0 == "\t" ? "\t" : " " }.joined()
            return "\(line)\n\(indentation)^"
        }
    }

    /// Whether a diagnostic keeps the file from being used.
    public enum Severity: String, Sendable, Hashable {
        /// The file is refused.
        case error
        /// The file is used, and does not do what was probably meant.
        case warning
    }

    /// Whether the file is refused.
    public let severity: Severity

    /// The name of the file, or what stands in for one.
    public let origin: String

    /// Where in the file, `nil` when the file as a whole is meant.
    public let position: SourcePosition?

    /// The value in question, such as `backends[0].interval`; empty for the file as a whole.
    public let path: String

    /// What is wrong: a sentence without its end.
    public let message: String

    /// What stands there instead, as a phrase such as `'5 parsecs'` or `a list`.
    public let found: String?

    /// Everything that may stand there, where that can be listed.
    public let allowed: [String]

    /// What was probably meant.
    public let suggestion: String?

    /// The line the diagnostic is about.
    package let excerpt: Excerpt?

    /// Creates a diagnostic about a file as a whole.
    ///
    /// - Parameters:
    ///   - origin: The name of the file.
    ///   - message: What is wrong and what to do about it.
    package init(origin: String, message: String) {
        self.init(message, in: ConfigurationSource(name: origin, bytes: []), at: nil)
    }

    /// Creates a diagnostic about a place in a file.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - source: The file, from which the line is quoted.
    ///   - position: The place.
    ///   - path: The value in question.
    ///   - found: What stands there, as a phrase.
    ///   - allowed: What may stand there.
    ///   - suggestion: What was probably meant.
    ///   - severity: Whether the file is refused.
    package init(
        _ message: String,
        in source: ConfigurationSource,
        at position: SourcePosition?,
        path: String = "",
        found: String? = nil,
        allowed: [String] = [],
        suggestion: String? = nil,
        severity: Severity = .error
    ) {
        self.severity = severity
        self.origin = source.name
        self.position = position
        self.path = path
        self.message = message
        self.found = found
        self.allowed = allowed
        self.suggestion = suggestion
        self.excerpt = position.flatMap(source.excerpt(at:))
    }
}

extension ConfigurationDiagnostic: CustomStringConvertible {
    /// The diagnostic as a compiler would print it, with the line and a caret where there is a place.
    public var description: String {
        var text = origin.printable(limit: 4_096)
        if let position { text += ":\(position)" }
        text += ": \(severity.rawValue): \(message)"
        if let found { text += ", found \(found)" }
        if let suggestion { text += " (did you mean '\(suggestion)'?)" }
        if !allowed.isEmpty { text += "; allowed: \(allowed.joined(separator: ", "))" }
        if let excerpt { text += "\n\(excerpt.rendered)" }
        return text
    }
}
