// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A comparison as a table: a column for each backend, or, where there is no room for that, a line.
struct ComparisonTable {
    private struct Cell {
        var text: String
        var emphasis: TextStyle.Emphasis?
        /// Differs from the backend it is compared with; told by a sign, not only by a colour.
        var isMarked: Bool
    }

    private typealias Row = (label: String, cells: [Cell])

    /// Below this a column says nothing.
    private static let leastColumns = 13
    /// The sign for what differs.
    private static let mark = "! "

    private let names: [String]
    private let rows: [Row]

    init(_ comparison: Comparison) {
        let differences = Dictionary(
            comparison.differences.map { ($0.backend, Set($0.facts)) },
            uniquingKeysWith: { $0.union($1) }
        )
        func row(_ label: String, _ fact: Comparison.Fact?, _ text: (Comparison.Column) -> String) -> Row {
            let cells = comparison.columns.map { column in
                Cell(
                    text: column.knows(fact) ? text(column).safe : "-",
                    emphasis: fact == .status ? column.validVerdict?.status.emphasis ?? .caution : nil,
                    isMarked: fact.map { differences[column.report.name]?.contains($0) == true } ?? false
                )
            }
            return (label, cells)
        }
        self.names = comparison.columns.map(\.report.name.safe)
        self.rows = [
            row("Status", .status) { $0.validVerdict?.status.rawValue ?? $0.report.stateText },
            row("Reason", .reason) { $0.reasonText },
            row("Interfaces", .interfaces) { $0.says(.interfaces) },
            row("Families", .families) { $0.says(.families) },
            row("Gateways", .gateways) { $0.says(.gateways) },
            row("Health", nil) { $0.report.health.rawValue },
            row("Said", nil) { $0.report.age(at: comparison.takenAt).map { "\($0.brief) ago" } ?? "nothing" },
            row("Behind", nil) { $0.behindText },
        ]
    }

    /// A column for each backend, or a line where columns would say too little.
    ///
    /// - Parameters:
    ///   - width: The columns of the output; nil for as many as it takes.
    ///   - ellipsis: Stands for what is cut off.
    /// - Returns: The lines.
    func lines(width: Int?, ellipsis: String) -> [LiveLine] {
        let lead = (self.rows.map(\.label.count).max() ?? 0) + 4
        var widths = self.names.indices.map { index in
            max(self.names[index].count, self.rows.map { $0.cells[index].text.count }.max() ?? 0) + 4
        }
        if let width {
            let room = width - lead
            guard room >= widths.count * Self.leastColumns else { return self.briefLines }
            // The widest gives first.
            while widths.reduce(0, +) > room, let widest = widths.max(), let index = widths.firstIndex(of: widest) {
                widths[index] -= 1
            }
        }
        var header = LiveLine()
        header.advance(to: lead)
        for (index, name) in self.names.enumerated() {
            header.append("  " + Self.fitted(name, to: widths[index] - 2, ellipsis: ellipsis), .strong)
        }
        return [header]
            + self.rows.map { row in
                var line = LiveLine("  \(row.label)", .faint)
                line.advance(to: lead)
                for (index, cell) in row.cells.enumerated() {
                    line.append(cell.isMarked ? Self.mark : "  ", .bad)
                    line.append(Self.fitted(cell.text, to: widths[index] - 2, ellipsis: ellipsis), cell.emphasis)
                }
                return line
            }
    }

    /// A line for each backend with what matters most.
    private var briefLines: [LiveLine] {
        let nameWidth = min(15, self.names.map(\.count).max() ?? 0)
        return self.names.indices.map { index in
            var line = LiveLine(self.rows.contains { $0.cells[index].isMarked } ? Self.mark : "  ", .bad)
            line.append(self.names[index])
            line.advance(to: nameWidth + 4)
            let cells = self.rows.map { $0.cells[index] }
            line.append(cells[0].text, cells[0].emphasis)
            // Who was first matters more than why, when the end is cut off.
            let rest = [cells[7].text, cells[1].text].filter { $0 != "-" }
            line.append(rest.map { "  \($0)" }.joined())
            return line
        }
    }

    private static func fitted(_ text: String, to width: Int, ellipsis: String) -> String {
        if text.count < width { return text + String(repeating: " ", count: width - text.count) }
        return text.prefix(max(0, width - 1 - ellipsis.count)) + ellipsis + " "
    }
}

extension Comparison.Column {
    /// Whether there is something to tell of one thing: a backend that only asks hosts knows the status and its reason.
    fileprivate func knows(_ fact: Comparison.Fact?) -> Bool {
        switch fact {
        case nil, .status?: true
        case .reason?: self.validVerdict != nil
        case .interfaces?, .families?, .gateways?: self.validVerdict != nil && self.sight != .hosts
        }
    }

    fileprivate var reasonText: String {
        self.validVerdict.map { $0.reason.code.rawValue + ($0.isStated ? " (stated)" : "") } ?? ""
    }

    /// How long after the first to notice.
    var behindText: String {
        guard self.validVerdict != nil else { return "-" }
        guard let delay = self.delay else { return "not noticed" }
        return delay == .zero ? "first" : "+\(delay.brief)"
    }
}

extension BackendReport {
    /// What stands in the place of a status that a backend has not.
    fileprivate var stateText: String {
        if self.isSilent { return "silent" }
        return self.health == .healthy ? "no verdict" : self.health.rawValue
    }
}

extension Duration {
    /// The duration with two or three digits.
    var brief: String {
        let microseconds = self.inNanoseconds / 1_000
        switch microseconds {
        case ..<1_000: return "\(microseconds) us"
        case ..<10_000: return "\(microseconds / 1_000).\(microseconds / 100 % 10) ms"
        case ..<1_000_000: return "\(microseconds / 1_000) ms"
        case ..<100_000_000: return "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
        default: return "\(microseconds / 60_000_000) min"
        }
    }
}
