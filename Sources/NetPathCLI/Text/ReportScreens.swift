// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation

extension ExplainedPath {
    /// The screen of `explain`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        screen.title(for: self.snapshot)
        if let explanation = self.explanation {
            screen.heading(
                (self.snapshot.path?.statedBy == nil ? "Evidence" : "Stated, not worked out")
                    + (self.backend.map { " (\($0))" } ?? "")
            )
            for fact in explanation.evidence { screen.paragraph(fact, bullet: "- ") }
            screen.heading("Rule")
            screen.paragraph(explanation.rule)
            if !explanation.remedies.isEmpty { screen.heading("What would help") }
            for remedy in explanation.remedies { screen.paragraph(remedy, bullet: "- ") }
        }
        let doubts = self.snapshot.path?.disagreements ?? []
        if !doubts.isEmpty { screen.heading("Disagreement") }
        for doubt in doubts {
            let word = doubt.isStated ? "states " : ""
            screen.row(doubt.backend, ["\(word)\(doubt.status.rawValue): \(doubt.reason.message)"])
        }
        // While a path is known, how the backends are doing is a matter for `status`, but whose word is missing is not.
        let isKnown = self.snapshot.path?.isStale == false
        let shown = self.snapshot.backends.filter { !isKnown || $0.health == .notAsked }
        if !shown.isEmpty { screen.heading("Backends") }
        for report in shown { screen.row(report.name, report.details(at: self.snapshot.takenAt)) }
        return screen.text
    }
}

extension BackendInventory {
    /// The screen of `backends`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        screen.paragraph("Configuration: \(self.origin)")
        screen.heading("Types")
        for type in self.types { screen.row(type.type, [type.summary]) }
        screen.heading("Configured, in order of priority")
        if self.entries.isEmpty { screen.paragraph("none") }
        for entry in self.entries {
            let type = entry.type == entry.report.name ? [] : ["type \(entry.type)"]
            let lines = type + ["mode \(entry.report.mode.rawValue)"]
            screen.row(entry.report.name, [lines.joined(separator: ", ")] + entry.report.details(at: self.takenAt))
        }
        return screen.text
    }
}
