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

extension ComparisonTally {
    /// The last document of `compare --for`.
    func document(since start: MonotonicTime, at now: ClockReading) -> JSONNode {
        let (changes, backends) = self.counts(at: now.monotonic)
        let elapsed: Duration = now.monotonic - start
        return [
            "schema": schemaVersion,
            "summary": .array(backends.map { .tally(of: $0.key, $0.value) }),
            "changes": .integer(changes),
            "elapsedMilliseconds": .integer(elapsed.inMilliseconds),
            "windowMilliseconds": .integer(Self.window.inMilliseconds),
            "time": .string(now.wall.rfc3339),
        ]
    }
}

extension JSONNode {
    static func column(_ column: Comparison.Column, at now: ClockReading) -> JSONNode {
        let verdict = column.validVerdict
        let families = verdict.flatMap { $0.knowsFamilies ? $0.families : nil }
        let additions: JSONNode = [
            "type": .string(column.type),
            "sees": .optional(column.sight?.rawValue),
            "interfaces": .array(verdict?.interfaces.map(JSONNode.interface) ?? []),
            "gateways": .array(verdict?.gateways.map(JSONNode.gateway) ?? []),
            "supportsIPv4": .optional(families?.contains(.ipv4)),
            "supportsIPv6": .optional(families?.contains(.ipv6)),
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
