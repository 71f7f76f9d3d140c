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

    /// What stands below the headline: the backends side by side, where they differ, and why some have no verdict.
    ///
    /// - Parameters:
    ///   - width: The columns of the output; nil for as many as it takes.
    ///   - characters: What the output shows.
    ///   - said: How long ago a backend spoke, or when.
    /// - Returns: The sections that have something to say.
    func sections(width: Int?, _ characters: LiveCharacters, said: (Column) -> String) -> [LiveSection] {
        let table = ComparisonTable(self, said: said, printable: characters.displayable)
        let brief = table.briefLines
        let lines = table.lines(width: width, ellipsis: characters.ellipsis) ?? brief
        // The table is what it is all about.
        var sections = [LiveSection(heading: "Backends", detailed: lines, brief: brief, comesFirst: true)]
        func add(_ heading: String, _ rows: [(backend: String, texts: [String])]) {
            if rows.isEmpty { return }
            var screen = TextScreen(TextStyle(isColored: false, width: width))
            for row in rows { screen.row(row.backend, row.texts) }
            let lines = screen.text.split(separator: "\n").map { LiveLine(characters.displayable(String($0))) }
            let brief = rows.map { LiveLine("  " + characters.displayable("\($0.backend): \($0.texts[0])")) }
            sections.append(LiveSection(heading: heading, detailed: lines, brief: brief))
        }
        add("Differences", self.differences.map { ($0.backend, [$0.summary] + $0.explanations) })
        add(
            "Without a verdict",
            self.columns.compactMap { column in column.absence.map { (column.report.name, [$0]) } }
        )
        return sections
    }

    /// The screen of `compare`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        let (word, emphasis, sentence) = self.headline
        screen.title(word, emphasis, sentence)
        // Where a line goes is not known; what is cut off is marked so that every program shows it.
        let sections = self.sections(width: style.width, LiveCharacters(isUnicode: true)) { column in
            column.report.age(at: self.takenAt).map { "\($0.brief) ago" } ?? "nothing"
        }
        for section in sections {
            screen.heading(section.heading)
            for line in section.detailed {
                screen.line(line.text(style, fitting: style.width ?? .max, ellipsis: "~"))
            }
        }
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
                guard let absence = column.absence, old != nil || column.report.health != .starting else { return nil }
                return ("unknown", .caution, "\(name): \(absence)")
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
