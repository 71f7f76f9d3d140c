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
        self.add(sentence, after: self.style.paint(word, emphasis) + "  ", columns: word.count + 2)
    }

    /// Adds the heading of a section, with an empty line before it.
    package mutating func heading(_ text: String) {
        self.text += "\n" + self.style.paint(text.safe, .strong) + "\n"
    }

    /// Adds a row; further contents stand below the first.
    package mutating func row(_ label: String, _ contents: [String]) {
        for (number, content) in (contents.isEmpty ? [""] : contents).enumerated() {
            self.add(content, after: self.lead(number == 0 ? label : ""), columns: self.rightColumn)
        }
    }

    /// Adds a row whose contents begin with what is laid out already; what follows stands below itself.
    mutating func entry(_ label: String, _ start: String, _ content: String) {
        self.text += self.lead(label) + start + "\n"
        self.add(content, after: self.lead(""), columns: self.rightColumn)
    }

    /// Stands before what differs in a table, so that not only a colour tells it.
    static let mark = "! "

    /// Adds columns side by side, and below them those that have no room there, with the labels at their left again.
    ///
    /// - Parameters:
    ///   - labels: What stands at the left of each row.
    ///   - columns: The cells of each column, one for each label; the first is what the column is about.
    mutating func table(_ labels: [String], _ columns: [[String]]) {
        let width = self.style.width ?? .max
        var lines: [LiveLine] = []
        var end = 0
        for column in columns {
            let cells = column.map { $0.hasPrefix(Self.mark) ? $0.safe : "  \($0.safe)" }
            let cellWidth = cells.map(\.count).max() ?? 0
            if lines.isEmpty || end + cellWidth > width {
                lines += labels.map { LiveLine("  \($0)", .faint) }
                end = (labels.map(\.count).max() ?? 0) + 4
            }
            for (row, cell) in cells.enumerated() {
                let line = lines.count - labels.count + row
                lines[line].advance(to: end)
                lines[line].append(cell, row == 0 ? .strong : cell.hasPrefix(Self.mark) ? .bad : nil)
            }
            end += cellWidth + 2
        }
        // Where a line goes is not known; what is cut off is marked so that every program shows it.
        for line in lines { self.text += line.text(self.style, fitting: width, ellipsis: "~") + "\n" }
    }

    /// Adds a paragraph, or an item of a list when it begins with a bullet.
    mutating func paragraph(_ content: String, bullet: String = "") {
        let margin = String(repeating: " ", count: Self.indentation)
        self.add(content, after: margin + bullet, columns: Self.indentation + bullet.count)
    }

    private var rightColumn: Int { Self.indentation + self.labelWidth + 1 }

    /// What stands to the left of the right column.
    private func lead(_ label: String) -> String {
        let label = label.safe
        let padding = max(1, self.labelWidth + 1 - label.count)
        return String(repeating: " ", count: Self.indentation) + label + String(repeating: " ", count: padding)
    }

    /// Adds a text behind what takes so many columns; further lines stand below its first.
    private mutating func add(_ content: String, after lead: String, columns: Int) {
        let width = self.style.width.map { max(Self.minimalWidth, $0 - columns) }
        for (number, line) in wrapped(content.safe, to: width).enumerated() {
            self.text += (number == 0 ? lead : String(repeating: " ", count: columns)) + line + "\n"
        }
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
