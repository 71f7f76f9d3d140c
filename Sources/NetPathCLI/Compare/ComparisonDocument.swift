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
            "status": .optional(self.path?.status.rawValue),
            "reason": .reason(self.path?.reason),
            "stale": .bool(self.path?.isStale ?? false),
            "backends": .array(self.columns.map { $0.document(at: self.takenAt) }),
            "differences": .array(
                self.differences.map { difference in
                    [
                        "backend": .string(difference.backend),
                        "against": .string(difference.against),
                        "facts": .strings(difference.facts.map(\.rawValue)),
                        "summary": .string(difference.summary),
                        "explanations": .strings(difference.explanations),
                    ]
                }
            ),
            "silent": .strings(self.silent),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

extension Comparison.Column {
    /// The backend as in other documents, and what is said of it beside others.
    func document(at now: ClockReading) -> JSONNode {
        let families = self.verdict?.knowsFamilies == true ? self.verdict?.families : nil
        let additions: JSONNode = [
            "type": .string(self.type),
            "sees": .optional(self.sight?.rawValue),
            "interfaces": .array(self.verdict?.interfaces.map(JSONNode.interface) ?? []),
            "gateways": .array(self.verdict?.gateways.map(JSONNode.gateway) ?? []),
            "supportsIPv4": .optional(families?.contains(.ipv4)),
            "supportsIPv6": .optional(families?.contains(.ipv6)),
            "behindMicroseconds": .optional(self.delay.map { $0.inNanoseconds / 1_000 }),
        ]
        return .object(JSONNode.backend(self.report, at: now).members + additions.members)
    }
}

extension ComparisonTally {
    /// The last document of `compare --for`.
    func document(since start: MonotonicTime, at now: ClockReading) -> JSONNode {
        let (changes, backends) = self.counts(at: now.monotonic)
        let elapsed: Duration = now.monotonic - start
        return [
            "schema": schemaVersion,
            "summary": .array(
                backends.map { name, counts in
                    [
                        "backend": .string(name),
                        "seen": .integer(counts.seen),
                        "missed": .integer(counts.missed),
                        "medianDelayMicroseconds": .optional(counts.medianDelay.map { $0.inNanoseconds / 1_000 }),
                        "falseTransitions": .integer(counts.falseTransitions),
                        "otherReasons": .integer(counts.otherReasons),
                    ]
                }
            ),
            "changes": .integer(changes),
            "elapsedMilliseconds": .integer(elapsed.inMilliseconds),
            "windowMilliseconds": .integer(Self.window.inMilliseconds),
            "time": .string(now.wall.rfc3339),
        ]
    }
}
