// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the terminal can show: box characters where the locale is UTF-8, ASCII elsewhere.
struct LiveCharacters: Hashable, Sendable {
    var isUnicode: Bool

    /// Looks the character set up as setlocale(3) does: LC_ALL, then LC_CTYPE, then LANG.
    init(environment: [String: String]) {
        let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let set = name.lowercased()
        self.init(isUnicode: set.contains("utf-8") || set.contains("utf8"))
    }

    init(isUnicode: Bool) {
        self.isUnicode = isUnicode
    }

    /// Stands before the interface that carries the path.
    var marker: String { self.isUnicode ? "▸" : ">" }
    /// Stands for what was cut off.
    var ellipsis: String { self.isUnicode ? "…" : "~" }

    /// A text of which every character takes one column: what is not known to be that narrow is spelled out.
    ///
    /// The widths of the rest of Unicode differ from terminal to terminal, and a line that is wider than thought
    /// breaks the whole picture.
    func displayable(_ text: String) -> String {
        let text = text.safe
        let limit: UInt32 = self.isUnicode ? 0x300 : 0x7F
        if text.unicodeScalars.allSatisfy({ $0.value < limit }) { return text }
        return text.unicodeScalars.map { scalar in
            scalar.value < limit ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }.joined()
    }

    /// A word in capitals three rows high; nil when a letter is missing.
    func banner(_ word: String) -> [String]? {
        guard self.isUnicode else {
            let spaced = word.map(String.init).joined(separator: " ")
            let rule = String(repeating: "=", count: spaced.count + 4)
            return [rule, "  \(spaced)", rule]
        }
        var rows = ["", "", ""]
        for letter in word {
            guard let shape = Self.letters[letter] else { return nil }
            for row in rows.indices { rows[row] += shape[row] }
        }
        return rows
    }

    /// The letters of the words for a status.
    private static let letters: [Character: [String]] = [
        "A": ["╔═╗", "╠═╣", "╩ ╩"],
        "C": ["╔═╗", "║  ", "╚═╝"],
        "D": ["╔╦╗", " ║║", "═╩╝"],
        "E": ["╔═╗", "║╣ ", "╚═╝"],
        "F": ["╔═╗", "╠╣ ", "╚  "],
        "I": ["╦", "║", "╩"],
        "K": ["╦╔═", "╠╩╗", "╩ ╩"],
        "N": ["╔╗╔", "║║║", "╝╚╝"],
        "O": ["╔═╗", "║ ║", "╚═╝"],
        "Q": ["╔═╗ ", "║═╬╗", "╚═╝╚"],
        "R": ["╦═╗", "╠╦╝", "╩╚═"],
        "S": ["╔═╗", "╚═╗", "╚═╝"],
        "T": ["╔╦╗", " ║ ", " ╩ "],
        "U": ["╦ ╦", "║ ║", "╚═╝"],
        "W": ["╦ ╦", "║║║", "╚╩╝"],
        " ": ["  ", "  ", "  "],
    ]
}
