// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Comparison {
    /// What is compared between two backends.
    enum Fact: String, Hashable, Sendable, CaseIterable {
        case status, reason, interfaces, families, gateways
    }

    /// In what a backend differs from the one it is compared with, and why that can be.
    struct Difference: Hashable, Sendable {
        var backend: String
        /// The same backend when it states something else than its own evidence comes to.
        var against: String
        var facts: [Fact]
        /// What both say, in a line for people.
        var summary: String
        /// How it can be, a sentence each.
        var explanations: [String]
    }

    /// In what the backends that have a verdict differ from the first of them.
    var differences: [Difference] {
        guard let reference = self.speakers.first else { return [] }
        return self.columns.compactMap(\.contradiction) + self.columns.compactMap { $0.difference(from: reference) }
    }
}

extension Comparison.Column {
    fileprivate var contradiction: Comparison.Difference? {
        guard let verdict, let conclusion, !verdict.isStated, conclusion.status != verdict.status else { return nil }
        return Comparison.Difference(
            backend: self.name,
            against: self.name,
            facts: [.status],
            summary: "\(self.name): by its evidence \(self.statement); it states "
                + "\(conclusion.status.rawValue), \(conclusion.reason.message)",
            explanations: ["\(self.name) states one thing and shows another: the evidence decides"]
        )
    }

    fileprivate func difference(from other: Self) -> Comparison.Difference? {
        let pair = [self, other]
        // Who asks hosts, or states a conclusion, gives reasons in words of its own.
        let givesOtherReasons = pair.contains { $0.sight == .hosts || $0.verdict?.isStated == true }
        let facts = Comparison.Fact.allCases.filter { fact in
            guard let own = self.values(of: fact), let theirs = other.values(of: fact) else { return false }
            return Set(own) != Set(theirs) && !(fact == .reason && givesOtherReasons)
        }
        guard let first = facts.first else { return nil }
        var explanations = pair.flatMap(\.limits)
        if explanations.isEmpty, self.sight == other.sight {
            explanations = ["both see the same things, so one has missed an event or is still reading"]
        }
        return Comparison.Difference(
            backend: self.name,
            against: other.name,
            // Where the status differs, the rest follows from it.
            facts: first == .status ? [.status] : facts,
            summary: pair.map { column in
                let isInWords = first == .status || first == .reason
                return "\(column.name): \(isInWords ? column.statement : column.text(of: first))"
            }.joined(separator: "; "),
            explanations: explanations
        )
    }

    /// What is compared of one thing; nil where the backend does not tell it.
    private func values(of fact: Comparison.Fact) -> [String]? {
        guard let verdict else { return nil }
        switch fact {
        case .status: return [verdict.status.rawValue]
        case .reason: return [verdict.reason.code.rawValue + (verdict.isStated ? " (stated)" : "")]
        // Who only asks hosts knows nothing else, and who states a conclusion only what it names.
        case _ where self.sight == .hosts: return nil
        case .interfaces:
            let names = verdict.interfaces.filter { $0.reason.code == .routed }.map(\.name)
            return verdict.isStated && names.isEmpty ? nil : names
        case .families:
            return verdict.knowsFamilies ? AddressFamily.allCases.filter(verdict.families.contains).map(\.name) : nil
        case .gateways: return verdict.isStated ? nil : verdict.gateways.map(\.address.description)
        }
    }

    /// What the backend says of one thing.
    func text(of fact: Comparison.Fact) -> String {
        self.values(of: fact).map { $0.isEmpty ? "none" : $0.joined(separator: ", ") } ?? "-"
    }

    /// What the backend says, or why it says nothing that counts.
    var statement: String {
        guard let verdict else { return self.report.condition }
        return "\(verdict.isStated ? "states " : "")\(verdict.status.rawValue), \(verdict.reason.message)"
    }

    /// How long after the first to notice; nil when it has not noticed.
    var delayText: String? { self.delay.map { $0 == .zero ? "first" : "\($0.roundTripText) behind" } }

    /// Why the backend can differ from others, a sentence each.
    private var limits: [String] {
        let reasons =
            switch self.sight {
            case _ where self.verdict?.isStated == true:
                [
                    self.conclusion?.host.map { "passes on what \($0) states of its own path, not of this machine's" }
                        ?? "states its conclusion and shows no evidence: only \(self.name) knows what it is based on"
                ]
            case .hosts:
                [
                    "asks hosts: they can be in reach without a route to the whole internet, and out of reach where packets "
                        + "are lost beyond this machine, a firewall drops them, or the hosts are down"
                ]
            case .part:
                [
                    "sees only the main routing table: policy rules and other tables stay unseen, and some routes that "
                        + "reject look like none",
                    "gets no events and looks at intervals: what happens in between shows at its next look",
                ]
            case .kernel, .conclusion, nil: []
            }
        return (reasons + self.report.limitations.map { "is limited: \($0)" }).map { "\(self.name) \($0)" }
    }
}
