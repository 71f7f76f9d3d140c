// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// Sets a backend beside netlink, in the situations that netpath plays for its own backends, or in one's own.
///
/// Each scenario is played in network namespaces of its own, by programs: one `netpath` with the netlink backend, and one
/// with the backend in question. What is measured is what a person would see.
///
/// ```swift
/// let comparison = try BackendComparison("flagFile", program: "/usr/local/bin/uplink") { stage in
///     "{type: flagFile, path: /run/uplink-is-up}"
/// }
/// let table = await comparison.play()
/// #expect(table.isAllowed, "\(table)")
/// ```
///
/// A backend that did not run, threw, or said nothing before the change has not passed: its row says so, and
/// ``ComparedTable/isAllowed`` is false.
///
/// It needs what `NetworkNamespace` needs.
public struct BackendComparison: Sendable {
    /// The backend's entry in the list `backends` of a configuration, in one line of YAML.
    public typealias Entry = @Sendable (ScenarioStage) -> String

    private let name: String
    private let program: String
    private let patience: Duration
    private let allowances: [String: String]
    private let entry: Entry

    /// The time the backend has to notice what netlink does not see.
    package var timeToNotice: Duration

    /// Prepares a comparison.
    ///
    /// - Parameters:
    ///   - name: What the backend is called in the table.
    ///   - program: The path of a `netpath` that knows the backend; nil for the one named by `NETPATH_BINARY`, or else the
    ///     product `netpath` built with the tests.
    ///   - patience: The time the backend has to see what netlink sees.
    ///   - allowances: Where the backend may differ: titles of scenarios, and why.
    ///   - entry: How the backend is configured; the stage knows the hosts to probe, and the file of name servers.
    /// - Throws: ``LabError`` when the program is not there.
    public init(
        _ name: String,
        program: String? = nil,
        patience: Duration = .seconds(10),
        allowing allowances: [String: String] = [:],
        entry: @escaping Entry
    ) throws {
        self.name = name
        self.program = try program ?? ScenarioStage.usualProgram
        self.patience = patience
        self.timeToNotice = min(patience, .seconds(3))
        self.allowances = allowances
        self.entry = entry
    }

    /// Plays scenarios, several at a time.
    ///
    /// - Parameters:
    ///   - scenarios: What to play; those of the project unless named.
    ///   - progress: Called with every row as it is known, on any thread.
    /// - Returns: The table, in the order of the scenarios.
    public func play(
        _ scenarios: [Scenario] = ScenarioTable.rows,
        progress: @escaping @Sendable (ComparedRow) -> Void = { _ in }
    ) async -> ComparedTable {
        let rows = await withTaskGroup(of: (Int, ComparedRow).self) { group in
            for (number, scenario) in scenarios.enumerated() {
                group.addTask {
                    let row = await ScenarioPlace.run { self.play(scenario) }
                    progress(row)
                    return (number, row)
                }
            }
            return await group.reduce(into: [(Int, ComparedRow)]()) { $0.append($1) }
        }
        return ComparedTable(name: self.name, rows: rows.sorted { $0.0 < $1.0 }.map(\.1))
    }

    // MARK: One scenario

    private func play(_ scenario: Scenario) -> ComparedRow {
        if let need = scenario.need, !need.isMet {
            return ComparedRow(scenario.title, .unplayed("needs \(need.rawValue)"))
        }
        do {
            let stage = try ScenarioStage(scenario.world, program: self.program)
            defer { stage.lab.close() }
            return try self.play(scenario, on: stage)
        } catch {
            return ComparedRow(scenario.title, .didNotRun("\(error)"))
        }
    }

    private func play(_ scenario: Scenario, on stage: ScenarioStage) throws -> ComparedRow {
        try scenario.prepare(stage)
        var programs: [ComparedProgram] = []
        if scenario.approach == .both {
            programs = try self.start(scenario, on: stage)
            guard programs[0].settle(within: .seconds(15), on: { $0.cell == .routed }) else {
                return ComparedRow(scenario.title, .didNotRun("netlink sees no path before the change"))
            }
            // One that knows nothing may go on knowing nothing, once it has said so.
            programs[1].settle(within: self.patience) { $0.cell.status == .satisfied }
            if let silence = programs[1].silence {
                return ComparedRow(scenario.title, .didNotRun("before the change \(silence)"))
            }
            for program in programs { try program.forget() }
        }
        let start = ContinuousClock.now
        try scenario.change(stage)
        if programs.isEmpty { programs = try self.start(scenario, on: stage) }
        let expected = scenario.cell(.netlink)
        guard programs[0].settle(within: .seconds(15), on: { $0.cell == expected }) else {
            let said = "netlink says \(programs[0].cell) instead of \(expected); \(programs[0].errors)"
            return ComparedRow(scenario.title, .didNotRun(said))
        }
        // Told last, so that netlink has seen all of it: what another one says by then counts.
        let mark = try stage.setResolverMark()
        programs[0].settle(within: .seconds(15)) { $0.hasSeen(mark) }
        let reference = ComparedRow.reference(of: scenario)
        programs[1].settle(within: self.patience) { $0.cell.status == reference.status }
        // Nothing tells when it has looked: one that is right because it has not noticed yet gets the time to.
        let hasNoticed = programs[1].settle(within: self.timeToNotice) { $0.cell.status != reference.status }
        if hasNoticed { programs[1].settle(within: self.patience) { $0.cell.status == reference.status } }
        // A reason may be one of several on the way, and may be a word of its own for good.
        programs[1].settle(within: min(self.patience, .seconds(1))) { $0.cell == reference }
        return ComparedRow(
            scenario,
            cell: programs[1].cell,
            meanwhile: programs[1].said,
            allowance: self.allowances[scenario.title],
            delays: (programs[0].settled.map { $0 - start }, programs[1].settled.map { $0 - start }),
            failure: programs[1].failure,
            errors: programs[1].errors
        )
    }

    private func start(_ scenario: Scenario, on stage: ScenarioStage) throws -> [ComparedProgram] {
        let file = "\(stage.lab.directory)/compared.yaml"
        try "backends:\n  - \(self.entry(stage))\n".write(toFile: file, atomically: true, encoding: .utf8)
        // Netlink's own verdict is read, the first of three; a few scenarios need a probe.
        return try [stage.start(.merged, by: scenario.launcher), stage.start(file: file, by: scenario.launcher)]
            .map(ComparedProgram.init)
    }
}

/// A running program, and what its first backend has said.
private final class ComparedProgram {
    private let process: MonitorProcess
    private var last: JSONLine?
    /// What it says now; no verdict before the first line.
    private(set) var cell: ScenarioCell = .silent
    /// What it said since it was last forgotten, repetitions included.
    private(set) var said: [ScenarioCell] = []
    /// When it came to say what it says now; nil when it has said nothing else since it was forgotten.
    private(set) var settled: ContinuousClock.Instant?
    /// Whether its backend has ever reported.
    private var hasReported = false
    /// The error of its backend, as long as it has one.
    private var error: String?

    init(_ process: MonitorProcess) {
        self.process = process
    }

    var errors: String { self.process.standardError }

    /// Why nothing is known of what its backend sees; nil once it has reported.
    var silence: String? {
        if self.hasReported { return nil }
        let reasons = ["it reported nothing", self.error ?? self.errors].filter { !$0.isEmpty }
        return reasons.joined(separator: ": ")
    }

    /// Why what it said proves nothing: its backend, or the program itself, ended or never spoke.
    var failure: String? {
        // A restart alone is no news, and makes no line of the path.
        let mark = "; \(BackendReport.restart)"
        if let line = self.errors.split(separator: "\n").first(where: { $0.contains(mark) }) {
            return "it ended by itself: \(line.replacing(mark, with: ""))"
        }
        if !self.process.isRunning { return "the program ended: \(self.errors)" }
        // One that says that its source tells nothing runs.
        return self.error == nil || self.error == BackendReport.silence ? self.silence : nil
    }

    func forget() throws {
        for line in try self.process.drain() { self.take(line) }
        self.said = []
        self.settled = nil
    }

    /// Whether it has seen all that came before the file named this DNS server, or has no verdict to carry it.
    func hasSeen(_ mark: String) -> Bool {
        self.cell == .silent || self.last?["dnsServers"]?.elements.contains(.string(mark)) == true
    }

    /// Waits until it says what is wanted.
    @discardableResult
    func settle(within patience: Duration, on isWanted: (ComparedProgram) -> Bool) -> Bool {
        let deadline = ContinuousClock.now + patience
        do {
            for line in try self.process.drain() { self.take(line) }
            while !isWanted(self) {
                guard ContinuousClock.now < deadline else { return false }
                self.take(try self.process.next(timeout: deadline - .now))
            }
            return true
        } catch {
            return isWanted(self)
        }
    }

    private func take(_ line: JSONLine) {
        let backend = line["backends"]?.elements.first ?? .null
        if backend["health"] == "healthy" { self.hasReported = true }
        self.error = backend["error"]?.string
        // What a broken backend said last is history.
        let cell = backend["health"] == "healthy" ? ScenarioCell(backend) : .silent
        if cell != self.cell { self.settled = line.receivedAt }
        self.last = line
        self.cell = cell
        self.said.append(cell)
    }
}
