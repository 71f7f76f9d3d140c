// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Comparison {
    /// Whether the backends agree as a big word, and on what.
    var headline: (word: String, emphasis: TextStyle.Emphasis, sentence: String) {
        let speakers = self.columns.filter { $0.validVerdict != nil }
        guard let first = speakers.first, let verdict = first.validVerdict, let agreement = self.agreement
        else { return ("UNKNOWN", .caution, "no backend has a verdict") }
        if !agreement {
            let statuses = PathStatus.allCases.reversed().compactMap { status -> String? in
                let names = speakers.filter { $0.validVerdict?.status == status }.map(\.report.name)
                return names.isEmpty ? nil : "\(status.rawValue): \(names.joined(separator: ", "))"
            }
            return ("DIFFERENT", .bad, statuses.joined(separator: "; "))
        }
        let isAlone = speakers.count == 1
        let who = isAlone ? "only \(first.report.name) has a verdict" : "\(speakers.count) backends"
        let speaker = verdict.isStated ? "stated by \(first.report.name), " : ""
        let sentence = "\(verdict.status.rawValue), \(verdict.reason.message) (\(speaker)\(who))"
        return (isAlone ? "NOT COMPARED" : "AGREED", verdict.status.emphasis, sentence)
    }

    /// The screen of `compare`: the backends side by side, where they differ, and why some have no verdict.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let (word, emphasis, sentence) = self.headline
        screen.title(word, emphasis, sentence)
        screen.heading("Backends")
        // Where a line goes is not known; what is cut off is marked so that every program shows it.
        for line in ComparisonTable(self).lines(width: style.width, ellipsis: "~") {
            screen.line(line.text(style, fitting: style.width ?? .max, ellipsis: "~"))
        }
        let (differences, columns) = (self.differences, self.columns)
        if !differences.isEmpty { screen.heading("Differences") }
        for difference in differences {
            screen.row(difference.backend, [difference.summary] + difference.explanations)
        }
        if columns.contains(where: { $0.absence != nil }) { screen.heading("Without a verdict") }
        for column in columns { column.absence.map { screen.row(column.report.name, [$0]) } }
        return screen.text
    }

    /// What happened since an earlier comparison, the words of each backend by themselves.
    func changes(since earlier: Comparison?) -> [String] {
        self.columns.compactMap { column in
            let old = earlier?.columns.first { $0.report.name == column.report.name }
            let isSame = old.map { $0.validVerdict == column.validVerdict && $0.report.health == column.report.health }
            if isSame == true { return nil }
            let name = column.report.name
            guard let verdict = column.validVerdict else {
                guard let absence = column.absence, old != nil || column.report.health != .starting else { return nil }
                return "unknown \(name): \(absence)"
            }
            let verb = verdict.isStated ? "states: " : ""
            var text = "\(verdict.status.rawValue) \(name): \(verb)\(verdict.reason.message)"
            if let delay = column.delay { text += delay == .zero ? ", first" : ", \(delay.brief) behind" }
            for difference in self.differences where difference.backend == name {
                guard difference.against != name else {
                    text += ", states otherwise"
                    continue
                }
                let facts = difference.facts.map(\.rawValue).joined(separator: ", ")
                text += ", differs from \(difference.against) in \(facts)"
            }
            return text
        }
    }

    /// The lines of a running comparison, for pipes and files.
    func lines(since earlier: Comparison?, local: (WallTime) -> CivilTime) -> String {
        let time = local(self.takenAt.wall)
        let changes = self.changes(since: earlier)
        // A reader that was too slow for a change and its end has to be told something.
        let lines = changes.isEmpty ? ["\(self.headline.word.lowercased()) \(self.headline.sentence)"] : changes
        return lines.map { "\(time.date) \(time.time) \($0.safe)\n" }.joined()
    }
}

extension ComparisonTally {
    /// The end of `compare --for`.
    func screen(_ style: TextStyle, since start: MonotonicTime, at now: MonotonicTime) -> String {
        var screen = TextScreen(style)
        let (changes, backends) = self.counts(at: now)
        let count = changes == 1 ? "1 change" : "\(changes) changes"
        screen.title("SUMMARY", .strong, "\(count) in \((now - start).brief)")
        screen.heading("Backends")
        if backends.isEmpty { screen.paragraph("none has said anything") }
        for (name, counts) in backends {
            var parts = ["seen \(counts.seen)", "missed \(counts.missed)"]
            parts.append("median delay \(counts.medianDelay?.brief ?? "none")")
            parts.append("false transitions \(counts.falseTransitions)")
            if counts.otherReasons > 0 { parts.append("for another reason \(counts.otherReasons)") }
            screen.row(name, [parts.joined(separator: ", ")])
        }
        return screen.text
    }
}
