// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Comparison {
    /// Whether the backends agree as a big word, and on what.
    var headline: (word: String, emphasis: TextStyle.Emphasis, sentence: String) {
        let speakers = self.speakers
        guard let first = speakers.first, let verdict = first.verdict
        else { return ("UNKNOWN", .caution, "no backend has a verdict") }
        guard self.agreement == true else {
            let statuses = PathStatus.allCases.reversed().compactMap { status -> String? in
                let names = speakers.filter { $0.verdict?.status == status }.map(\.name)
                return names.isEmpty ? nil : "\(status.rawValue): \(names.joined(separator: ", "))"
            }
            return ("DIFFERENT", .bad, statuses.joined(separator: "; "))
        }
        let isAlone = speakers.count == 1
        let who = isAlone ? "only \(first.name) has a verdict" : "\(speakers.count) backends"
        let speaker = verdict.isStated ? "stated by \(first.name), " : ""
        let sentence = "\(verdict.status.rawValue), \(verdict.reason.message) (\(speaker)\(who))"
        return (isAlone ? "NOT COMPARED" : "AGREED", verdict.status.emphasis, sentence)
    }

    /// The screen of `compare`: the backends side by side, where they differ, and why some have no verdict.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let (word, emphasis, sentence) = self.headline
        screen.title(word, emphasis, sentence)
        screen.heading("Backends")
        screen.table(
            ["", "Status", "Reason", "Interfaces", "Families", "Gateways", "Health", "Said", "Noticed"],
            self.columns.map(self.cells)
        )
        let differences = self.differences
        if !differences.isEmpty { screen.heading("Differences") }
        for difference in differences {
            screen.row(difference.backend, [difference.summary] + difference.explanations)
        }
        let others = self.columns.filter { $0.verdict == nil }
        if !others.isEmpty { screen.heading("Without a verdict") }
        for column in others { screen.row(column.name, [column.statement]) }
        return screen.text
    }

    /// What stands below one another in the column of a backend.
    private func cells(_ column: Column) -> [String] {
        let differing = self.differences.filter { $0.backend == column.name }.flatMap(\.facts)
        let facts = Fact.allCases.map { (differing.contains($0) ? TextScreen.mark : "") + column.text(of: $0) }
        let age = column.report.age(at: self.takenAt).map { "\($0.spoken) ago" }
        return [column.name] + facts + [column.report.health.rawValue, age ?? "-", column.delayText ?? "-"]
    }

    /// A line for each backend that says something else than in an earlier comparison, for pipes and files.
    func lines(since earlier: Comparison?, local: (WallTime) -> CivilTime) -> String {
        let time = local(self.takenAt.wall)
        return self.columns.filter { column in
            let old = earlier?.columns.first { $0.name == column.name }
            return column.verdict != old?.verdict || column.report.health != old?.report.health ?? .starting
        }.map { column in
            var parts = [column.statement] + [column.delayText].compactMap { $0 }
            parts += self.differences.filter { $0.backend == column.name }.map { difference in
                if difference.against == column.name { return "states otherwise" }
                let facts = difference.facts.map(\.rawValue).joined(separator: ", ")
                return "differs from \(difference.against) in \(facts)"
            }
            return "\(time.date) \(time.time) \("\(column.name): \(parts.joined(separator: ", "))".safe)\n"
        }.joined()
    }
}

extension ComparisonTally {
    /// The end of `compare --for`.
    func screen(_ style: TextStyle, since start: MonotonicTime, at now: MonotonicTime) -> String {
        var screen = TextScreen(style)
        let (changes, backends) = self.counts(at: now)
        screen.title("SUMMARY", .strong, "changes in \((now - start).spoken): \(changes)")
        screen.heading("Backends")
        screen.table(
            ["", "Seen", "Missed", "Median delay", "False transitions", "Other reasons"],
            backends.map { name, counts in
                let rest = [counts.falseTransitions, counts.otherReasons].map(String.init)
                return [name, "\(counts.seen)", "\(counts.missed)", counts.medianDelay?.roundTripText ?? "-"] + rest
            }
        )
        return screen.text
    }
}
