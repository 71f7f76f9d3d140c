// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Comparison {
    /// What is compared between two backends.
    enum Fact: String, Hashable, Sendable, CaseIterable {
        case status
        case reason
        case interfaces
        case families
        case gateways
    }

    /// In what a backend differs from the one it is compared with, and why that can be.
    struct Difference: Hashable, Sendable {
        var backend: String
        var against: String
        var facts: [Fact]
        /// What both say, in a line for people.
        var summary: String
        /// How it can be, a sentence each.
        var explanations: [String]
    }

    /// In what the backends that have a verdict differ from the first of them.
    var differences: [Difference] {
        guard let reference = self.reference else { return [] }
        return self.columns.compactMap(\.contradiction)
            + self.columns.compactMap { column in
                guard column.validVerdict != nil, column.report.name != reference.report.name else { return nil }
                let facts = column.differs(from: reference)
                guard let first = facts.first else { return nil }
                return Difference(
                    backend: column.report.name,
                    against: reference.report.name,
                    facts: facts,
                    summary: [column, reference].map { "\($0.report.name): \($0.says(first))" }.joined(separator: "; "),
                    explanations: column.explanations(of: facts, against: reference)
                )
            }
    }
}

extension Comparison.Column {
    /// That the backend states something else than its own evidence comes to; nil when it does not.
    fileprivate var contradiction: Comparison.Difference? {
        guard let verdict = self.validVerdict, let conclusion, !verdict.isStated, conclusion.status != verdict.status
        else { return nil }
        let name = self.report.name
        return Comparison.Difference(
            backend: name,
            against: name,
            facts: [.status],
            summary: "\(name): by its evidence \(self.says(.status)); it states "
                + "\(conclusion.status.rawValue), \(conclusion.reason.message)",
            explanations: ["\(name) states one thing and shows another: the evidence decides"]
        )
    }

    /// The facts in which two verdicts differ.
    ///
    /// A backend that only asks hosts knows nothing of reasons, interfaces, families and gateways, and where the
    /// status differs the rest follows from it.
    fileprivate func differs(from other: Self) -> [Comparison.Fact] {
        let facts = Comparison.Fact.allCases.filter { fact in
            guard let own = self.compared(fact), let theirs = other.compared(fact) else { return false }
            return own != theirs
        }
        if facts.first == .status { return [.status] }
        return self.sight == .hosts || other.sight == .hosts ? [] : facts
    }

    /// What is compared of one thing; nil where the backend does not tell it.
    private func compared(_ fact: Comparison.Fact) -> Set<String>? {
        guard let verdict = self.validVerdict else { return nil }
        switch fact {
        case .status: return [verdict.status.rawValue]
        // Reasons that are stated are in words of their own, and gateways are not stated.
        case .reason where verdict.isStated, .gateways where verdict.isStated: return nil
        case .reason: return [verdict.reason.code.rawValue]
        // Only some backends know whether it answers.
        case .gateways: return Set(verdict.gateways.map { "\($0.address) \($0.interfaceIndex)" })
        case .interfaces:
            if verdict.isStated, verdict.status != .satisfied || verdict.interfaces.isEmpty { return nil }
            return Set(verdict.interfaces.filter { $0.reason.code == .routed }.map(\.name))
        case .families: return verdict.knowsFamilies ? Set(verdict.families.map(\.rawValue)) : nil
        }
    }

    /// What the backend says of one thing.
    func says(_ fact: Comparison.Fact) -> String {
        guard let verdict = self.validVerdict else { return "" }
        switch fact {
        case .status where verdict.isStated:
            return "states \(verdict.status.rawValue), \(verdict.reason.message)"
        case .status: return "\(verdict.status.rawValue), \(verdict.reason.message)"
        case .reason: return verdict.reason.message
        case .interfaces where verdict.isStated && verdict.interfaces.isEmpty: return "not known"
        case .families where !verdict.knowsFamilies: return "not known"
        case .gateways where verdict.isStated: return "not known"
        case .interfaces: return Self.list(verdict.interfaces.map(\.name))
        case .families: return Self.list(AddressFamily.allCases.filter(verdict.families.contains).map(\.name))
        case .gateways: return Self.list(verdict.gateways.map(\.address.description))
        }
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    /// Why the two can differ.
    fileprivate func explanations(of facts: [Comparison.Fact], against other: Self) -> [String] {
        let pair = [self, other]
        var reasons: [String] = []
        if facts.contains(.status) {
            for column in pair where column.sight == .hosts { reasons.append(column.hostsExplanation) }
        }
        for column in pair where column.validVerdict?.isStated == true { reasons.append(column.statementExplanation) }
        for column in pair where column.sight == .part {
            reasons.append(
                "\(column.report.name) sees only the main routing table: policy rules and other tables stay unseen, and "
                    + "some routes that reject look like none"
            )
            reasons.append(
                "\(column.report.name) gets no events and looks at intervals: what happens in between shows at its next look"
            )
        }
        for column in pair where !column.report.limitations.isEmpty {
            reasons.append("\(column.report.name) is limited: \(column.report.limitations.joined(separator: "; "))")
        }
        if self.sight == other.sight, reasons.isEmpty {
            reasons.append("both see the same things, so one has missed an event or is still reading")
        }
        return reasons
    }

    private var statementExplanation: String {
        let name = self.report.name
        guard let host = self.conclusion?.host else {
            return "\(name) states its conclusion and shows no evidence: only \(name) knows what it is based on"
        }
        return "\(name) passes on what \(host) states of its own path, which is not that of this machine"
    }

    private var hostsExplanation: String {
        let name = self.report.name
        return self.validVerdict?.status == .satisfied
            ? "\(name) asks hosts: its targets can be in reach without a route to the whole internet"
            : "\(name) asks hosts and sees what routes cannot: packets that are lost beyond this machine, a firewall, or "
                + "targets that are down"
    }

    /// Why the backend has no verdict that could be compared; nil when it has one.
    var absence: String? {
        if self.report.isSilent { return self.report.error ?? "silent so far" }
        return switch self.report.health {
        case .off: "off"
        case .notAsked: "not asked"
        case .standby: "on standby: nothing of higher priority has failed"
        case .starting: "silent so far"
        case .unhealthy: "is unhealthy (\(self.report.error ?? "no reason given")); its last report does not count"
        case .healthy: self.verdict == nil ? "has reported, and has no verdict" : nil
        }
    }
}
