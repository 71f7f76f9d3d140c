// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// What `wait` tells at its end.
struct WaitReport: Sendable {
    var terms: WaitMachine.Terms
    var outcome: WaitMachine.Outcome
    var view: WaitView
    /// How long it took.
    var waited: Duration
    /// What would help where nothing can come up.
    var remedies: [String] = []
    var takenAt: ClockReading
    /// Whose words take part, this machine's first.
    var via: [String] = []

    private var missing: String? {
        if self.outcome == .met { return nil }
        return self.terms.conditions.missing(in: self.view, at: self.takenAt.monotonic)
            ?? "it did not hold for \(DurationText.format(self.terms.stable))"
    }

    private var snapshot: StatusSnapshot {
        let isServed = self.view.isServed
        var snapshot = StatusSnapshot(
            path: self.view.path,
            backends: isServed ? self.view.path?.backends ?? [] : self.view.snapshots.map(\.report),
            takenAt: self.takenAt,
            via: self.via
        )
        if !isServed { snapshot.note(leftOut: self.view.leftOut) }
        return snapshot
    }

    /// The document of `wait`.
    var document: JSONNode {
        let conditions = self.terms.conditions
        return [
            "schema": schemaVersion,
            "met": .bool(self.outcome == .met),
            "outcome": .string(self.outcome.name),
            "waitedMilliseconds": .integer(self.waited.inMilliseconds),
            "combination": .string(conditions.combination.rawValue),
            "not": .bool(conditions.isNegated),
            "conditions": .array(conditions.list.map { self.document(of: $0) }),
            "missing": .optional(self.missing),
            "remedies": .strings(self.remedies),
            "path": self.snapshot.document,
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }

    /// One condition.
    func document(of condition: WaitCondition) -> JSONNode {
        let isMet = condition.isMet(in: self.view)
        return [
            "condition": .string(condition.words.name),
            "value": .optional(condition.words.value),
            "met": .optional(isMet),
            "missing": .optional(
                isMet == true ? nil : condition.missing(in: self.view, at: self.takenAt.monotonic)
            ),
        ]
    }

    /// The line for people when the conditions are met.
    var line: String {
        let conditions = self.terms.conditions
        let hosts =
            conditions.isNegated
            ? []
            : conditions.list.compactMap { condition -> String? in
                if case .host(let target) = condition, condition.isMet(in: self.view) == true {
                    self.view.hosts[target]?.reason
                } else {
                    nil
                }
            }
        // The path says nothing of hosts that are waited for, and need not be there for them.
        let path = self.view.path.map { "\($0.status.rawValue), \($0.sentence)" }
        let facts = hosts + (hosts.count == conditions.list.count ? [] : [path ?? "no backend has a verdict"])
        let unasked = self.snapshot.backends.filter { $0.health == .notAsked }.map(\.name)
        let remark = unasked.isEmpty ? "" : "; \(unasked.joined(separator: ", ")): \(BackendReport.notAsked)"
        return "met after \(DurationText.format(self.waited)): \(facts.joined(separator: "; "))\(remark)".safe + "\n"
    }

    /// What to say when they are not.
    var message: String {
        switch self.outcome {
        case .met: return ""
        case .timedOut:
            return "timed out after \(DurationText.format(self.terms.timeout ?? self.waited)): \(self.missing ?? "")"
                .safe
        case .hopeless(let reason):
            let advice = self.remedies.map { "\n  - \($0.safe)" }.joined()
            return "nothing that is there now can come up: \(reason)".safe + advice
        }
    }
}

extension WaitMachine.Outcome {
    /// The name used in output.
    fileprivate var name: String {
        switch self {
        case .met: "met"
        case .timedOut: "timedOut"
        case .hopeless: "hopeless"
        }
    }
}

extension ToolStatus {
    /// The answer to "is it so?".
    init(_ outcome: WaitMachine.Outcome) {
        switch outcome {
        case .met: self = .satisfied
        case .timedOut: self = .timedOut
        case .hopeless: self = .unsatisfied
        }
    }
}
