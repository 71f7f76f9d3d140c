// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// One value of a configuration file, with the place where it stands.
///
/// Scalars are kept as they were written: whether `2s` is a duration or a name is decided by the
/// ``ConfigurationSection`` getter that asks for it, never by the file format.
package struct ConfigurationNode: Sendable, Hashable {
    /// What a value is made of.
    package enum Content: Sendable, Hashable {
        /// A single value; `isQuoted` tells `"5"`, which is only ever text, from `5`.
        case scalar(text: String, isQuoted: Bool)
        /// A list.
        case sequence([ConfigurationNode])
        /// Keys with their values, in the order of the file.
        case mapping([Entry])
    }

    /// One key of a mapping and its value.
    package struct Entry: Sendable, Hashable {
        /// The key; a scalar in every mapping that a reader accepted.
        package let key: ConfigurationNode

        /// The value; an empty unquoted scalar when nothing follows the colon.
        package let value: ConfigurationNode

        /// Creates an entry.
        package init(key: ConfigurationNode, value: ConfigurationNode) {
            self.key = key
            self.value = value
        }
    }

    /// The value itself.
    package let content: Content

    /// Where the value begins.
    package let position: SourcePosition

    /// The text the value stands in, when it is not the file itself but, say, an option of the command line.
    package let source: ConfigurationSource?

    /// Creates a node.
    package init(_ content: Content, at position: SourcePosition, in source: ConfigurationSource? = nil) {
        self.content = content
        self.position = position
        self.source = source
    }

    /// The text of a scalar, `nil` for lists and mappings.
    package var text: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }
}

extension ConfigurationNode {
    /// The bare values: equal wherever they stand, and whether or not they were quoted.
    ///
    /// - Parameter key: A key of the mapping to leave out.
    /// - Returns: The values, all at one place that means nothing.
    package func values(without key: String? = nil) -> Content {
        switch self.content {
        case .scalar(let text, _): return .scalar(text: text, isQuoted: false)
        case .sequence(let elements): return .sequence(elements.map(\.withoutPlace))
        case .mapping(let entries):
            let entries = entries.filter { key == nil || $0.key.text != key }
            return .mapping(entries.map { Entry(key: $0.key.withoutPlace, value: $0.value.withoutPlace) })
        }
    }

    /// The same, each value with the text it stands in, so that it can be put into the tree of another.
    package func stating(_ source: ConfigurationSource) -> ConfigurationNode {
        let content: Content =
            switch self.content {
            case .scalar: self.content
            case .sequence(let elements): .sequence(elements.map { $0.stating(source) })
            case .mapping(let entries):
                .mapping(entries.map { Entry(key: $0.key.stating(source), value: $0.value.stating(source)) })
            }
        return ConfigurationNode(content, at: self.position, in: source)
    }

    /// Who may have written any part of the value besides the administrator, where it is not from the file itself.
    var otherAuthor: String? {
        if let author = self.source?.otherAuthor { return author }
        return switch self.content {
        case .scalar: nil
        case .sequence(let elements): elements.lazy.compactMap(\.otherAuthor).first
        case .mapping(let entries): entries.lazy.compactMap { $0.key.otherAuthor ?? $0.value.otherAuthor }.first
        }
    }

    private var withoutPlace: ConfigurationNode {
        ConfigurationNode(self.values(), at: SourcePosition(line: 1, column: 1))
    }

    /// Whether the value is YAML's way to say nothing: `key:`, `key: ~` or `key: null`.
    ///
    /// `null` is refused rather than read as a four-letter name, because its author means "no value".
    var isNull: Bool {
        guard case .scalar(let text, isQuoted: false) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The value as an error message shows it, such as `'5 parsecs'` or `a list`.
    var summary: String {
        switch content {
        case .scalar(let text, isQuoted: false): "'\(text.printable(limit: 60))'"
        case .scalar(let text, isQuoted: true): "the text \"\(text.printable(limit: 60))\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
