// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What a backend said in one scenario, beside netlink.
public struct ComparedRow: Hashable, Sendable {
    /// How what it said is to be taken.
    public enum Judgement: Hashable, Sendable {
        /// It said what netlink said; its reason may be another.
        case same
        /// It had no verdict, which never means "no".
        case silent
        /// It said something else, which is allowed; why.
        case allowed(String)
        /// It said something else, and no reason allows that.
        case differs(String)
        /// It did not run, or the scenario was not what it has to be, so that nothing is known; why.
        case didNotRun(String)
        /// This machine lacks what the scenario needs; what that is.
        case unplayed(String)
    }

    /// What happens in the scenario.
    public let title: String
    /// What netlink says; where it has no socket to ask the kernel, what a merged path says.
    public let reference: ScenarioCell
    /// What the backend said in the end.
    public let cell: ScenarioCell
    /// How that is to be taken.
    public let judgement: Judgement
    /// From the change to netlink's word; nil when that did not change.
    public let referenceDelay: Duration?
    /// From the change to the backend's word; nil when that did not change.
    public let delay: Duration?

    /// A row of a scenario in which nothing was compared.
    init(_ title: String, _ judgement: Judgement) {
        self.title = title
        self.reference = .silent
        self.cell = .silent
        self.judgement = judgement
        self.referenceDelay = nil
        self.delay = nil
    }

    init(
        _ scenario: Scenario,
        cell: ScenarioCell,
        meanwhile: [ScenarioCell],
        allowance: String?,
        delays: (reference: Duration?, backend: Duration?),
        failure: String?,
        errors: String
    ) {
        self.title = scenario.title
        self.reference = Self.reference(of: scenario)
        self.cell = cell
        self.referenceDelay = delays.reference
        self.delay = delays.backend
        self.judgement =
            failure.map(Judgement.didNotRun) ?? Self.judge(cell, meanwhile, scenario, allowance, errors)
    }

    /// What a backend is measured by.
    static func reference(of scenario: Scenario) -> ScenarioCell {
        let word = scenario.cell(.netlink)
        return word == .silent ? scenario.cell(.merged) : word
    }

    private static func judge(
        _ cell: ScenarioCell,
        _ meanwhile: [ScenarioCell],
        _ scenario: Scenario,
        _ allowance: String?,
        _ errors: String
    ) -> Judgement {
        let reference = self.reference(of: scenario)
        guard let status = cell.status else { return .silent }
        if status == reference.status {
            let other = meanwhile.first { $0.status != nil && $0.status != status }
            guard scenario.isSteady, let other else { return .same }
            return allowance.map(Judgement.allowed) ?? .differs("said \(other) in between, and nothing happened")
        }
        if let allowance { return .allowed(allowance) }
        // What one of netpath's own may say, another one may say too.
        let isOnline = status == .satisfied
        for column in [ScenarioColumn.sysfs, .tcpProbe] {
            let word = scenario.cell(column)
            guard let other = word.status, (other == .satisfied) == isOnline, !scenario.why.isEmpty else { continue }
            return .allowed("as \(column.rawValue): \(scenario.why)")
        }
        return .differs("expected \(reference)" + (errors.isEmpty ? "" : "; \(errors)"))
    }
}

/// What a backend said in all scenarios; its description is a table for people.
public struct ComparedTable: Hashable, Sendable, CustomStringConvertible {
    /// The backend's name.
    public let name: String
    /// A row for every scenario.
    public let rows: [ComparedRow]

    /// The rows in which it said what it may not.
    public var differences: [ComparedRow] {
        self.rows.filter { if case .differs = $0.judgement { true } else { false } }
    }

    /// The rows in which nothing was compared, though this machine has what they need.
    public var failures: [ComparedRow] {
        self.rows.filter { if case .didNotRun = $0.judgement { true } else { false } }
    }

    /// Whether something was played, it ran wherever it was, and said nothing that it may not.
    public var isAllowed: Bool {
        self.differences.isEmpty && self.failures.isEmpty
            && self.rows.contains { if case .unplayed = $0.judgement { false } else { true } }
    }

    /// The table in Markdown, and a line of numbers.
    public var description: String {
        let header = """
            | what happens | netlink | \(self.name) | after | after | |
            |---|---|---|--:|--:|---|

            """
        return header + self.rows.map { "\($0)\n" }.joined() + "\n" + self.summary
    }

    private var summary: String {
        let count = { (isOne: (ComparedRow.Judgement) -> Bool) in self.rows.count { isOne($0.judgement) } }
        return """
            \(self.rows.count) scenarios: \(count { $0 == .same }) the same, \(count { $0 == .silent }) without a verdict, \
            \(count { if case .allowed = $0 { true } else { false } }) different and allowed, \
            \(self.differences.count) different, \(self.failures.count) did not run, \(count { if case .unplayed = $0 { true } else { false } }) not played
            """
    }
}

extension ComparedRow: CustomStringConvertible {
    /// A row of Markdown.
    public var description: String {
        let judgement =
            switch self.judgement {
            case .same: "same"
            case .silent: "no verdict"
            case .allowed(let why): "allowed: \(why)"
            case .differs(let how): "DIFFERS: \(how)"
            case .didNotRun(let why): "DID NOT RUN: \(why)"
            case .unplayed(let why): "not played: \(why)"
            }
        let delays = [self.referenceDelay, self.delay].map { $0?.rounded ?? "–" }
        let cells = [self.title, self.reference.documentation, self.cell.documentation] + delays + [judgement]
        return "| \(cells.map { $0.replacing("|", with: "/").replacing("\n", with: " ") }.joined(separator: " | ")) |"
    }
}
