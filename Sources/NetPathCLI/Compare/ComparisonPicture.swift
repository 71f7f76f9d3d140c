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
        self.snapshot.map { [self.backends($0, local: local), self.differences($0)] } ?? []
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

    private func backends(_ comparison: Comparison, local: (WallTime) -> CivilTime) -> LiveSection {
        // When, not how long ago: nothing is drawn while nothing happens.
        let said = { (column: Comparison.Column) -> String in
            guard let time = column.report.reportedAt else { return "nothing" }
            return String(local(comparison.takenAt.wall(at: time)).time.prefix(8))
        }
        let table = ComparisonTable(comparison, said: said, printable: self.characters.displayable)
        let brief = table.briefLines
        let lines = table.lines(width: self.size.columns, ellipsis: self.characters.ellipsis)
        // The table is what it is all about.
        return LiveSection(heading: "Backends", detailed: lines ?? brief, brief: brief, comesFirst: true)
    }

    private func differences(_ comparison: Comparison) -> LiveSection {
        var section = LiveSection(heading: "Differences", detailed: [], brief: [])
        for difference in comparison.differences {
            let line = LiveLine("  " + self.characters.displayable(difference.summary))
            section.brief.append(line)
            section.detailed.append(line)
            for explanation in difference.explanations {
                for part in wrapped(self.characters.displayable(explanation), to: max(20, self.size.columns - 4)) {
                    section.detailed.append(LiveLine("    " + part, .faint))
                }
            }
        }
        for column in comparison.columns {
            guard let remark = comparison.remark(on: column) else { continue }
            let line = LiveLine("  " + self.characters.displayable("\(column.report.name): \(remark)"), .caution)
            section.brief.append(line)
            section.detailed.append(line)
        }
        return section
    }

    func footer(local: (WallTime) -> CivilTime) -> LiveLine {
        var line = LiveLine("\(self.name) compare", .faint)
        if let end = self.end { line.append("   until \(local(end).time.prefix(8))", .faint) }
        line.append(self.hint, .faint, rightIn: self.size.columns)
        return line
    }
}
