// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Everything the live view of `compare` shows.
struct ComparisonPicture: LivePicture {
    private(set) var snapshot: Comparison?
    var history = ChangeHistory()
    var size: TerminalSize = .usual
    /// What the program is called.
    let name: String
    let characters: LiveCharacters
    /// How to leave, for the last row.
    let hint: String
    /// When the comparison ends by itself.
    var end: WallTime?

    init(name: String, characters: LiveCharacters, hint: String, end: WallTime?) {
        self.name = name
        self.characters = characters
        self.hint = hint
        self.end = end
    }

    mutating func record(_ snapshot: Comparison) {
        for change in snapshot.changes(since: self.snapshot) {
            self.history.add(snapshot.takenAt.wall, change.word, change.emphasis, change.text)
        }
        self.snapshot = snapshot
    }

    func sections(local: (WallTime) -> CivilTime) -> [LiveSection] {
        guard let snapshot else { return [] }
        // When, not how long ago: nothing is drawn while nothing happens.
        return snapshot.sections(width: self.size.columns, self.characters) { column in
            guard let time = column.report.reportedAt else { return "nothing" }
            return String(local(snapshot.takenAt.wall(at: time)).time.prefix(8))
        }
    }

    func title(local _: (WallTime) -> CivilTime) -> [LiveLine] {
        let (word, emphasis, sentence) = self.snapshot?.headline ?? ("UNKNOWN", .caution, "")
        var lines = [LiveLine(word, emphasis)]
        var text = wrapped(self.characters.displayable(sentence), to: max(1, self.size.columns - word.count - 2))
        if !text.isEmpty { lines[0].append("  " + text.removeFirst()) }
        if self.isRoomy {
            for line in text.prefix(2) { lines.append(LiveLine(String(repeating: " ", count: word.count + 2) + line)) }
        }
        return lines
    }

    func footer(local: (WallTime) -> CivilTime) -> LiveLine {
        var line = LiveLine("\(self.name) compare", .faint)
        if let end = self.end { line.append("   until \(local(end).time.prefix(8))", .faint) }
        line.append(self.hint, .faint, rightIn: self.size.columns)
        return line
    }
}
