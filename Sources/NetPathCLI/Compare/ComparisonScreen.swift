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
        let who = speakers.count == 1 ? "only \(first.report.name) has a verdict" : "\(speakers.count) backends"
        let speaker = verdict.isStated ? "stated by \(first.report.name), " : ""
        let sentence = "\(verdict.status.rawValue), \(verdict.reason.message) (\(speaker)\(who))"
        return ("AGREED", verdict.status.emphasis, sentence)
    }

    /// The screen of `compare`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let (word, emphasis, sentence) = self.headline
        screen.title(word, emphasis, sentence)
        screen.heading("Backends")
        let table = ComparisonTable(self, said: { $0.saidText(at: self.takenAt) }, printable: \.safe)
        for line in table.lines(width: style.width, ellipsis: "~") ?? table.briefLines {
            screen.line(line.text(style, fitting: style.width ?? .max, ellipsis: "~"))
        }
        if !self.differences.isEmpty { screen.heading("Differences") }
        for difference in self.differences {
            screen.row(difference.backend, [difference.summary] + difference.explanations)
        }
        let remarks = self.columns.compactMap { column in self.remark(on: column).map { (column.report.name, $0) } }
        if !remarks.isEmpty { screen.heading("Without a verdict") }
        for (name, remark) in remarks { screen.row(name, [remark]) }
        return screen.text
    }

    /// What happened since an earlier comparison, the words of each backend by themselves.
    func changes(since earlier: Comparison?) -> [(word: String, emphasis: TextStyle.Emphasis, text: String)] {
        self.columns.compactMap { column in
            let old = earlier?.columns.first { $0.report.name == column.report.name }
            let isSame = old.map { $0.validVerdict == column.validVerdict && $0.report.health == column.report.health }
            if isSame == true { return nil }
            let name = column.report.name
            guard let verdict = column.validVerdict else {
                guard let remark = self.remark(on: column), old != nil || column.report.health != .starting
                else { return nil }
                return ("unknown", .caution, "\(name): \(remark)")
            }
            var text = "\(name): \(verdict.isStated ? "states: " : "")\(verdict.reason.message)"
            if let delay = column.delay { text += delay == .zero ? ", first" : ", \(delay.brief) behind" }
            for difference in self.differences where difference.backend == name {
                guard difference.against != name else {
                    text += ", states otherwise"
                    continue
                }
                let facts = difference.facts.map(\.rawValue).joined(separator: ", ")
                text += ", differs from \(difference.against) in \(facts)"
            }
            return (verdict.status.rawValue, verdict.status.emphasis, text)
        }
    }

    /// The lines of a running comparison, for pipes and files.
    func lines(since earlier: Comparison?, local: (WallTime) -> CivilTime) -> String {
        let time = local(self.takenAt.wall)
        let changes = self.changes(since: earlier).map { "\($0.word) \($0.text)" }
        // A reader that was too slow for a change and its end has to be told something.
        let lines = changes.isEmpty ? ["\(self.headline.word.lowercased()) \(self.headline.sentence)"] : changes
        return lines.map { "\(time.date) \(time.time) \($0.safe)\n" }.joined()
    }
}

extension Comparison.Column {
    /// How long ago the backend spoke.
    fileprivate func saidText(at now: ClockReading) -> String {
        self.report.age(at: now).map { "\($0.brief) ago" } ?? "nothing"
    }
}

extension ComparisonSummary {
    /// The end of `compare --for`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let count = self.changes == 1 ? "1 change" : "\(self.changes) changes"
        screen.title("SUMMARY", .strong, "\(count) in \(self.elapsed.brief)")
        screen.heading("Backends")
        if self.backends.isEmpty { screen.paragraph("none has said anything") }
        for (name, counts) in self.backends {
            var parts = ["seen \(counts.seen)", "missed \(counts.missed)"]
            parts.append("median delay \(counts.medianDelay?.brief ?? "none")")
            parts.append("false transitions \(counts.falseTransitions)")
            if counts.otherReasons > 0 { parts.append("for another reason \(counts.otherReasons)") }
            screen.row(name, [parts.joined(separator: ", ")])
        }
        return screen.text
    }
}
