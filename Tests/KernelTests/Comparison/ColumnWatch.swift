// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

/// What a column must show in the end, as far as a line of its output can tell.
struct Expectation {
    /// The path's status and reason.
    var cell: ScenarioCell
    /// What each backend says of itself, by name.
    var words: [String: ScenarioCell] = [:]
    /// What the probes say of the internet; nil without probes.
    var internet: String?
    /// A part of what sysfs says limits it.
    var limitation: String?

    init(_ column: ScenarioColumn, cell: ScenarioCell, words: [ScenarioColumn: ScenarioCell]) {
        self.cell = cell
        for backend in column.backends { self.words[backend] = ScenarioColumn(rawValue: backend).flatMap { words[$0] } }
        guard column.backends.contains(ScenarioColumn.tcpProbe.rawValue) else { return }
        self.internet =
            switch words[.tcpProbe]?.status {
            // Answered by a way that is gone, where probes have a say.
            case .satisfied: column == .required && cell.status != .satisfied ? "unknown" : "reachable"
            case .unsatisfied: "unreachable"
            case .requiresConnection, nil: "unknown"
            }
    }

    /// What a line says otherwise; nil when it says all of it.
    func mismatch(_ line: JSONLine?) -> String? {
        guard let line else { return "nothing was written" }
        let said = ScenarioCell(line.value)
        if said != self.cell { return "says \(said)" }
        for backend in line["backends"]?.elements ?? [] {
            // What a broken backend said last is history.
            guard let name = backend["name"]?.string, let expected = self.words[name] else { continue }
            let said = backend["health"] == "healthy" ? ScenarioCell(backend) : .silent
            if said != expected { return "the backend \(name) says \(said) instead of \(expected)" }
            if name == ScenarioColumn.sysfs.rawValue, let limitation, !self.lists(limitation, backend) {
                return "sysfs does not say that \(limitation)"
            }
        }
        if let internet, line["internet"]?.string != internet { return "internet is \(line["internet"] ?? .null)" }
        return nil
    }

    private func lists(_ limitation: String, _ backend: JSONValue) -> Bool {
        backend["limitations"]?.elements.contains { $0.string?.contains(limitation) == true } ?? false
    }
}

/// A running monitor and what it has said so far.
final class ColumnWatch {
    let column: ScenarioColumn
    private let process: MonitorProcess
    private var last: JSONLine?
    /// What it said since it was last forgotten, repetitions included.
    private(set) var said: [ScenarioCell] = []

    init(_ column: ScenarioColumn, _ process: MonitorProcess) {
        self.column = column
        self.process = process
    }

    /// What its newest line says; nil before the first.
    var path: SaidPath? { self.last.map { SaidPath($0.value) } }

    func forget() throws {
        try self.drain()
        self.said = []
    }

    /// Waits until the newest line is as expected and, where there is a verdict to carry it, names the DNS server.
    ///
    /// - Returns: What is wrong; nil when all is well.
    func settle(on expected: Expectation, mark: String? = nil, until deadline: ContinuousClock.Instant) -> String? {
        do {
            try self.drain()
            while let problem = self.problem(expected, mark: mark) {
                let remaining = deadline - .now
                guard remaining > .zero else { return self.report(problem, expected) }
                do {
                    self.take(try self.process.next(timeout: remaining))
                } catch LabError.lineTimedOut {
                    return self.report(problem, expected)
                }
            }
            return nil
        } catch {
            return "\(self.column): \(error)"
        }
    }

    private func problem(_ expected: Expectation, mark: String?) -> String? {
        if let mismatch = expected.mismatch(self.last) { return mismatch }
        guard let mark, expected.cell != .silent, self.column != .tcpProbe else { return nil }
        return self.last?["dnsServers"]?.elements.contains(.string(mark)) == true ? nil : "does not see the DNS server"
    }

    private func report(_ problem: String, _ expected: Expectation) -> String {
        """
        \(self.column): expected \(expected.cell), \(problem); it said \(self.said.map(\.description)); \
        last line: \(self.last?.text ?? "none"); \(self.process.standardError)
        """
    }

    private func drain() throws {
        for line in try self.process.drain() { self.take(line) }
    }

    private func take(_ line: JSONLine) {
        self.last = line
        self.said.append(ScenarioCell(line.value))
    }
}
