// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LivePicture {
    /// With less than this everything is said as briefly as possible.
    private static var roomy: TerminalSize { TerminalSize(columns: 36, rows: 16) }
    /// The rows that the other sections need to say anything.
    private static var leastRest: Int { 6 }

    var isRoomy: Bool { self.size.rows >= Self.roomy.rows && self.size.columns >= Self.roomy.columns }

    /// Takes a message of the program.
    mutating func record(_ level: LogLevel, _ text: String, at time: WallTime) {
        self.history.record(level, text, at: time)
    }

    /// The whole picture: as many lines as the terminal has rows, none wider than it.
    ///
    /// - Parameters:
    ///   - style: How to mark up; its width is not looked at.
    ///   - local: Turns a point in time into local time.
    /// - Returns: The lines, from the top.
    func lines(_ style: TextStyle, local: (WallTime) -> CivilTime) -> [String] {
        let rows = max(1, self.size.rows)
        var lines = self.title(local: local)
        let footer = self.isRoomy ? [self.footer(local: local)] : []
        let sections =
            self.sections(local: local) + [self.history.section(self.size, self.characters, local: local)]
        let room = max(0, rows - lines.count - footer.count)
        let wanted = sections.map { $0.wantedRows(isRoomy: self.isRoomy) }
        let reserved = zip(sections, wanted).map { $0.comesFirst && $1 + Self.leastRest <= room ? $1 : 0 }
        let shares = LiveSection.shares(of: room - reserved.reduce(0, +), wanted: zip(wanted, reserved).map(-))
        for (section, share) in zip(sections, zip(shares, reserved).map(+)) {
            lines += section.lines(rows: share, isRoomy: self.isRoomy)
        }
        lines += Array(repeating: LiveLine(), count: max(0, rows - lines.count - footer.count)) + footer
        return lines.prefix(rows).map {
            $0.text(style, fitting: max(1, self.size.columns), ellipsis: self.characters.ellipsis)
        }
    }
}

extension LiveState {
    func sections(local _: (WallTime) -> CivilTime) -> [LiveSection] {
        [self.snapshot?.path.map(self.interfaces)].compactMap { $0 } + [self.backends(self.snapshot?.backends ?? [])]
    }

    func title(local: (WallTime) -> CivilTime) -> [LiveLine] {
        let (word, emphasis, sentence) = self.snapshot?.headline ?? ("UNKNOWN", .caution, "")
        let isStale = self.snapshot?.path?.isStale == true
        let columns = self.size.columns
        let since = self.history.statusSince.map { "since \(local($0).time.prefix(8))" } ?? ""
        var lines: [LiveLine] = []
        if self.isRoomy, let banner = self.characters.banner(word), (banner.map(\.count).max() ?? 0) <= columns {
            lines = banner.map { LiveLine($0, emphasis) }
            lines[1].append(isStale ? "stale" : "", .caution, rightIn: columns)
            lines[2].append(since, .faint, rightIn: columns)
        } else {
            lines = [LiveLine(word, emphasis)]
            if isStale { lines[0].append(" stale", .caution) }
            lines[0].append(since, .faint, rightIn: columns)
        }
        // Where there is little room the interfaces say more than the rest of a sentence.
        let limit = self.size.rows < 8 ? 1 : 2
        var reason = wrapped(self.characters.displayable(sentence), to: columns)
        // What has no row of its own hangs over the margin, so that it is seen to be cut off.
        if reason.count > limit { reason[limit - 1] = reason[(limit - 1)...].joined(separator: " ") }
        let facts = self.isRoomy ? self.snapshot?.path.map(self.facts) : nil
        return lines + reason.prefix(limit).map { LiveLine($0, .strong) } + [facts].compactMap { $0 }
    }

    /// What else there is to say about the path, in one line.
    private func facts(of path: NetworkPath) -> LiveLine {
        var facts = [
            ("IPv4", path.familyText(path.supportsIPv4)), ("IPv6", path.familyText(path.supportsIPv6)),
            ("DNS", path.dnsText), ("internet", path.internetText),
        ]
        if let carrier = path.underlyingIndex { facts.insert(("carried by", path.name(of: carrier)), at: 0) }
        if path.isExpensive { facts.insert(("cost", "expensive"), at: 0) }
        if path.isConstrained { facts.insert(("traffic", "constrained"), at: 0) }
        var line = LiveLine()
        for (number, (name, value)) in facts.enumerated() {
            line.append((number == 0 ? "" : "   ") + name + " ", .faint)
            line.append(self.characters.displayable(value))
        }
        return line
    }

    func footer(local: (WallTime) -> CivilTime) -> LiveLine {
        var line = LiveLine("\(self.name) watch", .faint)
        if let time = self.history.entries.first?.time {
            line.append("   last change \(local(time).date) \(local(time).time.prefix(8))", .faint)
        }
        line.append(self.hint, .faint, rightIn: self.size.columns)
        return line
    }
}
