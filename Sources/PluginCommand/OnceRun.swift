// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathCLI
import NetPathExec
import NetPathSystem
import NetPathTestKit
import Synchronization

/// `netpath plugin check --once`: a program that runs for a moment, each of its lines, and how it was read.
struct OnceRun: Sendable {
    /// How long its first word may take, its hello included.
    private static let patience = Duration.seconds(6)
    /// How long it may go on then.
    private static let moment = Duration.seconds(1)

    /// The backend as an entry of a configuration.
    let entry: String
    let isJSON: Bool

    /// Runs the program, and writes what it said.
    ///
    /// - Returns: Whether it said something that could be read, and nothing else.
    func perform() async throws -> ToolStatus {
        let context = ToolContext.current
        let lines = Mutex<[PluginLine]>([])
        let isJSON = self.isJSON
        let run = try ProgramRun(self.entry) { line in
            // A flood is kept no further than this.
            lines.withLock { if $0.count < 1_000 { $0.append(line) } }
            // A reader that is gone misses nothing.
            if !isJSON { try? context.write("\(line.number)  \(line.text)\n   \(line.sentence)\n") }
        }
        let error = await self.watch(run)
        await run.stop()
        let last = run.backend.reports.last
        let verdict = last.flatMap { $0.verdict(policy: EvaluationPolicy(), now: SystemMonotonicClock().now()) }
        let isRight = error == nil && (last != nil || !run.backend.unavailabilities.isEmpty)
        if self.isJSON {
            let document: JSONNode = [
                "schema": schemaVersion,
                "lines": .array(lines.withLock { $0.map(\.document) }),
                "messages": .strings(run.backend.messages),
                "status": .optional(verdict?.status.rawValue),
                "reason": .optional(verdict?.reason.message),
                "error": .optional(error),
            ]
            try context.write(document.line + "\n")
        } else {
            for message in run.backend.messages { try context.write("it logged  \(message)\n") }
            let text = verdict.map { "\($0.status.rawValue): \($0.reason.message)" } ?? "none"
            try context.write("verdict    \(text)\n" + (error.map { "BROKEN     \($0)\n" } ?? ""))
        }
        return isRight ? .satisfied : .unsatisfied
    }

    /// Waits for its first word and a moment more; why it ended, or that it said nothing.
    private func watch(_ run: ProgramRun) async -> String? {
        let backend = run.backend
        do {
            let hasSpoken: Bool? = try await within(Self.patience) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await backend.waitForEvidence() }
                    group.addTask { try await backend.waitForUnavailability() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
                return true
            }
            guard hasSpoken != nil else {
                return """
                    it said nothing of the network within \(DurationText.format(Self.patience)); write a conclusion, \
                    evidence or unavailable before it waits, and flush after each line
                    """
            }
            try await run.rest(Self.moment)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension PluginLine {
    fileprivate var document: JSONNode {
        [
            "number": .integer(self.number), "text": .string(self.text), "reading": .string(self.reading.name),
            "message": .string(self.sentence),
        ]
    }

    /// How it was read, for people.
    fileprivate var sentence: String {
        let isReport = if case .report = self.reading { true } else { false }
        guard isReport, !self.missing.isEmpty else { return self.reading.sentence }
        return "\(self.reading.sentence); without \(self.missing.joined(separator: ", ")): no interface of this machine"
    }
}

extension PluginLine.Reading {
    /// What it is called in JSON.
    fileprivate var name: String {
        switch self {
        case .hello: "hello"
        case .report: "report"
        case .metrics: "metrics"
        case .unavailable: "unavailable"
        case .heartbeat: "heartbeat"
        case .log: "log"
        case .fault: "fault"
        }
    }

    /// How it was read, for people.
    fileprivate var sentence: String {
        switch self {
        case .hello(let hello):
            var parts = [hello.name.map { "hello of '\($0)'" } ?? "hello"]
            let requests = (hello.answersRefresh ? ["refresh"] : []) + (hello.watches ? ["watch"] : [])
            parts.append(requests.isEmpty ? "takes no requests" : "takes \(requests.joined(separator: " and "))")
            if let heartbeat = hello.heartbeat {
                parts.append("speaks at least every \(DurationText.format(heartbeat))")
            }
            return parts.joined(separator: ", ")
        case .report(let evidence): return evidence.sentence
        case .metrics(let metrics):
            let (kept, complaint) = BackendMetric.accepted(metrics)
            let names = kept.isEmpty ? "none" : kept.map(\.name).joined(separator: ", ")
            return "numbers: \(names)" + (complaint.map { "; \($0)" } ?? "")
        case .unavailable(let sentence): return "nothing to go by: \(sentence)"
        case .heartbeat: return "sign of life"
        case .log(let level, let text): return "for the operator, \(level.rawValue): \(text)"
        case .fault(let text): return "BROKEN: this line \(text)"
        }
    }
}

extension Evidence {
    /// What it says and what it leads to, for people.
    fileprivate var sentence: String {
        var parts: [String] = []
        if let interfaces { parts.append("\(interfaces.count) interfaces") }
        if !self.referenceRoutes.isEmpty { parts.append("\(self.referenceRoutes.count) routes") }
        if !self.gateways.isEmpty { parts.append("\(self.gateways.count) gateways") }
        if let dnsServers { parts.append("\(dnsServers.count) name servers") }
        if let probes { parts.append("\(probes.outcomes.count) probes") }
        if !self.facts.isEmpty { parts.append("facts about \(self.facts.map(\.name).joined(separator: ", "))") }
        if let conclusion { parts.append("a conclusion, \(conclusion.status.rawValue)") }
        let verdict = self.verdict(policy: EvaluationPolicy(), now: SystemMonotonicClock().now())
        let meaning = verdict.map { "\($0.status.rawValue), \($0.reason.message)" } ?? "no verdict"
        return "\(parts.isEmpty ? "nothing" : parts.joined(separator: ", ")): \(meaning)"
    }
}
