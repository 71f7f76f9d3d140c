// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathHTTP
import OfflineRequests

// The commands that change what waits.

extension RequestCommand {
    /// Says how many requests were meant.
    ///
    /// - Parameters:
    ///   - count: The number.
    ///   - action: What was done with them, for people and as the key in JSON.
    /// - Throws: `SystemError` when standard output takes no more.
    fileprivate func tell(_ count: Int, _ action: String) throws {
        let document: JSONValue = .object([
            JSONValue.Member(key: "schema", value: schemaVersion),
            JSONValue.Member(key: action, value: .integer(count)),
        ])
        let text = count == 1 ? "1 request \(action)" : "\(count) requests \(action)"
        try ToolContext.current.write((self.options.json ? document.line : text) + "\n")
    }

    /// Does something with each of the requests that were named; those that are not there are told apart.
    ///
    /// - Parameters:
    ///   - ids: The identifiers.
    ///   - action: What is done, for people and as the key in JSON.
    ///   - body: Does it.
    /// - Returns: Whether all of them were there.
    /// - Throws: `ToolFailure` before anything is done when one of them is no identifier, and what `body` throws.
    fileprivate func each(_ ids: [String], _ action: String, _ body: (UUID) throws -> Void) throws -> ToolStatus {
        let ids = try ids.map { try UUID(argument: $0) }
        var count = 0
        for id in ids {
            do {
                try body(id)
                count += 1
            } catch QueueError.unknownID(let id) {
                ToolContext.current.message("netpath: \(QueueError.unknownID(id))")
            }
        }
        try self.tell(count, action)
        return count == ids.count ? .satisfied : .unsatisfied
    }
}

extension QueueCommands.Retry: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        guard self.ids.isEmpty else {
            let headers = HeaderFields(commandLine: self.headers)
            return try self.each(self.ids, "retried") { id in
                try session.wait { () async throws(QueueError) in
                    try await queue.forceTriggerRetry(id: id, replacing: headers)
                }
            }
        }
        let includesDead = self.all
        let count = try session.wait { () async throws(QueueError) in
            try await queue.forceTriggerRetry(includingDead: includesDead)
        }
        try self.tell(count, "retried")
        return .satisfied
    }
}

extension QueueCommands.Cancel: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        if let lane = self.lane {
            return try self.told(
                session.wait { () async throws(QueueError) in
                    try await queue.cancelRequests(orderingKey: lane)
                }
            )
        }
        if let type = self.type {
            return try self.told(
                session.wait { () async throws(QueueError) in
                    try await queue.cancelRequests(requestType: type)
                }
            )
        }
        if self.all {
            return try self.told(
                session.wait { () async throws(QueueError) in try await queue.cancelRequests() }
            )
        }
        return try self.each(self.ids, "cancelled") { id in
            _ = try session.wait { () async throws(QueueError) in try await queue.cancelRequest(id: id) }
        }
    }

    private func told(_ count: Int) throws -> ToolStatus {
        try self.tell(count, "cancelled")
        return count > 0 ? .satisfied : .unsatisfied
    }
}

extension QueueCommands.Reset: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        let count = queue.pendingRequests.count + queue.deadRequests.count
        try session.wait { () async throws(QueueError) in
            try await queue.reset()
            try await queue.resume()
        }
        try self.tell(count, "removed")
        return .satisfied
    }
}

extension QueueCommands.Pause: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.open()
        defer { queue.close() }
        try session.wait { () async throws(QueueError) in try await queue.pause() }
        try self.tell(queue.pendingRequests.count, "paused")
        return .satisfied
    }
}

extension QueueCommands.Resume: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        try session.wait { () async throws(QueueError) in try await queue.resume() }
        try self.tell(queue.pendingRequests.count, "resumed")
        return .satisfied
    }
}

extension QueueCommands.Dead.Requeue: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        guard self.ids.isEmpty else {
            return try self.each(self.ids, "requeued") { id in
                try session.wait { () async throws(QueueError) in try await queue.requeueDead(id: id) }
            }
        }
        let count = try session.wait { () async throws(QueueError) in try await queue.requeueDead() }
        try self.tell(count, "requeued")
        return count > 0 ? .satisfied : .unsatisfied
    }
}

extension QueueCommands.Dead.Purge: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        guard self.ids.isEmpty else {
            return try self.each(self.ids, "removed") { id in
                try session.wait { () async throws(QueueError) in try await queue.purgeFinished(id: id) }
            }
        }
        let count = try session.wait { () async throws(QueueError) in try await queue.purgeDead() }
        try self.tell(count, "removed")
        return .satisfied
    }
}

extension QueueCommands.Responses.Purge: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        guard self.ids.isEmpty else {
            return try self.each(self.ids, "removed") { id in
                try session.wait { () async throws(QueueError) in try await queue.purgeFinished(id: id) }
            }
        }
        let count = try session.wait { () async throws(QueueError) in try await queue.purgeResponses() }
        try self.tell(count, "removed")
        return .satisfied
    }
}

extension QueueCommands.Repair: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        defer { queue.close() }
        try queue.repair()
        let salvage = queue.salvages.last
        let document: JSONValue = [
            "schema": schemaVersion,
            "recovered": .optional(salvage?.recovered),
            "lost": .optional(salvage?.lost),
            "setAsideAs": .optional(salvage?.asideAs),
        ]
        let text = salvage == nil ? "Nothing is damaged.\n" : ""
        try ToolContext.current.write(self.options.json ? document.line + "\n" : text)
        return .satisfied
    }
}
