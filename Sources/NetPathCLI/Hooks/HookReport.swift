// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
package import NetPathSystem

/// How one run of a hook went.
struct HookRun: Hashable, Sendable, Codable {
    /// What became of the command.
    enum Outcome: Hashable, Sendable, Codable {
        /// It ended.
        case ended(ProcessEnding)
        /// It took too long, and was ended.
        case timedOut
        /// It was ended since netpath ended, or because of a new configuration.
        case stopped
        /// It could not be started, for a reason.
        case notStarted(String)

        /// Whether it did what it was run for.
        var isGood: Bool { self == .ended(.exited(0)) }
    }

    /// When it began.
    var startedAt: WallTime
    /// The status it was told, and why that was.
    var status: PathStatus?
    var reason: PathReason?
    /// The status that was told before; nil when none was.
    var previousStatus: PathStatus?
    /// Whether it was the first state that the hook was told.
    var isInitial: Bool
    /// How often the command was run with this state by then.
    var attempt: Int
    /// How long it took.
    var duration: Duration
    /// What became of it.
    var outcome: Outcome
    /// How many bytes of its output were not logged.
    var droppedBytes: Int
}

/// A hook and its latest runs, as `netpath hooks` shows them.
package struct HookReport: Hashable, Sendable, Codable {
    /// How many runs are kept.
    static let runLimit = 10

    var hook: Hook
    /// Since when its command runs; nil when it does not.
    var runningSince: WallTime?
    /// How often it was run, and how often without success.
    var runCount = 0
    var failureCount = 0
    /// The latest runs, the newest first.
    var runs: [HookRun] = []

    /// Adds the run that ended last.
    mutating func record(_ run: HookRun) {
        self.runningSince = nil
        self.runCount += 1
        if !run.outcome.isGood, run.outcome != .stopped { self.failureCount += 1 }
        self.runs = [run] + self.runs.prefix(Self.runLimit - 1)
    }
}

extension HookRun.Outcome {
    /// The outcome as the rest of a sentence.
    var text: String {
        switch self {
        case .ended(let ending): ending.description
        case .timedOut: "took too long and was ended"
        case .stopped: "was stopped"
        case .notStarted(let reason): "was not started: \(reason)"
        }
    }

    /// The name used in output.
    var name: String {
        switch self {
        case .ended(.exited): "exited"
        case .ended(.signaled): "signaled"
        case .timedOut: "timedOut"
        case .stopped: "stopped"
        case .notStarted: "notStarted"
        }
    }
}

extension HookRun {
    /// The document of a run.
    var document: JSONNode {
        var (exitStatus, signal, error): (Int32?, Int32?, String?)
        switch self.outcome {
        case .ended(.exited(let status)): exitStatus = status
        case .ended(.signaled(let number)): signal = number
        case .notStarted(let reason): error = reason
        case .timedOut, .stopped: break
        }
        return [
            "time": .string(self.startedAt.rfc3339),
            "status": .optional(self.status?.rawValue),
            "reason": .reason(self.reason),
            "previousStatus": .optional(self.previousStatus?.rawValue),
            "initial": .bool(self.isInitial),
            "attempt": .integer(self.attempt),
            "outcome": .string(self.outcome.name),
            "exitStatus": .optional(exitStatus),
            "signal": .optional(signal),
            "error": .optional(error),
            "durationMilliseconds": .integer(self.duration.inMilliseconds),
            "droppedBytes": .integer(self.droppedBytes),
        ]
    }

    /// The run in a line for people, without its time.
    var text: String {
        let change =
            (self.previousStatus.map { "\($0.rawValue) → " } ?? "") + (self.status?.rawValue ?? "unknown")
            + (self.isInitial ? " (initial)" : "")
        var outcome = self.outcome.text
        if case .notStarted = self.outcome {} else { outcome += " after \(self.duration.inMilliseconds) ms" }
        let parts =
            ["\(change): \(outcome)"]
            + (self.attempt > 1 ? ["attempt \(self.attempt)"] : [])
            + (self.droppedBytes > 0 ? ["\(self.droppedBytes) bytes of output dropped"] : [])
        return parts.joined(separator: ", ")
    }

    /// How much the end of the run matters.
    var level: LogLevel { self.outcome.isGood || self.outcome == .stopped ? .info : .error }

    /// The end of the run, for the operator.
    func message(of hook: Hook) -> String { "\(hook.title): \(self.text)" }
}

extension Hook {
    /// What messages call it: its name in the file, or the option that a command was typed after.
    var title: String { self.isTyped ? "--\(self.name)" : "hook '\(self.name)'" }
}

extension HookReport {
    /// The document of a hook.
    package var document: JSONNode {
        [
            "name": .string(self.hook.name),
            "on": .string(self.hook.trigger.rawValue),
            "forMilliseconds": .integer(self.hook.holdTime.inMilliseconds),
            "command": .strings(self.hook.command),
            "timeoutMilliseconds": .integer(self.hook.timeout.inMilliseconds),
            "retries": .integer(self.hook.retries),
            "user": .optional(self.hook.user),
            "runningSince": .optional(self.runningSince?.rfc3339),
            "runCount": .integer(self.runCount),
            "failureCount": .integer(self.failureCount),
            "runs": .array(self.runs.map(\.document)),
        ]
    }

    /// The document of `hooks`.
    static func document(_ reports: [HookReport]) -> JSONNode {
        ["schema": schemaVersion, "hooks": .array(reports.map(\.document))]
    }

    /// The same without what only those may see who may read the configuration: the command, and reasons, which hold
    /// addresses.
    var forOthers: HookReport {
        var report = self
        report.hook.command = []
        for index in report.runs.indices {
            report.runs[index].reason?.hideMessage()
            guard case .notStarted = report.runs[index].outcome else { continue }
            report.runs[index].outcome = .notStarted("the reason is shown only to users who may see the command")
        }
        return report
    }

    /// The screen of some hooks.
    ///
    /// - Parameters:
    ///   - reports: The hooks.
    ///   - style: How it is laid out.
    ///   - local: Turns a point in time into local time.
    /// - Returns: The text.
    static func screen(_ reports: [HookReport], _ style: TextStyle, local: (WallTime) -> CivilTime) -> String {
        var screen = TextScreen(style)
        if reports.isEmpty { screen.paragraph("There are no hooks.") }
        for report in reports {
            let (hook, hold) = (report.hook, report.hook.holdTime)
            screen.heading(hook.name)
            screen.row("on", [hook.trigger.rawValue + (hold > .zero ? " for \(DurationText.format(hold))" : "")])
            if !hook.command.isEmpty { screen.row("command", [hook.command.joined(separator: " ")]) }
            let runs = report.runCount == 1 ? "1 run" : "\(report.runCount) runs"
            let state = report.runningSince.map { "running since \(local($0).text)" } ?? "idle"
            screen.row("state", ["\(state); \(runs), \(report.failureCount) failed"])
            screen.row("latest runs", report.runs.map { "\(local($0.startedAt).text) \($0.text)" })
        }
        return screen.text
    }
}
