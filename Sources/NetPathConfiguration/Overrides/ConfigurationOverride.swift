// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// One value given beside the file, such as `backends.netlink.mode=off`.
struct ConfigurationOverride {
    /// One step of the path: a key, or an entry of a list by its number or name.
    struct Step {
        let text: String
        let position: SourcePosition
    }

    /// The text the override stands in; messages quote it.
    let source: ConfigurationSource
    /// The scalars of the override within that text.
    private let range: Range<Int>

    /// The arguments of `--set`, in their order.
    static func commandLine(_ arguments: [String]) -> [ConfigurationOverride] {
        arguments.enumerated().map { index, text in
            var source = ConfigurationSource(name: "--set \(index + 1)", text: text)
            source.otherAuthor = "--set"
            return ConfigurationOverride(source: source, range: 0..<text.unicodeScalars.count)
        }
    }

    /// The entries of the variable NETPATH_SET, separated by semicolons.
    static func environment(_ text: String?) -> [ConfigurationOverride] {
        guard let text else { return [] }
        var source = ConfigurationSource(name: "$NETPATH_SET", text: text)
        source.otherAuthor = "$NETPATH_SET"
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.split { scalars[$0] == ";" }.compactMap { part in
            guard let first = part.first(where: { !scalars[$0].properties.isWhitespace }) else { return nil }
            return ConfigurationOverride(source: source, range: first..<part.endIndex)
        }
    }

    // MARK: Reading

    /// Reads the path and the value.
    ///
    /// - Returns: The steps of the path, never none, and the value as YAML.
    /// - Throws: What is wrong with the text of the override.
    func read() throws(ConfigurationError) -> (steps: [Step], value: ConfigurationNode) {
        let scalars = Array(String(decoding: self.source.bytes, as: UTF8.self).unicodeScalars)
        guard let equals = self.range.first(where: { scalars[$0] == "=" }) else {
            throw self.error("must be a path and a value such as backends.netlink.mode=off", at: self.range.lowerBound)
        }
        var steps: [Step] = []
        for part in (self.range.lowerBound..<equals).split(
            omittingEmptySubsequences: false,
            whereSeparator: {
                // `backends[0].mode`, as messages write it, is `backends.0.mode`.
                scalars[$0] == "." || scalars[$0] == "["
            }
        ) {
            var text = String(String.UnicodeScalarView(part.map { scalars[$0] }))
            if part.startIndex > self.range.lowerBound, scalars[part.startIndex - 1] == "[" {
                guard text.hasSuffix("]") else {
                    throw self.error("has a '[' without its ']'", at: part.startIndex - 1)
                }
                text.removeLast()
            }
            guard !text.isEmpty else { throw self.error("has an empty step in its path", at: part.startIndex) }
            steps.append(Step(text: text, position: self.position(part.startIndex)))
        }
        return (steps, try self.value(scalars, after: equals))
    }

    private func value(
        _ scalars: [Unicode.Scalar],
        after equals: Int
    ) throws(ConfigurationError) -> ConfigurationNode {
        let range = (equals + 1)..<self.range.upperBound
        guard range.contains(where: { !scalars[$0].properties.isWhitespace }) else {
            let nothing = ConfigurationNode.Content.scalar(text: "", isQuoted: false)
            return ConfigurationNode(nothing, at: self.position(equals), in: self.source)
        }
        // Blanks for everything else, so that the positions YAML tells are those of the whole text.
        let blanked = scalars.indices.map { range.contains($0) ? scalars[$0] : " " }
        let text = Array(String(String.UnicodeScalarView(blanked)).utf8)
        return try YAMLReader.read(text, quoting: self.source).stating(self.source)
    }

    // MARK: Complaining

    func position(_ offset: Int) -> SourcePosition {
        SourcePosition(line: 1, column: offset + 1)
    }

    func error(_ message: String, at offset: Int) -> ConfigurationError {
        ConfigurationError(ConfigurationDiagnostic(message, in: self.source, at: self.position(offset)))
    }
}
