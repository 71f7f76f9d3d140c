// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A part of the live view that takes as many rows as it gets.
struct LiveSection: Hashable, Sendable {
    let heading: String
    /// Everything there is to say.
    var detailed: [LiveLine]
    /// One line for each thing.
    var brief: [LiveLine]
    /// Whether to say how many things had no room; what is merely older needs no count.
    var isCounted = true

    /// The rows that stand above the contents.
    private static func overhead(isRoomy: Bool) -> Int { isRoomy ? 2 : 1 }

    /// The rows the section would fill.
    func wantedRows(isRoomy: Bool) -> Int {
        let contents = isRoomy ? self.detailed.count : self.brief.count
        return contents == 0 ? 0 : contents + Self.overhead(isRoomy: isRoomy)
    }

    /// Fills the rows it gets, the heading left out where it would take the place of the only content.
    func lines(rows: Int, isRoomy: Bool) -> [LiveLine] {
        let overhead = Self.overhead(isRoomy: isRoomy)
        guard rows > overhead else { return self.contents(rows) }
        let top = isRoomy ? [LiveLine()] : []
        return top + [LiveLine(self.heading, .strong)] + self.contents(rows - overhead)
    }

    private func contents(_ rows: Int) -> [LiveLine] {
        if self.detailed.count <= rows { return self.detailed }
        if self.brief.count <= rows { return self.brief }
        guard self.isCounted, rows > 1 else { return Array(self.brief.prefix(rows)) }
        return self.brief.prefix(rows - 1) + [LiveLine("  and \(self.brief.count - rows + 1) more", .faint)]
    }

    /// Divides rows: one each in turn while a section wants more.
    static func shares(of rows: Int, wanted: [Int]) -> [Int] {
        var shares = wanted.map { _ in 0 }
        var rest = min(rows, wanted.reduce(0, +))
        while rest > 0 {
            for index in shares.indices where shares[index] < wanted[index] && rest > 0 {
                shares[index] += 1
                rest -= 1
            }
        }
        return shares
    }
}

extension NetworkPath {
    /// The interfaces with type and addresses.
    func section(_ size: TerminalSize, _ characters: LiveCharacters) -> LiveSection {
        let columns = size.columns
        let kinds = self.interfaces.map { interface in
            guard columns >= 30 else { return "" }
            return columns >= 60 ? interface.typeText : interface.type.rawValue
        }.map(characters.displayable)
        let names = self.interfaces.map { characters.displayable($0.name) }
        let nameWidth = min(15, names.map(\.count).max() ?? 0)
        let kindWidth = min(20, kinds.map(\.count).max() ?? 0)
        var section = LiveSection(heading: "Interfaces", detailed: [], brief: [])
        for (index, interface) in self.interfaces.enumerated() {
            let isCarrier = interface.reason.code == .routed
            let reason = characters.displayable(interface.reason.message)
            var line = LiveLine(isCarrier ? "\(characters.marker) " : "  ", self.status.emphasis)
            line.append(names[index], isCarrier ? .strong : nil)
            line.advance(to: nameWidth + 3)
            if kindWidth > 0 {
                line.append(kinds[index])
                line.advance(to: nameWidth + kindWidth + 5)
            }
            let addresses = interface.addresses.map(\.description).joined(separator: ", ")
            line.append(addresses.isEmpty ? reason : characters.displayable(addresses))
            section.brief.append(line)
            section.detailed.append(line)
            let route = interface.routeText
            let rest = addresses.isEmpty ? route : [reason] + route
            guard !rest.isEmpty else { continue }
            var second = LiveLine()
            second.advance(to: columns >= 60 ? nameWidth + 3 : 4)
            second.append(characters.displayable(rest.joined(separator: ", ")), .faint)
            section.detailed.append(second)
        }
        if section.brief.isEmpty {
            section.brief = [LiveLine("  none", .faint)]
            section.detailed = section.brief
        }
        return section
    }
}

extension StatusSnapshot {
    /// The backends with their health.
    func backendSection(_ characters: LiveCharacters) -> LiveSection {
        let names = self.backends.map { characters.displayable($0.name) }
        let width = min(15, names.map(\.count).max() ?? 0)
        var section = LiveSection(heading: "Backends", detailed: [], brief: [])
        for (index, report) in self.backends.enumerated() {
            var line = LiveLine("  \(names[index])")
            line.advance(to: width + 3)
            let column = line.columns
            var report = report
            // What is said of the path above is not said again.
            if report.reason == self.path?.reason { report.reason = nil }
            let condition = characters.displayable(report.condition)
            let end = condition.firstIndex(of: ":") ?? condition.endIndex
            line.append(String(condition[..<end]), report.health.emphasis)
            line.append(String(condition[end...]))
            section.brief.append(line)
            section.detailed.append(line)
            for remark in report.remarks {
                var line = LiveLine()
                line.advance(to: column)
                line.append(characters.displayable(remark), .faint)
                section.detailed.append(line)
            }
        }
        return section
    }
}

extension ChangeHistory {
    /// What happened lately, the newest first.
    func section(
        _ size: TerminalSize,
        _ characters: LiveCharacters,
        local: (WallTime) -> CivilTime
    ) -> LiveSection {
        // Milliseconds and straight columns are for those who have the room.
        let isWide = size.columns >= 60
        let width = isWide ? self.entries.map(\.word.count).max() ?? 0 : 0
        let lines = self.entries.map { entry -> LiveLine in
            var line = LiveLine("  " + local(entry.time).time.prefix(isWide ? 12 : 8) + "  ")
            let column = line.columns + width + 2
            line.append(entry.word, entry.emphasis)
            line.advance(to: max(column, line.columns + 2))
            line.append(characters.displayable(entry.text))
            return line
        }
        return LiveSection(heading: "Changes", detailed: lines, brief: lines, isCounted: false)
    }
}

extension BackendHealth {
    fileprivate var emphasis: TextStyle.Emphasis {
        switch self {
        case .healthy: .good
        case .starting: .caution
        case .unhealthy: .bad
        case .standby, .off, .notAsked: .faint
        }
    }
}
