// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The text of a configuration file and its name, from which diagnostics quote.
public struct ConfigurationSource: Sendable, Hashable {
    /// The name that messages begin with: the path of the file, or what stands in for one.
    public let name: String

    /// The text as it was read, without a byte order mark.
    public let bytes: [UInt8]

    /// The user besides the administrator who may have written the text, for people; nil when there is none.
    package var otherAuthor: String?

    /// The offset of the first byte of each line.
    private let lineStarts: [Int]

    /// Creates a source from the bytes of a file, which need not be valid UTF-8.
    ///
    /// - Parameters:
    ///   - name: The name that messages begin with.
    ///   - bytes: The content; a UTF-8 byte order mark at its start is dropped.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        self.lineStarts = Self.lineStarts(of: self.bytes)
    }

    /// Creates a source from text in memory.
    ///
    /// - Parameters:
    ///   - name: The name that messages begin with.
    ///   - text: The content.
    public init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }

    /// Splits where YAML 1.1 does, U+0085, U+2028 and U+2029 included, or libyaml's line numbers would not fit.
    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        for index in bytes.indices {
            let isBreak =
                switch bytes[index] {
                case 0x0A: true
                case 0x0D: index + 1 == bytes.count || bytes[index + 1] != 0x0A
                case 0x85: index >= 1 && bytes[index - 1] == 0xC2
                case 0xA8, 0xA9: index >= 2 && bytes[index - 2] == 0xE2 && bytes[index - 1] == 0x80
                default: false
                }
            if isBreak { starts.append(index + 1) }
        }
        return starts
    }

    /// Finds the place of a byte.
    ///
    /// - Parameter offset: The offset into ``bytes``; everything before it is valid UTF-8.
    /// - Returns: The line and column of that byte.
    package func position(ofByteAt offset: Int) -> SourcePosition {
        let line = max((lineStarts.firstIndex { $0 > offset } ?? lineStarts.count) - 1, 0)
        let before = bytes[lineStarts[line]..<min(offset, bytes.count)]
        let column = String(decoding: before, as: UTF8.self).unicodeScalars.count
        return SourcePosition(line: line + 1, column: column + 1)
    }

    /// The text of a line without its end, `nil` for a line that the source does not have.
    package func line(_ number: Int) -> String? {
        guard lineStarts.indices.contains(number - 1) else { return nil }
        let end = number < lineStarts.count ? lineStarts[number] : bytes.count
        let text = String(decoding: bytes[lineStarts[number - 1]..<end], as: UTF8.self)
        return String(text.unicodeScalars.prefix { !["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains($0) })
    }

    /// Cuts out what a person needs to see of the line around a position.
    func excerpt(at position: SourcePosition) -> ConfigurationDiagnostic.Excerpt? {
        // The widest part shown, and how much of it stands before the caret: minified JSON is one endless line.
        let (width, lead) = (120, 80)
        guard let text = line(position.line) else { return nil }
        let scalars = text.unicodeScalars
        let skipped = position.column - 1 > lead ? position.column - 1 - lead : 0
        var shown = String.UnicodeScalarView(
            // One for one, so that the caret stays below its column.
            scalars.dropFirst(skipped).prefix(width).map { $0.isPrintable || $0 == "\t" ? $0 : "\u{FFFD}" }
        )
        guard shown.contains(where: { !$0.properties.isWhitespace }) else { return nil }
        let isCut = shown.count == width
        if skipped > 0 { shown.insert("\u{2026}", at: shown.startIndex) }
        if isCut { shown.append("\u{2026}") }
        let caret = position.column - 1 - skipped + (skipped > 0 ? 1 : 0)
        return ConfigurationDiagnostic.Excerpt(line: String(shown), caretOffset: caret)
    }
}
