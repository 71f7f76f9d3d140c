// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathExplanation
import NetPathSystem

/// An explanation and the snapshot it belongs to.
struct ExplainedPath: Hashable, Sendable {
    /// The path that is explained.
    var snapshot: StatusSnapshot
    /// The backend whose evidence decided; nil when none has reported any.
    var backend: String?
    /// Why; nil without evidence.
    var explanation: Explanation?

    /// The document of `explain`.
    var document: JSONNode {
        let path = self.snapshot.path
        return [
            "schema": schemaVersion,
            "status": .optional(path?.status.rawValue),
            "reason": .reason(path?.reason),
            "statedBy": .optional(path?.statedBy),
            "stale": .bool(path?.isStale ?? false),
            "backend": .optional(self.backend),
            "rule": .optional(self.explanation?.rule),
            "evidence": .strings(self.explanation?.evidence ?? []),
            "remedies": .strings(self.explanation?.remedies ?? []),
            "backends": .array(self.snapshot.backends.map { .backend($0, at: self.snapshot.takenAt) }),
            "disagreements": .array(path?.disagreements.map(JSONNode.disagreement) ?? []),
            "time": .string(self.snapshot.takenAt.wall.rfc3339),
        ]
    }
}

/// The types of backends there are, and those that are configured.
struct BackendInventory: Sendable {
    /// Where the configuration comes from.
    var origin: String
    /// All registered types with a line for people.
    var types: [(type: String, summary: String)]
    /// The configured backends in order of priority, and how they are doing.
    var entries: [(type: String, report: BackendReport)]
    /// When the reports were taken.
    var takenAt: ClockReading

    /// The document of `backends`.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "configuration": .string(self.origin),
            "types": .array(self.types.map { ["type": .string($0.type), "summary": .string($0.summary)] }),
            "backends": .array(
                self.entries.map { entry in
                    let report = JSONNode.backend(entry.report, at: self.takenAt)
                    return .object([(key: "type", value: .string(entry.type))] + report.members)
                }
            ),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

extension JSONNode {
    /// The document of `config check`.
    static func configurationCheck(
        origin: String,
        error: ConfigurationError?,
        dropIns: [String] = [],
        warnings: [ConfigurationDiagnostic] = [],
        notAsked: [String] = []
    ) -> JSONNode {
        [
            "schema": schemaVersion,
            "file": .string(origin),
            "dropIns": .strings(dropIns),
            "ok": .bool(error == nil),
            "errors": .array(error?.diagnostics.map(JSONNode.diagnostic) ?? []),
            "omittedErrors": .integer(error?.omittedCount ?? 0),
            "warnings": .array(warnings.map(JSONNode.diagnostic)),
            "notAsked": .strings(notAsked),
        ]
    }

    /// The document of `config show`.
    static func effective(_ configuration: LoadedConfiguration) -> JSONNode {
        [
            "schema": schemaVersion,
            "file": .string(configuration.origin),
            "values": .array(configuration.effective.values.map(JSONNode.configurationValue)),
        ]
    }

    private static func configurationValue(_ value: EffectiveConfiguration.Value) -> JSONNode {
        [
            "path": .string(value.path),
            "value": .string(value.text),
            "origin": .string(value.origin.name),
            "line": .optional(value.origin.line),
        ]
    }

    private static func diagnostic(_ diagnostic: ConfigurationDiagnostic) -> JSONNode {
        [
            "file": .string(diagnostic.origin),
            "line": .optional(diagnostic.position?.line),
            "column": .optional(diagnostic.position?.column),
            "path": .string(diagnostic.path),
            "message": .string(diagnostic.message),
            "found": .optional(diagnostic.found),
            "allowed": .strings(diagnostic.allowed),
            "suggestion": .optional(diagnostic.suggestion),
        ]
    }
}
