// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

extension StoreTransaction {
    /// Puts a request into the queue, by the policies of its unique key and of a full queue.
    ///
    /// - Throws: ``QueueError/queueFull(limit:of:)`` or ``QueueError/duplicate(_:)``; else what the database says.
    func insert(_ prepared: PreparedRequest) throws -> Insertion {
        let request = prepared.request
        var new = prepared.row
        // Without it the ends of requests could not be recorded.
        if let lacksRoom { throw QueueError.diskFull(path: self.path, missing: max(lacksRoom, new.size)) }
        var replaced: [StoredRow] = []
        if let key = request.uniqueKey {
            let condition = "INDEXED BY requestUnique WHERE uniqueKey = ? AND \(StoreSchema.pending) ORDER BY sequence"
            let present = try self.rows(condition, [key])
            if request.ifExists == .keep, let first = present.first {
                return Insertion(id: first.id, isKept: true, state: first.state)
            }
            replaced = present.filter { $0.state != .running }
            if let first = replaced.first, first.lane == new.lane {
                new.sequence = first.sequence
            }
        }
        // Once something was removed it is too late to refuse.
        if !replaced.isEmpty, let row = try self.row(request.id), !replaced.contains(row) {
            throw QueueError.duplicate(request.id)
        }
        let isBeyondLimits = try self.checkLimits(with: new.size, replacing: replaced)

        for row in replaced { _ = try self.remove("sequence = ?", [row.sequence]) }
        try self.remember(replaced.map(\.id), as: .cancelled)
        new.state = try self.hasPredecessor(new.lane, before: new.sequence ?? .max) ? .blocked : .ready
        new.enqueued = self.now
        new.deadline = request.expiresAt.map { self.now &+ $0.inMilliseconds &- self.stamp.wall.inMilliseconds }
        do { try self.counting(new) { try new.insert(self.db) } } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
        { throw QueueError.duplicate(request.id) }
        if let lease = prepared.lease { self.leases.append(lease) }
        for lane in Set(replaced.compactMap(\.lane)) { try self.promote(lane) }
        let dropped = isBeyondLimits ? try self.makeRoom() : []
        return Insertion(id: request.id, state: new.state, replaced: replaced.map(\.id), dropped: dropped)
    }

    /// Makes sure that a request of that size may come; returns whether something that is finished has to go for it.
    ///
    /// - Throws: ``QueueError/queueFull(limit:of:)`` when what is not finished leaves no room for it.
    private func checkLimits(with size: Int, replacing replaced: [StoredRow]) throws -> Bool {
        let (maxCount, maxBytes) = (self.settings.maxCount, self.settings.maxBytes)
        let present = try self.counts
        let (count, added) = (1 - replaced.count, size - replaced.reduce(0) { $0 + $1.size })
        guard present.pending + count <= maxCount else { throw QueueError.queueFull(limit: maxCount, of: "requests") }
        if present.bytes + added > maxBytes {
            let finished = "SELECT ifnull(sum(bytes), 0) FROM total WHERE NOT (\(StoreSchema.pending))"
            let rest = try present.bytes + added - (Int.fetchOne(self.db, sql: finished) ?? 0)
            guard rest <= maxBytes else { throw QueueError.queueFull(limit: maxBytes, of: "bytes") }
        }
        return present.total + count > maxCount || present.bytes + added > maxBytes
    }

    /// Removes the oldest of what is finished, until nothing is beyond the limits.
    private func makeRoom() throws -> [UUID] {
        let find = { (state: String) in
            "SELECT min(sequence) FROM request INDEXED BY requestApart WHERE state = '\(state)'"
        }
        let finished = "sequence IN (SELECT min(ifnull((\(find("dead"))), ?1), ifnull((\(find("succeeded"))), ?1)))"
        var dropped: [UUID] = []
        while case let counts = try self.counts,
            counts.total > self.settings.maxCount || counts.bytes > self.settings.maxBytes,
            let oldest = try self.end(finished, [Int64.max]).first
        {
            dropped.append(oldest.id)
        }
        return dropped
    }
}

struct Insertion: Hashable, Sendable {
    /// The id of the request in the queue: that of another which was there and stays, by ``UniquePolicy/keep``.
    var id: UUID
    var isKept = false
    var state: RequestState
    var replaced: [UUID] = []
    /// Those that were removed because the queue was full.
    var dropped: [UUID] = []
}

struct Finish: Hashable, Sendable {
    var state: RequestState
    /// Those behind it that were given up with it.
    var dropped: [UUID] = []
}

/// A request that may go, if it is what was taken.
struct ReadyRequest: Identifiable, Sendable {
    let record: RequestRecord
    let row: StoredRequest

    var id: UUID { self.row.id }

    /// Whether it says itself that it goes where it waits.
    var isAtItsGate: Bool { Gate(text: self.row.gate) == Gate(self.record.request) }
}

/// A gate that has requests which may go.
struct StoreGate: Identifiable, Hashable, Sendable, FetchableRecord {
    /// What its requests have in their column.
    var id: String
    /// The priority of the request that goes first through it.
    var priority: RequestPriority
    /// The number of that request.
    var first: Int64
    /// Where the requests go, and what they need of the network.
    var gate: Gate

    init(row: Row) {
        self.id = row["id"]
        self.priority = RequestPriority(rawValue: row["priority"]) ?? .normal
        self.first = row["first"]
        self.gate = Gate(text: self.id) ?? Gate(host: self.id)
    }
}

/// A request as it goes into the database: encoded, and with a long body in a file of the queue's own.
///
/// All that takes long is done when it is made, on the thread of the caller. An object, since it is large and goes from hand to
/// hand.
final class PreparedRequest: Sendable {
    /// The request, as the queue will give it back.
    let request: RetryableRequest
    /// Its row, but for its place and its times.
    let row: StoredRequest
    let lease: BodyLease?

    /// Prepares a request that is valid, and goes to that host.
    init(_ request: RetryableRequest, to host: String, limit: Int, bodies: BodyFiles) throws(QueueError) {
        var kept = request
        var copy: BodyFiles.Copy?
        if let file = request.bodyFile {
            copy = try bodies.copy(file, limit: limit)
        } else if let body = request.body, body.count > BodyFiles.threshold {
            copy = try bodies.write(body)
        }
        if let copy {
            kept.body = nil
            kept.bodyFile = copy.lease.path
        }
        self.request = kept
        self.row = try StoredRequest(kept, to: host, copy)
        self.lease = copy?.lease
    }
}
