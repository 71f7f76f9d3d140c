// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

extension StoreTransaction {
    /// Puts a request into the queue, by the policies of its unique key and of a full queue.
    ///
    /// - Throws: ``QueueError/queueFull(limit:of:)`` or ``QueueError/duplicate(_:)``; else what the database says.
    func insert(_ prepared: PreparedRequest) throws -> Insertion {
        try self.checkRoom(for: prepared.row.size)
        let request = prepared.request
        var new = prepared.row
        var replaced: [StoredRow] = []
        if let key = request.uniqueKey {
            let condition = "INDEXED BY requestUnique WHERE uniqueKey = ? AND \(StoreSchema.pending) ORDER BY sequence"
            let present = try self.rows(condition, [key])
            if request.ifExists == .keep, let first = present.first {
                return Insertion(id: first.id, isKept: true, state: first.state)
            }
            if request.ifExists != .append { replaced = present.filter { $0.state != .running } }
            if request.ifExists == .replace, let first = replaced.first, first.lane == new.lane {
                new.sequence = first.sequence
            }
        }
        // Once something was removed it is too late to refuse.
        if !replaced.isEmpty, let row = try self.row(request.id), !replaced.contains(row) {
            throw QueueError.duplicate(request.id)
        }
        let isFull = try self.isFull(with: new.size, replacing: replaced)

        for row in replaced { _ = try self.remove("sequence = ?", [row.sequence]) }
        try self.remember(replaced.map(\.id), as: .cancelled)
        new.state = try self.hasPredecessor(new.lane, before: new.sequence ?? .max) ? .blocked : .ready
        new.enqueued = self.now
        new.deadline = request.expiresAt.map { self.now &+ $0.inMilliseconds &- self.stamp.wall.inMilliseconds }
        do { try new.insert(self.db) } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
        { throw QueueError.duplicate(request.id) }
        let sequence = self.db.lastInsertedRowID
        if let lease = prepared.lease { self.leases.append(lease) }
        for lane in Set(replaced.compactMap(\.lane)) { try self.promote(lane) }
        let dropped = isFull ? try self.makeRoom(keeping: sequence) : []
        return Insertion(id: request.id, state: new.state, replaced: replaced.map(\.id), dropped: dropped)
    }

    /// Whether something has to go for a request of that size.
    ///
    /// - Throws: ``QueueError/queueFull(limit:of:)`` when nothing may.
    private func isFull(with size: Int, replacing replaced: [StoredRow]) throws -> Bool {
        let (maxCount, maxBytes) = (self.limits.maxCount, self.limits.maxBytes)
        guard size <= maxBytes else { throw QueueError.queueFull(limit: maxBytes, of: "bytes") }
        guard maxCount > 0 else { throw QueueError.queueFull(limit: 0, of: "requests") }
        let present = try self.records.counts
        let count = present.total - replaced.count + 1
        let bytes = present.bytes - replaced.reduce(0) { $0 + $1.size } + size
        guard count > maxCount || bytes > maxBytes else { return false }
        // Those that are being sent are not dropped.
        if self.limits.whenFull == .reject {
            let finished = "SELECT ifnull(sum(bytes), 0) FROM total WHERE NOT (\(StoreSchema.pending))"
            if count > maxCount + present.dead + present.succeeded {
                throw QueueError.queueFull(limit: maxCount, of: "requests")
            }
            if try bytes - (Int.fetchOne(self.db, sql: finished) ?? 0) > maxBytes {
                throw QueueError.queueFull(limit: maxBytes, of: "bytes")
            }
        }
        return true
    }

    /// Removes the oldest: first of what is finished, then of what is not being sent.
    private func makeRoom(keeping sequence: Int64) throws -> [UUID] {
        let find = { (state: String) in
            "SELECT min(sequence) FROM request INDEXED BY requestApart WHERE \(StoreSchema.apart) AND state = '\(state)'"
        }
        let finished = "sequence IN (SELECT min(ifnull((\(find("dead"))), ?1), ifnull((\(find("succeeded"))), ?1)))"
        let waiting = """
            sequence = (SELECT sequence FROM request WHERE \(StoreSchema.pending) AND state != 'running'
              AND sequence != ? ORDER BY sequence LIMIT 1)
            """
        var dropped: [UUID] = []
        for (condition, argument) in [(finished, Int64.max), (waiting, sequence)] {
            if condition == waiting, self.limits.whenFull == .reject { break }
            while case let counts = try self.records.counts,
                counts.total > self.limits.maxCount || counts.bytes > self.limits.maxBytes,
                let oldest = try self.end(condition, [argument]).first
            {
                dropped.append(oldest.id)
            }
        }
        return dropped
    }
}
