// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A comparison as a table: a column for each backend, or, where there is no room for that, a line.
struct ComparisonTable: Hashable, Sendable {
    private struct Cell: Hashable, Sendable {
        var text: String
        var emphasis: TextStyle.Emphasis?
        /// Differs from the backend it is compared with; told by a sign, not only by a colour.
        var isMarked = false
    }

    private struct Row: Hashable, Sendable {
        var label: String
        var cells: [Cell]
    }

    /// Below this a column says nothing.
    private static let leastColumns = 13
    /// The sign for what differs.
    private static let mark = "! "

    private var names: [String] = []
    private var rows: [Row] = []

    /// Lays out a comparison.
    ///
    /// - Parameters:
    ///   - comparison: What is compared.
    ///   - said: What the last row tells of a backend: how long ago it spoke, or when.
    ///   - printable: Makes text fit for the output.
    init(_ comparison: Comparison, said: (Comparison.Column) -> String, printable: (String) -> String) {
        let columns = comparison.columns
        let differences = Dictionary(
            comparison.differences.map { ($0.backend, Set($0.facts)) },
            uniquingKeysWith: { $0.union($1) }
        )
        func row(_ label: String, _ cell: (Comparison.Column) -> Cell) {
            self.rows.append(Row(label: label, cells: columns.map(cell)))
        }
        func isMarked(_ column: Comparison.Column, _ fact: Comparison.Fact) -> Bool {
            differences[column.report.name]?.contains(fact) == true
        }
        func fact(_ label: String, _ fact: Comparison.Fact, _ text: @escaping (Comparison.Column) -> String) {
            row(label) { column in
                // A backend that only asks hosts knows of nothing but the status and its reason.
                let isKnown =
                    column.validVerdict != nil && (column.sight != .hosts || fact == .status || fact == .reason)
                return Cell(text: isKnown ? printable(text(column)) : "-", isMarked: isMarked(column, fact))
            }
        }
        self.names = columns.map { printable($0.report.name) }
        row("Status") { column in
            let status = column.validVerdict?.status
            return Cell(
                text: status?.rawValue ?? column.report.stateText,
                emphasis: status?.emphasis ?? .caution,
                isMarked: isMarked(column, .status)
            )
        }
        fact("Reason", .reason) { column in
            column.validVerdict.map { $0.reason.code.rawValue + ($0.isStated ? " (stated)" : "") } ?? ""
        }
        fact("Interfaces", .interfaces) { $0.says(.interfaces) }
        fact("Families", .families) { $0.says(.families) }
        fact("Gateways", .gateways) { $0.says(.gateways) }
        row("Health") { Cell(text: $0.report.health.rawValue) }
        row("Said") { Cell(text: printable(said($0))) }
        row("Behind") { Cell(text: $0.behindText) }
    }

    /// A column for each backend.
    ///
    /// - Parameters:
    ///   - width: The columns of the output; nil for as many as it takes.
    ///   - ellipsis: Stands for what is cut off.
    /// - Returns: The lines; nil when they would say too little.
    func lines(width: Int?, ellipsis: String) -> [LiveLine]? {
        let lead = (self.rows.map(\.label.count).max() ?? 0) + 4
        var widths = self.names.indices.map { index in
            max(self.names[index].count, self.rows.map { $0.cells[index].text.count }.max() ?? 0) + 4
        }
        if let width {
            let room = width - lead
            guard room >= widths.count * Self.leastColumns else { return nil }
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
    var briefLines: [LiveLine] {
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
