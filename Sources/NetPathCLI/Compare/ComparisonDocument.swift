// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Comparison {
    /// The document of `compare`.
    var document: JSONValue {
        [
            "schema": schemaVersion,
            "agreement": .optional(self.agreement),
            "status": .optional(self.merged?.status.rawValue),
            "reason": .reason(self.merged?.reason),
            "stale": .bool(self.merged?.isStale ?? false),
            "backends": .array(self.columns.map { .column($0, at: self.takenAt) }),
            "differences": .array(self.differences.map(JSONValue.difference)),
            "silent": .strings(self.silent),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

/// What a comparison over some time comes to.
struct ComparisonSummary: Hashable, Sendable {
    /// One backend.
    struct Entry: Hashable, Sendable {
        var name: String
        var counts: ComparisonTally.Counts
    }

    var elapsed: Duration
    var window: Duration
    var changes: Int
    var entries: [Entry]
    var takenAt: ClockReading

    init(_ tally: ComparisonTally, since start: MonotonicTime, at now: ClockReading) {
        let (changes, backends) = tally.counts(at: now.monotonic)
        self.elapsed = now.monotonic - start
        self.window = tally.window
        self.changes = changes
        self.entries = backends.map { Entry(name: $0.name, counts: $0.counts) }
        self.takenAt = now
    }

    /// The last document of `compare --for`.
    var document: JSONValue {
        let (elapsed, window) = (self.elapsed.inNanoseconds / 1_000_000, self.window.inNanoseconds / 1_000_000)
        return [
            "schema": schemaVersion,
            "summary": .array(self.entries.map(JSONValue.tally)),
            "changes": .integer(self.changes),
            "elapsedMilliseconds": .integer(elapsed),
            "windowMilliseconds": .integer(window),
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }
}

extension JSONValue {
    static func column(_ column: Comparison.Column, at now: ClockReading) -> JSONValue {
        let opinion = column.opinion
        let additions: JSONValue = [
            "type": .string(column.type),
            "sees": .optional(column.sight?.rawValue),
            "interfaces": .array(opinion?.interfaces.map(JSONValue.interface) ?? []),
            "gateways": .array(opinion?.gateways.map(JSONValue.gateway) ?? []),
            "supportsIPv4": .optional(opinion.map { $0.families.contains(.ipv4) }),
            "supportsIPv6": .optional(opinion.map { $0.families.contains(.ipv6) }),
            "behindMicroseconds": .optional(column.delay.map { $0.inNanoseconds / 1_000 }),
        ]
        return .object(JSONValue.backend(column.report, at: now).members + additions.members)
    }

    static func difference(_ difference: Comparison.Difference) -> JSONValue {
        [
            "backend": .string(difference.backend),
            "against": .string(difference.against),
            "facts": .strings(difference.facts.map(\.rawValue)),
            "summary": .string(difference.summary),
            "explanations": .strings(difference.explanations),
        ]
    }

    static func tally(_ entry: ComparisonSummary.Entry) -> JSONValue {
        [
            "backend": .string(entry.name),
            "seen": .integer(entry.counts.seen),
            "missed": .integer(entry.counts.missed),
            "medianDelayMicroseconds": .optional(entry.counts.medianDelay.map { $0.inNanoseconds / 1_000 }),
            "falseTransitions": .integer(entry.counts.falseTransitions),
            "otherReasons": .integer(entry.counts.otherReasons),
        ]
    }
}
