// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathSystem
import OfflineRequests

// The commands that only look.

extension RequestCommand {
    /// Lists requests, and tells people where there are none.
    ///
    /// - Throws: `QueueError` where the file can be read no further, after what could be read.
    fileprivate func list(
        _ states: Set<RequestState>,
        of reader: QueueReader?,
        limit: Int? = nil,
        secrets: SecretsOption,
        none: @autoclosure () throws -> String
    ) throws -> ToolStatus {
        let (options, write) = (self.options, ToolContext.current.write)
        let style = options.style
        var count = 0
        try reader?.forEach(in: states) { record in
            let record = record.shown(secrets)
            try write(options.json ? record.summary.line + "\n" : record.lines(style))
            count += 1
            return count < limit ?? .max
        }
        if count == 0, !options.json { try write(none() + "\n") }
        return .satisfied
    }
}

extension QueueCommands.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let reader = try session.read()
        let pause = { try reader?.isPaused() == true ? " The queue is paused: \(typed("queue resume"))." : "" }
        return try self.list(
            RequestState.pending,
            of: reader,
            limit: self.limit,
            secrets: self.secrets,
            none: "Nothing waits." + pause()
        )
    }
}

extension QueueCommands.Dead.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        try self.list([.dead], of: session.read(), secrets: self.secrets, none: "Nothing was given up.")
    }
}

extension QueueCommands.Responses.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        try self.list([.succeeded], of: session.read(), secrets: self.secrets, none: "No responses are kept.")
    }
}

extension QueueCommands.Show: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let id = try UUID(argument: self.id)
        let reader = try session.read()
        guard let record = try reader?.record(id: id)?.shown(self.secrets) else {
            guard let end = try reader?.end(of: id) else { throw QueueError.unknownID(id) }
            let isJSON = self.options.json
            try ToolContext.current.write(isJSON ? self.document(of: id, end).line + "\n" : self.line(of: id, end))
            return .satisfied
        }
        try ToolContext.current.write(
            self.options.json ? record.details.line + "\n" : record.screen(self.options.style)
        )
        return .satisfied
    }

    private typealias End = (state: RequestState, date: Date, status: Int?)

    private func line(of id: UUID, _ end: End) -> String {
        let answer = end.status.map { "; the server answered \($0)" } ?? ""
        let text =
            switch end.state {
            case .succeeded: "delivered at \(end.date.text)\(answer)"
            case .dead: "given up at \(end.date.text)"
            default: "cancelled at \(end.date.text)"
            }
        return "\(id.text) was \(text); nothing else of it is kept\n"
    }

    private func document(of id: UUID, _ end: End) -> JSONNode {
        [
            "schema": schemaVersion,
            "id": .string(id.text),
            "state": .string(end.state.rawValue),
            "ended": .time(end.date),
            "lastStatus": .optional(end.status),
        ]
    }
}

extension QueueCommands.Stats: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let reader = try session.read()
        let file = try reader?.file ?? OfflineRequestQueue.standardFile(application: QueueSession.application)
        let counts = try reader?.counts() ?? QueueCounts()
        let isPaused = try reader?.isPaused() ?? false
        if let textfile {
            try MetricsText.write(self.metrics(of: reader, counts, isPaused), to: textfile)
            return .satisfied
        }
        guard !self.options.json else {
            let members = Self.states.map { (key: $0.rawValue, value: JSONNode.integer(counts[$0])) }
            let document: JSONNode = [
                "schema": schemaVersion,
                "file": .string(file),
                "counts": .object(members),
                "pending": .integer(counts.pending),
                "bytes": .integer(counts.bytes),
                "paused": .bool(isPaused),
            ]
            try ToolContext.current.write(document.line + "\n")
            return .satisfied
        }
        var screen = TextScreen(self.options.style)
        let title = (counts.pending == 0 ? "EMPTY" : "\(counts.pending) PENDING") + (isPaused ? ", PAUSED" : "")
        screen.title(title, counts.pending == 0 && !isPaused ? .good : .caution, file)
        screen.heading("Requests")
        for state in Self.states where counts[state] > 0 || state != .succeeded {
            screen.row(state.rawValue, ["\(counts[state])\(counts[state] == 0 ? "" : "  " + state.meaning)"])
        }
        screen.row("bytes", ["\(counts.bytes)"])
        if isPaused { screen.row("paused", ["yes, until \(typed("queue resume"))"]) }
        try ToolContext.current.write(screen.text)
        return .satisfied
    }

    private static let states: [RequestState] = [.ready, .blocked, .backoff, .running, .held, .dead, .succeeded]

    /// What a queue holds, for Prometheus.
    private func metrics(of reader: QueueReader?, _ counts: QueueCounts, _ isPaused: Bool) throws -> String {
        let user = NSUserName()
        let oldest = try reader?.oldest()
        var text = MetricsText(isOpenMetrics: false)
        let samples = Self.states.map { MetricsText.Sample(counts[$0], ["user": user, "state": $0.rawValue]) }
        text.gauge("netpath_queue_requests", "Requests in each state.", samples)
        text.gauge(
            "netpath_queue_bytes",
            "Bytes of all requests, and of responses that are kept.",
            [.init(counts.bytes, ["user": user])]
        )
        text.gauge(
            "netpath_queue_paused",
            "Whether nothing is sent until netpath queue resume.",
            [.init(isPaused, ["user": user])]
        )
        let age = oldest.map { MetricsText.Sample(max(0, Date.now.timeIntervalSince($0)), ["user": user]) }
        text.gauge(
            "netpath_queue_oldest_age_seconds",
            "How long the oldest request that waits has waited.",
            [age].compactMap(\.self)
        )
        return text.text
    }
}
