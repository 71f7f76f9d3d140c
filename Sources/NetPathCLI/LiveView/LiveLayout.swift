// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LiveState {
    /// With fewer rows everything is said as briefly as possible.
    private static let roomyRows = 16
    /// With fewer columns a banner would only be in the way.
    private static let roomyColumns = 36

    private var isRoomy: Bool { self.size.rows >= Self.roomyRows && self.size.columns >= Self.roomyColumns }

    /// The whole picture: as many lines as the terminal has rows, none wider than it.
    ///
    /// - Parameters:
    ///   - style: How to mark up; its width is not looked at.
    ///   - local: Turns a point in time into local time.
    /// - Returns: The lines, from the top.
    func lines(_ style: TextStyle, local: (WallTime) -> CivilTime) -> [String] {
        let rows = max(1, self.size.rows)
        var lines = self.title(local: local)
        if let path = self.snapshot?.path, self.isRoomy { lines.append(self.facts(of: path)) }
        let footer = self.isRoomy ? [self.footer(local: local)] : []

        let sections =
            [self.snapshot?.path.map(self.interfaces)].compactMap { $0 }
            + [
                self.backends(self.snapshot?.backends ?? []),
                self.history.section(self.size, self.characters, local: local),
            ]
        let room = max(0, rows - lines.count - footer.count)
        let shares = LiveSection.shares(
            of: room,
            wanted: sections.map { $0.wantedRows(isRoomy: self.isRoomy) }
        )
        for (section, share) in zip(sections, shares) {
            lines += section.lines(rows: share, isRoomy: self.isRoomy)
        }
        lines += Array(repeating: LiveLine(), count: max(0, rows - lines.count - footer.count)) + footer
        return lines.prefix(rows).map {
            $0.text(style, fitting: max(1, self.size.columns), ellipsis: self.characters.ellipsis)
        }
    }

    /// The status as large as there is room for, and the reason.
    private func title(local: (WallTime) -> CivilTime) -> [LiveLine] {
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
        return lines + reason.prefix(limit).map { LiveLine($0, .strong) }
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

    private func footer(local: (WallTime) -> CivilTime) -> LiveLine {
        var line = LiveLine("\(self.name) watch", .faint)
        if let time = self.history.entries.first?.time {
            line.append("   last change \(local(time).date) \(local(time).time.prefix(8))", .faint)
        }
        line.append(self.hint, .faint, rightIn: self.size.columns)
        return line
    }
}
