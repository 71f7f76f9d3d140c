// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The rows and columns of a terminal.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// What a terminal has that does not say.
    static let usual = TerminalSize(columns: 80, rows: 24)
}

/// Everything a live view shows; ``lines(_:local:)`` draws it.
struct LivePicture: Sendable {
    /// The latest snapshot.
    private(set) var snapshot: StatusSnapshot?
    /// The latest changes and messages, which fill the rest of the terminal.
    var history = ChangeHistory()
    /// The size of the terminal.
    var size: TerminalSize = .usual
    /// What the program is called.
    let name: String
    /// The characters that the terminal shows.
    let characters: LiveCharacters
    /// How to leave, for the last row.
    let hint: String

    /// Takes the next snapshot.
    mutating func record(_ snapshot: StatusSnapshot) {
        self.history.record(snapshot)
        self.snapshot = snapshot
    }

    /// With less than this everything is said as briefly as possible.
    private static let roomy = TerminalSize(columns: 36, rows: 16)

    var isRoomy: Bool { self.size.rows >= Self.roomy.rows && self.size.columns >= Self.roomy.columns }

    /// The whole picture: as many lines as the terminal has rows, none wider than it.
    ///
    /// - Parameters:
    ///   - style: How to mark up; its width is not looked at.
    ///   - local: Turns a point in time into local time.
    /// - Returns: The lines, from the top.
    func lines(_ style: TextStyle, local: (WallTime) -> CivilTime) -> [String] {
        let rows = max(1, self.size.rows)
        var lines = self.snapshot?.title(of: self, local: local) ?? []
        let footer = self.isRoomy ? [self.footer(local: local)] : []
        let sections = [
            self.snapshot?.path?.section(self.size, self.characters), self.snapshot?.backendSection(self.characters),
            self.history.section(self.size, self.characters, local: local),
        ].compactMap(\.self)
        let wanted = sections.map { $0.wantedRows(isRoomy: self.isRoomy) }
        let shares = LiveSection.shares(of: max(0, rows - lines.count - footer.count), wanted: wanted)
        for (section, share) in zip(sections, shares) {
            lines += section.lines(rows: share, isRoomy: self.isRoomy)
        }
        lines += Array(repeating: LiveLine(), count: max(0, rows - lines.count - footer.count)) + footer
        return lines.prefix(rows).map {
            $0.text(style, fitting: max(1, self.size.columns), ellipsis: self.characters.ellipsis)
        }
    }

    private func footer(local: (WallTime) -> CivilTime) -> LiveLine {
        var line = LiveLine("\(self.name) watch", .faint)
        if let change = self.history.entries.first { line.append("   last change \(local(change.time).text)", .faint) }
        line.append(self.hint, .faint, rightIn: self.size.columns)
        return line
    }
}
