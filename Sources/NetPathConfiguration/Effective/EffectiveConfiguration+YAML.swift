// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension EffectiveConfiguration {
    /// The origins stand below one another unless a value is longer than this.
    private static let originColumn = 44

    /// The configuration as YAML that reads back as itself, with the origin of each value as a comment.
    package var text: String {
        self.lines(self.root, indentation: "").map { line, origin in
            guard let origin else { return line + "\n" }
            let width = line.unicodeScalars.count
            return line + String(repeating: " ", count: max(Self.originColumn - width, 2)) + "# \(origin)\n"
        }.joined()
    }

    private typealias Line = (text: String, origin: Origin?)

    private func lines(_ node: ConfigurationNode, indentation: String) -> [Line] {
        switch node.content {
        case .scalar(let text, let isQuoted):
            return [(indentation + Self.scalar(text, isQuoted: isQuoted), self.origin(of: node))]
        case .mapping(let entries):
            return entries.flatMap { entry in
                let key = indentation + Self.scalar(entry.key.text ?? "", isQuoted: true) + ":"
                return self.lines(entry.value, after: key, indentation: indentation + "  ")
            }
        case .sequence(let elements):
            return elements.flatMap { element in
                var lines = self.lines(element, indentation: indentation + "  ")
                if !lines.isEmpty {
                    lines[0].text = indentation + "- " + lines[0].text.dropFirst(indentation.count + 2)
                }
                return lines
            }
        }
    }

    private func lines(_ value: ConfigurationNode, after key: String, indentation: String) -> [Line] {
        switch value.content {
        case .scalar(let text, let isQuoted):
            return [("\(key) \(Self.scalar(text, isQuoted: isQuoted))", self.origin(of: value))]
        case .sequence([]): return [("\(key) []", self.origin(of: value))]
        case .mapping([]): return [("\(key) {}", nil)]
        case .mapping, .sequence: return [(key, nil)] + self.lines(value, indentation: indentation)
        }
    }

    /// A scalar that reads back as the same text, quoted where it has to be.
    private static func scalar(_ text: String, isQuoted: Bool) -> String {
        let isPrintable = text.printable(limit: .max) == text
        if !isQuoted, isPrintable { return text }
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let isWord = text.utf8.allSatisfy { $0.isPlain || "./".utf8.contains($0) }
        let beginsAsWord =
            text.first.map { $0.isLetter || $0 == "/" || $0 == "." && !text.dropFirst().isEmpty } ?? false
        // YAML 1.1's words for truth stay text here, but other readers of the same file would take them for it.
        if isWord, beginsAsWord, !words.contains(text.lowercased()) { return text }
        return "\"\(text.unicodeScalars.map(Self.escaped).joined())\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        default:
            let text = String(scalar)
            guard text.printable(limit: 1) != text else { return text }
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
    }
}
