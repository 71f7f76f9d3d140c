// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// Plays a scenario against every column.
///
/// Nothing is waited for but what the monitors say. That they keep to it is proved by a mark, not by waiting: a change
/// of the DNS servers, made last, that netlink, sysfs and both mergers must have seen.
struct ScenarioRun {
    private let scenario: Scenario
    private let stage: ScenarioStage
    private var failures: [String] = []

    /// The time for every column to say what it must say once something has changed.
    private let patience: Duration
    /// The same for what is never expected to be wrong.
    static let longPatience: Duration = .seconds(15)
    /// What is checked besides what the columns say.
    typealias Inspection = @Sendable (Scenario, ScenarioStage) throws -> [String]
    private let inspect: Inspection

    /// Plays a scenario.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - patience: The time for every column to say what it must say once something has changed.
    ///   - inspect: Looks at the stage once every column said what it must; returns what is wrong.
    /// - Returns: What went wrong.
    static func failures(
        of scenario: Scenario,
        patience: Duration = Self.longPatience,
        inspect: @escaping Inspection = { _, _ in [] }
    ) async -> [String] {
        await ScenarioPlace.run { Self.play(scenario, patience, inspect) }
    }

    private static func play(_ scenario: Scenario, _ patience: Duration, _ inspect: @escaping Inspection) -> [String] {
        do {
            let stage = try ScenarioStage(scenario.world, program: ScenarioStage.usualProgram)
            defer { stage.lab.close() }
            var run = ScenarioRun(scenario: scenario, stage: stage, patience: patience, inspect: inspect)
            try run.play()
            return run.failures
        } catch {
            return ["\(error)"]
        }
    }

    private init(scenario: Scenario, stage: ScenarioStage, patience: Duration, inspect: @escaping Inspection) {
        self.inspect = inspect
        self.scenario = scenario
        self.stage = stage
        self.patience = patience
    }

    private mutating func play() throws {
        try self.scenario.prepare(self.stage)
        var watches: [ColumnWatch] = []
        if self.scenario.approach == .both {
            watches = try self.startColumns()
            self.settle(watches, "before the change", wasOnline: true)
            // Nothing that follows would mean anything.
            guard self.failures.isEmpty else { return }
            for watch in watches { try watch.forget() }
            try self.stage.forgetConnections()
        }
        try self.scenario.change(self.stage)
        self.settle(watches, "started before")
        if !watches.isEmpty { try self.stage.awaitProbe(for: self.scenario.cell(.tcpProbe)) }

        let later = try self.startColumns()
        self.settle(later, "started after")
        self.failures += try self.inspect(self.scenario, self.stage)
        let mark = try self.stage.setResolverMark()
        self.settle(watches, "started before, at the end", mark: mark)
        self.settle(later, "started after, at the end", mark: mark)
        self.checkHistory(watches, later)
        try self.checkFreshLooks(watches, later)
    }

    private static let online: [ScenarioColumn: ScenarioCell] = [
        .netlink: .routed, .sysfs: .routed, .tcpProbe: .answered,
    ]

    private func startColumns() throws -> [ColumnWatch] {
        try ScenarioColumn.allCases.map { ColumnWatch($0, try self.stage.start($0, by: self.scenario.launcher)) }
    }

    private mutating func settle(
        _ watches: [ColumnWatch],
        _ moment: String,
        wasOnline: Bool = false,
        mark: String? = nil
    ) {
        let words = wasOnline ? Self.online : self.scenario.words
        let deadline = ContinuousClock.now + (wasOnline ? Self.longPatience : self.patience)
        for watch in watches {
            let cell = wasOnline ? Self.online[watch.column] ?? .routed : self.scenario.cell(watch.column)
            var expected = Expectation(watch.column, cell: cell, words: words)
            if !wasOnline { expected.limitation = self.scenario.limitation }
            guard let problem = watch.settle(on: expected, mark: mark, until: deadline) else { continue }
            self.failures.append("\(moment): \(problem)")
        }
    }

    /// Who has watched all the time, who has started since and who starts now say the same.
    private mutating func checkFreshLooks(_ watches: [ColumnWatch], _ later: [ColumnWatch]) throws {
        func compare(_ fresh: SaidPath, _ former: SaidPath, _ moment: String, _ column: ScenarioColumn) {
            guard let difference = fresh.difference(from: former) else { return }
            self.failures.append("\(moment): \(column) says \(difference)")
        }
        for (watch, other) in zip(watches, later) {
            guard let former = watch.path, let fresh = other.path else { continue }
            compare(fresh, former, "started after", watch.column)
        }
        // Of one that asks once, too: it has another way to the answer.
        for watch in later where watch.column == .netlink {
            guard let former = watch.path else { continue }
            let look = self.stage.freshLook(watch.column, by: self.scenario.launcher)
            compare(SaidPath(try look.take()), former, "asked once", watch.column)
        }
    }

    /// What was said on the way there.
    private mutating func checkHistory(_ watches: [ColumnWatch], _ later: [ColumnWatch]) {
        for watch in watches where self.scenario.isSteady {
            let expected = self.scenario.cell(watch.column).status
            if let other = watch.said.first(where: { $0.status != expected }) {
                self.failures.append("started before: \(watch.column) said \(other) in between, and nothing happened")
            }
        }
        // What reads the state of the kernel has no excuse for a first report that it takes back.
        for watch in later where watch.column == .netlink || watch.column == .sysfs {
            let first = watch.said.first { $0.status != nil }
            if let first, first != self.scenario.cell(watch.column) {
                self.failures.append("started after: \(watch.column) said \(first) first")
            }
        }
    }
}

extension ScenarioStage {
    /// What a program says that starts now, as a column does that was started before.
    fileprivate func freshLook(_ column: ScenarioColumn, by launcher: Launcher) -> FreshLook {
        FreshLook(
            in: self.lab,
            of: self.program,
            configuration: self.configurationPath(of: column),
            after: launcher.words
        )
    }
}
