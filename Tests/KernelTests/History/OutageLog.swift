// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// What a tester did to a network, and when, to hold a history against it; times are seconds since 1970.
struct OutageLog {
    struct Span {
        var begin: Double
        var end: Double

        var length: Double { self.end - self.begin }

        func widened(by margin: Double) -> Span { Span(begin: self.begin - margin, end: self.end + margin) }

        func overlap(_ other: Span) -> Double { min(self.end, other.end) - max(self.begin, other.begin) }
    }

    /// A period of a history; nil: nothing is known.
    struct Claim {
        var span: Span
        var isUp: Bool?
    }

    /// The path came or went: not before one moment, and not after another one.
    struct Change {
        var isUp: Bool
        var span: Span
    }

    /// How far times may be off, and how long what has to be there lasts.
    static let tolerance = 1.0

    private(set) var changes: [Change] = []
    /// When the service could not know, or could not write.
    private(set) var excuses: [Span] = []

    mutating func change(isUp: Bool, _ span: Span) {
        self.changes.append(Change(isUp: isUp, span: span))
    }

    /// The last change was not told before a moment.
    mutating func prolong(until end: Double) { self.changes[self.changes.count - 1].span.end = end }

    mutating func excuse(_ span: Span) { self.excuses.append(span) }

    /// The times in which there was certainly no path, of a second and more.
    var outages: [Span] { self.certain(isUp: false, until: .infinity) }

    /// How many of them a history has, and does not state as unknown altogether.
    func told(in claims: [Claim]) -> Int {
        let groups = Self.groups(of: claims, isUp: false)
        return self.outages.count { outage in groups.contains { $0.overlap(outage) > 0 } }
    }

    /// What a history says that was not so, and what it does not say.
    ///
    /// - Parameters:
    ///   - claims: Its periods, in their order.
    ///   - end: When it was asked for.
    /// - Returns: Sentences; none where it is right.
    func faults(of claims: [Claim], until end: Double) -> [String] {
        claims.flatMap { self.faults(of: $0, until: end) } + self.missing(in: claims, until: end)
    }

    private func faults(of claim: Claim, until end: Double) -> [String] {
        let allowed: [Span] =
            claim.isUp.map { self.possible(isUp: $0, until: end) } ?? self.excuses.map { $0 }
        var rest = [claim.span]
        for span in allowed.map({ $0.widened(by: Self.tolerance) }) {
            rest = rest.flatMap { part -> [Span] in
                guard part.overlap(span) > 0 else { return [part] }
                return [Span(begin: part.begin, end: span.begin), Span(begin: span.end, end: part.end)]
                    .filter { $0.length > 0 }
            }
        }
        let words = claim.isUp.map { $0 ? "there was a path" : "there was no path" } ?? "nothing is known"
        return rest.filter { $0.length > 0.001 }
            .map { "it says that \(words) from \(Self.text($0)), in the period \(Self.text(claim.span))" }
    }

    /// Each outage is there once, and each time between two of them, or is stated as unknown.
    ///
    /// Where nothing could be written from the beginning on, the history cannot know of the time that is missing.
    private func missing(in claims: [Claim], until end: Double) -> [String] {
        let begin = claims.first?.span.begin ?? .infinity
        return [false, true].flatMap { isUp in
            let groups = Self.groups(of: claims, isUp: isUp)
            let unknown = claims.filter { $0.isUp == nil }.map(\.span)
            return self.certain(isUp: isUp, until: end).compactMap { span -> String? in
                let count = groups.count { $0.overlap(span) > 0 }
                let isUnknown = unknown.contains { $0.widened(by: Self.tolerance).overlap(span) > 0 }
                let isExcused = self.excuses.contains { $0.overlap(span) == span.length }
                let isBefore = isExcused && span.end <= begin + Self.tolerance
                if count == 1 || count == 0 && (isUnknown || isBefore) { return nil }
                return "what was \(isUp ? "a path" : "an outage") from \(Self.text(span)) is there \(count) times"
            }
        }
    }

    /// When the state can have been one: each change may have been anywhere in its span.
    private func possible(isUp: Bool, until end: Double) -> [Span] {
        self.changes.indices.filter { self.changes[$0].isUp == isUp }.map { index in
            let next = index + 1 < self.changes.count ? self.changes[index + 1].span.end : end
            return Span(begin: self.changes[index].span.begin, end: next)
        }
    }

    /// When the state was certainly one, for a second and more.
    private func certain(isUp: Bool, until end: Double) -> [Span] {
        self.changes.indices.filter { self.changes[$0].isUp == isUp }
            .compactMap { index in
                let next = index + 1 < self.changes.count ? self.changes[index + 1].span.begin : end
                let span = Span(begin: self.changes[index].span.end, end: next)
                return span.length >= Self.tolerance ? span : nil
            }
    }

    /// Periods of one state that only unknown ones, or less than a second of the other state, are between.
    private static func groups(of claims: [Claim], isUp: Bool) -> [Span] {
        var groups: [Span] = []
        var between = Double.infinity
        for claim in claims {
            if claim.isUp == isUp {
                if between < Self.tolerance, !groups.isEmpty {
                    groups[groups.count - 1].end = claim.span.end
                } else {
                    groups.append(claim.span)
                }
                between = 0
            } else if claim.isUp != nil {
                between += claim.span.length
            }
        }
        return groups
    }

    private static func text(_ span: Span) -> String {
        String(format: "%.3f to %.3f", span.begin, span.end)
    }
}

extension OutageLog.Claim {
    /// The periods of `netpath history --json`.
    static func claims(of history: JSONValue) throws -> [OutageLog.Claim] {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try (history["periods"]?.elements ?? []).map { period in
            let begin = try style.parse(period["begin"]?.string ?? "").timeIntervalSince1970
            let end = try style.parse(period["end"]?.string ?? "").timeIntervalSince1970
            return OutageLog.Claim(
                span: OutageLog.Span(begin: begin, end: end),
                isUp: period["status"]?.string.map { $0 == "satisfied" }
            )
        }
    }
}
