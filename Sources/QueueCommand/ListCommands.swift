// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import OfflineRequests

// The commands that only look.

extension QueueCommands.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.open()
        defer { queue.close() }
        return try queue.pendingRequests.write(options: self.options, limit: self.limit, none: "Nothing waits.")
    }
}

extension QueueCommands.Dead.List: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.open()
        defer { queue.close() }
        return try queue.deadRequests.write(options: self.options, limit: nil, none: "Nothing was given up.")
    }
}

extension PendingRequests {
    fileprivate func write(options: RequestOptions, limit: Int?, none: String) throws -> ToolStatus {
        let style = options.style
        let write = ToolContext.current.write
        var count = 0
        for record in self.prefix(limit ?? .max) {
            try write(options.json ? record.summary.line + "\n" : record.lines(style))
            count += 1
        }
        if count == 0, !options.json { try write(none + "\n") }
        return .satisfied
    }
}

extension QueueCommands.Show: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let id = try UUID(argument: self.id)
        let queue = try session.open()
        defer { queue.close() }
        guard let record = try queue.record(id: id) else { throw QueueError.unknownID(id) }
        try ToolContext.current.write(
            self.options.json ? record.details.line + "\n" : record.screen(self.options.style)
        )
        return .satisfied
    }
}

extension QueueCommands.Stats: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.open()
        defer { queue.close() }
        let counts = queue.counts
        let states: [RequestState] = [.ready, .blocked, .backoff, .running, .held, .dead, .succeeded]
        guard !self.options.json else {
            let members = states.map { JSONValue.Member(key: $0.rawValue, value: .integer(counts[$0])) }
            let document: JSONValue = [
                "schema": schemaVersion,
                "file": .string(queue.file),
                "counts": .object(members),
                "pending": .integer(queue.pendingRequests.count),
                "bytes": .integer(counts.bytes),
            ]
            try ToolContext.current.write(document.line + "\n")
            return .satisfied
        }
        var screen = TextScreen(self.options.style)
        let pending = queue.pendingRequests.count
        screen.title(pending == 0 ? "EMPTY" : "\(pending) PENDING", pending == 0 ? .good : .caution, queue.file)
        screen.heading("Requests")
        for state in states where counts[state] > 0 || state != .succeeded {
            screen.row(state.rawValue, ["\(counts[state])\(counts[state] == 0 ? "" : "  " + state.meaning)"])
        }
        screen.row("bytes", ["\(counts.bytes)"])
        try ToolContext.current.write(screen.text)
        return .satisfied
    }
}
