// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCLI
import NetPathHTTP
import NetPathSystem
import OfflineRequests

// The commands that change what waits.

extension RequestCommand {
    /// Says with how many requests, or with the whole queue, what was done.
    fileprivate func tell(_ count: Int, _ action: String, isOfQueue: Bool = false) throws {
        let document: JSONNode = .object([
            (key: "schema", value: schemaVersion),
            (key: action, value: .integer(count)),
        ])
        let requests = count == 1 ? "1 request" : "\(count) requests"
        let text = isOfQueue ? "queue \(action), \(requests) pending" : "\(requests) \(action)"
        try ToolContext.current.write((self.options.json ? document.line : text) + "\n")
    }
}

extension NamingCommand {
    /// Does something with each of the requests that were named, or with all; those that are not there are told apart.
    ///
    /// Before anything is done all must be identifiers. Where one is needed it is a failure that there is none at all.
    fileprivate func each(
        _ action: String,
        needsOne: Bool = false,
        in session: QueueSession,
        _ body: @escaping @Sendable (OfflineRequestQueue, UUID) async throws(QueueError) -> Void,
        all: @escaping @Sendable (OfflineRequestQueue) async throws(QueueError) -> Int
    ) throws -> ToolStatus {
        let ids = try self.ids.map { try UUID(argument: $0) }
        let queue = try session.openExisting()
        var count = 0
        if ids.isEmpty {
            count = try session.wait { () async throws(QueueError) in try await all(queue) }
        }
        for id in ids {
            do throws(QueueError) {
                try session.wait { () async throws(QueueError) in try await body(queue, id) }
                count += 1
            } catch {
                guard case .unknownID = error else { throw error }
                ToolContext.current.say("\(error)")
            }
        }
        try self.tell(count, action)
        let isDone = ids.isEmpty ? count > 0 || !needsOne : count == ids.count
        return isDone ? .satisfied : .unsatisfied
    }
}

extension QueueCommands.Retry: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let (headers, includesDead) = (try HeaderFields(commandLine: self.headers), self.all)
        return try self.each("retried", in: session) { queue, id throws(QueueError) in
            try await queue.forceTriggerRetry(id: id, replacing: headers)
        } all: { queue throws(QueueError) in
            try await queue.forceTriggerRetry(includingDead: includesDead)
        }
    }
}

extension QueueCommands.Cancel: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let (key, type) = (self.key, self.type)
        return try self.each("cancelled", needsOne: true, in: session) { queue, id throws(QueueError) in
            _ = try await queue.cancelRequest(id: id)
        } all: { queue throws(QueueError) in
            if let key { return try await queue.cancelRequests(orderingKey: key) }
            if let type { return try await queue.cancelRequests(requestType: type) }
            return try await queue.cancelRequests()
        }
    }
}

extension QueueCommands.Reset: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        let count = try queue.counts.total
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
        try session.wait { () async throws(QueueError) in try await queue.pause() }
        try self.tell(queue.counts.pending, "paused", isOfQueue: true)
        return .satisfied
    }
}

extension QueueCommands.Resume: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        try session.wait { () async throws(QueueError) in try await queue.resume() }
        try self.tell(queue.counts.pending, "resumed", isOfQueue: true)
        return .satisfied
    }
}

extension QueueCommands.Dead.Requeue: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        try self.each("requeued", needsOne: true, in: session) { queue, id throws(QueueError) in
            try await queue.requeueDead(id: id)
        } all: { queue throws(QueueError) in
            try await queue.requeueDead()
        }
    }
}

extension QueueCommands.Dead.Purge: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        try self.each("removed", in: session) { queue, id throws(QueueError) in
            try await queue.purgeFinished(id: id)
        } all: { queue throws(QueueError) in
            try await queue.purgeDead()
        }
    }
}

extension QueueCommands.Responses.Purge: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        try self.each("removed", in: session) { queue, id throws(QueueError) in
            try await queue.purgeFinished(id: id)
        } all: { queue throws(QueueError) in
            try await queue.purgeResponses()
        }
    }
}

extension QueueCommands.Repair: RunnableCommand {
    func run(in session: QueueSession) throws -> ToolStatus {
        let queue = try session.openExisting()
        let held = try queue.repair()
        var (recovered, lost, aside) = (Int?.none, Int?.none, String?.none)
        if case .salvaged(let kept, let missing, let path)? = queue.salvages.last(where: \.isSalvage) {
            (recovered, lost, aside) = (kept, missing, path)
        }
        let document: JSONNode = [
            "schema": schemaVersion,
            "recovered": .optional(recovered),
            "lost": .optional(lost),
            "setAsideAs": .optional(aside),
            "held": .integer(held),
        ]
        var text = queue.salvages.isEmpty ? "Nothing is damaged.\n" : ""
        if held > 0 { text = "\(held) held, because they or their bodies are damaged; see \(typed("queue list"))\n" }
        try ToolContext.current.write(self.options.json ? document.line + "\n" : text)
        return held > 0 ? .failure : .satisfied
    }
}
