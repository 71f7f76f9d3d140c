// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Text in two columns, labels on the left, that grows from top to bottom.
package struct TextScreen {
    /// With fewer columns the contents need the room more than the labels do.
    private static let roomyWidth = 60
    private static let indentation = 2
    /// Below this nothing is gained by wrapping.
    private static let minimalWidth = 20

    let style: TextStyle
    package private(set) var text = ""

    package init(_ style: TextStyle) {
        self.style = style
    }

    private var isRoomy: Bool { self.style.width.map { $0 >= Self.roomyWidth } ?? true }

    /// Labels up to this length keep the right column straight: an interface name has at most 15 bytes.
    private var labelWidth: Int { self.isRoomy ? 15 : 10 }

    /// Adds the first line: a big word, and what it is about.
    package mutating func title(_ word: String, _ emphasis: TextStyle.Emphasis, _ sentence: String) {
        guard self.isRoomy || word.count + 2 + sentence.count <= self.style.width ?? 0 else {
            self.text += self.style.paint(word, emphasis) + "\n"
            return self.paragraph(sentence)
        }
        let lead = word.count + 2
        let lines = wrapped(sentence.safe, to: self.columns(after: lead))
        self.text += self.style.paint(word, emphasis) + "  " + (lines.first ?? "") + "\n"
        for line in lines.dropFirst() { self.text += String(repeating: " ", count: lead) + line + "\n" }
    }

    /// Adds the heading of a section, with an empty line before it.
    package mutating func heading(_ text: String) {
        self.text += "\n" + self.style.paint(text.safe, .strong) + "\n"
    }

    /// Adds a row; further contents stand below the first.
    package mutating func row(_ label: String, _ contents: [String]) {
        var label = label.safe
        for content in contents.isEmpty ? [""] : contents {
            let lead = Self.indentation + self.labelWidth + 1
            for line in wrapped(content.safe, to: self.columns(after: lead)) {
                let padding = max(1, self.labelWidth + 1 - label.count)
                let row =
                    String(repeating: " ", count: Self.indentation) + label + String(repeating: " ", count: padding)
                self.text += row + line + "\n"
                label = ""
            }
        }
    }

    /// Adds a row whose contents begin with what is laid out already; what follows stands below itself.
    mutating func entry(_ label: String, _ lead: String, _ content: String) {
        let column = Self.indentation + self.labelWidth + 1
        let lines = wrapped(content.safe, to: self.columns(after: column))
        let padding = String(repeating: " ", count: max(1, self.labelWidth + 1 - label.count))
        self.text += String(repeating: " ", count: Self.indentation) + label.safe + padding + lead + "\n"
        for line in lines { self.text += String(repeating: " ", count: column) + line + "\n" }
    }

    /// Adds a line that is laid out already.
    mutating func line(_ content: String) {
        var content = content
        while content.hasSuffix(" ") { content.removeLast() }
        self.text += content + "\n"
    }

    /// Adds a paragraph, or an item of a list when it begins with a bullet.
    mutating func paragraph(_ content: String, bullet: String = "") {
        let lead = Self.indentation + bullet.count
        for (number, line) in wrapped(content.safe, to: self.columns(after: lead)).enumerated() {
            let start = number == 0 ? bullet : String(repeating: " ", count: bullet.count)
            self.text += String(repeating: " ", count: Self.indentation) + start + line + "\n"
        }
    }

    private func columns(after lead: Int) -> Int? {
        self.style.width.map { max(Self.minimalWidth, $0 - lead) }
    }
}

/// Breaks a text between words; a word that is longer than a line stays whole, so that it can be copied.
package func wrapped(_ text: String, to width: Int?) -> [String] {
    guard let width, text.count > width else { return [text] }
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
        if line.isEmpty {
            line = String(word)
        } else if line.count + 1 + word.count <= width {
            line += " " + word
        } else {
            lines.append(line)
            line = String(word)
        }
    }
    return lines + [line]
}
