// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathCLI
import NetPathSystem
import NetPathTestKit

extension ConformanceReport {
    /// The report as `netpath plugin check --json` writes it.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "name": .string(self.name),
            "conforms": .bool(self.isConforming),
            "findings": .array(self.findings.map(\.document)),
            "messages": .strings(self.messages),
        ]
    }
}

extension ConformanceFinding {
    fileprivate var document: JSONNode {
        let (outcome, text) =
            switch self.outcome {
            case .kept(let text): ("kept", text)
            case .broken(let text): ("broken", text)
            case .unchecked(let text): ("unchecked", text)
            }
        return ["rule": .string(self.rule.rawValue), "outcome": .string(outcome), "message": .string(text)]
    }
}

extension ComparedTable {
    /// The table as `netpath plugin compare --json` writes it.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "name": .string(self.name),
            "allowed": .bool(self.isAllowed),
            "rows": .array(self.rows.map(\.document)),
        ]
    }
}

extension ComparedRow {
    fileprivate var document: JSONNode {
        let (judgement, text): (String, String?) =
            switch self.judgement {
            case .same: ("same", nil)
            case .silent: ("silent", nil)
            case .allowed(let why): ("allowed", why)
            case .differs(let how): ("differs", how)
            case .didNotRun(let why): ("didNotRun", why)
            case .unplayed(let why): ("unplayed", why)
            }
        return [
            "title": .string(self.title),
            "expected": self.reference.document,
            "said": self.cell.document,
            "expectedAfterMicroseconds": .optional(self.referenceDelay.map { Int64($0 / .microseconds(1)) }),
            "saidAfterMicroseconds": .optional(self.delay.map { Int64($0 / .microseconds(1)) }),
            "judgement": .string(judgement),
            "message": .optional(text),
        ]
    }
}

extension ScenarioCell {
    fileprivate var document: JSONNode {
        ["status": .optional(self.status?.rawValue), "reason": .optional(self.reason?.rawValue)]
    }
}
