// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import Dispatch
import NetPath
import NetPathCLI
import NetPathConfiguration
import NetPathExec
import NetPathSystem
import NetPathTestKit
import Synchronization

/// `netpath-plugin`: the commands of `netpath` that check backends, which it executes this program for.
struct PluginTool: ParsableCommand {
    /// What the program is made of.
    static let facts = BuildFacts(program: "netpath-plugin")

    static let configuration = CommandConfiguration(
        commandName: "netpath-plugin",
        abstract: "Find out whether a backend is right.",
        discussion: """
            This is what 'netpath plugin' executes.

            \(ToolStatus.help)
            """,
        version: Self.facts.text,
        subcommands: [PluginCommands.self]
    )
}

extension CheckPluginCommand {
    /// Runs the conformance suite.
    func perform() throws -> ToolStatus {
        var rules = Set(ConformanceRule.allCases)
        for name in self.except {
            guard let rule = ConformanceRule(rawValue: name) else {
                let names = ConformanceRule.allCases.map(\.rawValue).joined(separator: ", ")
                throw ToolFailure(.usage, "there is no rule '\(name)'; the rules are \(names)")
            }
            rules.remove(rule)
        }
        var limits = BackendConformance.Limits()
        limits.cycles = self.cycles
        // It is made to end within one second, and is asked how in a rule of its own.
        limits.cancellation = .seconds(3)
        let patienceFactor = self.patienceFactor
        limits = limits.extended(by: patienceFactor)
        let entry = try self.entry
        // Said once, with its place, before anything runs.
        _ = try makeMonitor(entry)
        // What it leaves behind is counted, and ended.
        ChildProcess.adoptOrphans()
        defer { ProgramHoldings.endLeftovers() }
        if self.once {
            let once = OnceRun(entry: entry, isJSON: self.json)
            let result: Result<ToolStatus, any Error> = waitFor {
                do { return .success(try await once.perform()) } catch { return .failure(error) }
            }
            return try result.get()
        }
        let daemons = Mutex(0)
        var suite = BackendConformance(self.command[0], limits: limits) {
            try makeProgram(entry, patienceFactor: patienceFactor) { event in
                if case .ended(_, _, let hasLeftGroup) = event, hasLeftGroup { daemons.withLock { $0 += 1 } }
            }
        }
        suite.program = ProgramCheck(entry, firstReport: limits.firstReport, patienceFactor: patienceFactor).checks
        suite.program?.daemons = { daemons.withLock(\.self) }
        let report = waitFor { [suite, rules] in await suite.check(rules) }
        try ToolContext.current.write((self.json ? report.document.line : "\(report)") + "\n")
        return report.isConforming ? .satisfied : .unsatisfied
    }
}

extension ComparePluginCommand {
    /// Plays the scenarios.
    func perform() throws -> ToolStatus {
        if let reason = NetworkNamespace.unavailableReason { throw ToolFailure(.failure, reason) }
        let entry = try self.entry
        _ = try makeMonitor(entry)
        let scenarios = ScenarioTable.rows.filter { self.only.isEmpty || $0.title.contains(self.only) }
        guard !scenarios.isEmpty else { throw ToolFailure(.usage, "no title of a scenario contains '\(self.only)'") }
        let comparison = try BackendComparison(
            self.command[0],
            program: ToolContext.current.netpath,
            patience: self.patience.duration
        ) { _ in entry }
        let count = Atomic(0)
        let context = ToolContext.current
        let table = waitFor {
            await comparison.play(scenarios) { row in
                let number = count.wrappingAdd(1, ordering: .relaxed).newValue
                if number % 10 == 0 { context.note("\(number) of \(scenarios.count)") }
            }
        }
        try context.write((self.json ? table.document.line : "\(table)") + "\n")
        return table.isAllowed ? .satisfied : .unsatisfied
    }
}

extension PluginCommand {
    /// The backend as an entry of a configuration.
    fileprivate var entry: String {
        get throws {
            let command: [String]
            do {
                command = try self.absoluteCommand
                if let obstacle = LaunchPlan.obstacle(to: command, isPrivileged: Privileges.areHeld) { throw obstacle }
            } catch {
                throw ToolFailure(.unavailable, "this program cannot be run: \(error)")
            }
            // A string of JSON is one of YAML.
            let words = command.map { JSONNode.string($0).line }
            return "{type: exec, command: [\(words.joined(separator: ", "))]}"
        }
    }
}

/// Makes a backend as a configuration file would.
func makeMonitor(_ entry: String) throws -> any PathMonitor {
    let source = ConfigurationSource(name: "command line", text: "backends:\n  - \(entry)\n")
    guard let backend = try LoadedConfiguration.parse(source).backends.first else {
        throw ToolFailure(.failure, "the configuration has no backend")
    }
    return backend.monitor
}

/// Waits for what is asynchronous; this thread has nothing else to do.
private func waitFor<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) -> Value {
    let result = Mutex<Value?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    Task.detached {
        let value = await operation()
        result.withLock { $0 = value }
        isOver.signal()
    }
    while true {
        isOver.wait()
        if let value = result.withLock(\.self) { return value }
    }
}
