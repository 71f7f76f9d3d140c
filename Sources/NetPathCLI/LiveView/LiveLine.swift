// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A line of the live view: pieces of text with their meaning, as many columns as characters.
struct LiveLine: Hashable, Sendable {
    private struct Piece: Hashable, Sendable {
        var text: String
        var emphasis: TextStyle.Emphasis?
    }

    private var pieces: [Piece] = []

    init(_ text: String = "", _ emphasis: TextStyle.Emphasis? = nil) {
        self.append(text, emphasis)
    }

    /// The number of columns the line takes.
    var columns: Int { self.pieces.reduce(0) { $0 + $1.text.count } }

    /// Adds text, which has to be made displayable by ``LiveCharacters/displayable(_:)``.
    mutating func append(_ text: String, _ emphasis: TextStyle.Emphasis? = nil) {
        if !text.isEmpty { self.pieces.append(Piece(text: text, emphasis: emphasis)) }
    }

    /// Fills up with spaces to a column; always leaves at least one space.
    mutating func advance(to column: Int) {
        self.append(String(repeating: " ", count: max(1, column - self.columns)))
    }

    /// Puts text at the right margin if it fits with a gap.
    mutating func append(_ text: String, _ emphasis: TextStyle.Emphasis? = nil, rightIn width: Int) {
        guard !text.isEmpty, self.columns + text.count + 2 <= width else { return }
        self.advance(to: width - text.count)
        self.append(text, emphasis)
    }

    /// The line as a terminal gets it, cut off where the terminal ends.
    func text(_ style: TextStyle, fitting width: Int, ellipsis: String) -> String {
        let isCut = self.columns > width
        var room = isCut ? max(0, width - ellipsis.count) : width
        var text = ""
        for piece in self.pieces where room > 0 {
            let part = String(piece.text.prefix(room))
            room -= part.count
            text += piece.emphasis.map { style.paint(part, $0) } ?? part
        }
        return isCut ? text + ellipsis.prefix(width) : text
    }
}
