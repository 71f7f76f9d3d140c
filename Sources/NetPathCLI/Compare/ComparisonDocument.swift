// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension Comparison {
    /// The document of `compare`.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "agreement": .optional(self.agreement),
            "status": .optional(self.merged?.status.rawValue),
            "reason": .reason(self.merged?.reason),
            "stale": .bool(self.merged?.isStale ?? false),
            "backends": .array(self.columns.map { .column($0, at: self.takenAt) }),
            "differences": .array(self.differences.map(JSONNode.difference)),
            "silent": .strings(self.silent),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

/// What a comparison over some time comes to.
struct ComparisonSummary: Sendable {
    var elapsed: Duration
    var window: Duration
    var changes: Int
    /// What is counted of each backend.
    var backends: [(name: String, counts: ComparisonTally.Counts)]
    var takenAt: ClockReading

    init(_ tally: ComparisonTally, since start: MonotonicTime, at now: ClockReading) {
        (self.changes, self.backends) = tally.counts(at: now.monotonic)
        self.elapsed = now.monotonic - start
        self.window = tally.window
        self.takenAt = now
    }

    /// The last document of `compare --for`.
    var document: JSONNode {
        let (elapsed, window) = (self.elapsed.inNanoseconds / 1_000_000, self.window.inNanoseconds / 1_000_000)
        return [
            "schema": schemaVersion,
            "summary": .array(self.backends.map { .tally(of: $0.name, $0.counts) }),
            "changes": .integer(self.changes),
            "elapsedMilliseconds": .integer(elapsed),
            "windowMilliseconds": .integer(window),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

extension Verdict {
    /// Whether there is a path of a family; nil when that is unknown.
    fileprivate func supports(_ family: AddressFamily) -> Bool? {
        self.knowsFamilies ? self.families.contains(family) : nil
    }
}

extension JSONNode {
    static func column(_ column: Comparison.Column, at now: ClockReading) -> JSONNode {
        let verdict = column.validVerdict
        let additions: JSONNode = [
            "type": .string(column.type),
            "sees": .optional(column.sight?.rawValue),
            "interfaces": .array(verdict?.interfaces.map(JSONNode.interface) ?? []),
            "gateways": .array(verdict?.gateways.map(JSONNode.gateway) ?? []),
            "supportsIPv4": .optional(verdict.flatMap { $0.supports(.ipv4) }),
            "supportsIPv6": .optional(verdict.flatMap { $0.supports(.ipv6) }),
            "behindMicroseconds": .optional(column.delay.map { $0.inNanoseconds / 1_000 }),
        ]
        return .object(JSONNode.backend(column.report, at: now).members + additions.members)
    }

    static func difference(_ difference: Comparison.Difference) -> JSONNode {
        [
            "backend": .string(difference.backend),
            "against": .string(difference.against),
            "facts": .strings(difference.facts.map(\.rawValue)),
            "summary": .string(difference.summary),
            "explanations": .strings(difference.explanations),
        ]
    }

    static func tally(of name: String, _ counts: ComparisonTally.Counts) -> JSONNode {
        [
            "backend": .string(name),
            "seen": .integer(counts.seen),
            "missed": .integer(counts.missed),
            "medianDelayMicroseconds": .optional(counts.medianDelay.map { $0.inNanoseconds / 1_000 }),
            "falseTransitions": .integer(counts.falseTransitions),
            "otherReasons": .integer(counts.otherReasons),
        ]
    }
}
