// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathSystem
import OfflineRequests

// The commands that only look.

extension QueueReader {
    /// Lists requests.
    ///
    /// - Throws: `QueueError` where the file can be read no further, after what could be read.
    fileprivate func list(
        _ states: Set<RequestState>,
        limit: Int? = nil,
        options: RequestOptions,
        secrets: SecretsOption
    ) throws -> Int {
        let (style, write) = (options.style, ToolContext.current.write)
        var count = 0
        try self.forEach(in: states) { record in
            let record = record.shown(secrets)
            try write(options.json ? record.summary.line + "\n" : record.lines(style))
            count += 1
            return count < limit ?? .max
        }
        return count
    }
}

extension QueueReader {
    /// The request that waits longest.
    fileprivate func oldestPending() throws -> RequestRecord? {
        var oldest: RequestRecord?
        try self.forEach(in: RequestState.pending) { record in
            oldest = record
            return false
        }
        return oldest
    }
}

/// What a queue holds, for Prometheus; `user` is whose it is, and `age` how many seconds the oldest request has waited.
private func queueMetrics(
    _ counts: [(state: String, count: Int)],
    bytes: Int,
    isPaused: Bool,
    age: TimeInterval?,
    user: String
) -> String {
    var text = MetricsText(isOpenMetrics: false)
    let samples = counts.map { MetricsText.Sample($0.count, ["user": user, "state": $0.state]) }
    text.gauge("netpath_queue_requests", "Requests in each state.", samples)
    text.gauge(
        "netpath_queue_bytes",
        "Bytes of all requests, and of responses that are kept.",
        [.init(bytes, ["user": user])]
    )
    text.gauge(
        "netpath_queue_paused",
        "Whether nothing is sent until netpath queue resume.",
        [.init(isPaused, ["user": user])]
    )
    let oldest = age.map { MetricsText.Sample(max(0, $0), ["user": user]) }
    text.gauge(
        "netpath_queue_oldest_age_seconds",
        "How long the oldest request that waits has waited.",
        [oldest].compactMap(\.self)
    )
    return text.text
}

extension RequestCommand {
    fileprivate func tell(_ count: Int, none: String) throws -> ToolStatus {
        if count == 0, !self.options.json { try ToolContext.current.write(none + "\n") }
        return .satisfied
    }
}

extension QueueCommands.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let reader = try session.read()
        let count =
            try reader?.list(RequestState.pending, limit: self.limit, options: self.options, secrets: self.secrets) ?? 0
        let pause = try reader?.isPaused() == true ? " The queue is paused: \(typed("queue resume"))." : ""
        return try self.tell(count, none: "Nothing waits." + pause)
    }
}

extension QueueCommands.Dead.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let count = try session.read()?.list([.dead], options: self.options, secrets: self.secrets) ?? 0
        return try self.tell(count, none: "Nothing was given up.")
    }
}

extension QueueCommands.Responses.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let count = try session.read()?.list([.succeeded], options: self.options, secrets: self.secrets) ?? 0
        return try self.tell(count, none: "No responses are kept.")
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
}

extension QueueCommands.Show {
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
        let states: [RequestState] = [.ready, .blocked, .backoff, .running, .held, .dead, .succeeded]
        if let textfile {
            let oldest = try reader?.oldestPending()?.request.timestamp
            let metrics = queueMetrics(
                states.map { ($0.rawValue, counts[$0]) },
                bytes: counts.bytes,
                isPaused: isPaused,
                age: oldest.map { Date.now.timeIntervalSince($0) },
                user: NSUserName()
            )
            try MetricsText.write(metrics, to: textfile)
            return .satisfied
        }
        guard !self.options.json else {
            let members = states.map { (key: $0.rawValue, value: JSONNode.integer(counts[$0])) }
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
        for state in states where counts[state] > 0 || state != .succeeded {
            screen.row(state.rawValue, ["\(counts[state])\(counts[state] == 0 ? "" : "  " + state.meaning)"])
        }
        screen.row("bytes", ["\(counts.bytes)"])
        if isPaused { screen.row("paused", ["yes, until \(typed("queue resume"))"]) }
        try ToolContext.current.write(screen.text)
        return .satisfied
    }
}
