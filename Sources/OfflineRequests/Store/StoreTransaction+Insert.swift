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
        var replaced: [StoredRow] = []
        var place: Int64?
        if let key = request.uniqueKey {
            let condition = "INDEXED BY requestUnique WHERE uniqueKey = ? AND \(StoreSchema.pending) ORDER BY sequence"
            let present = try self.rows(condition, [key])
            if request.ifExists == .keep, let first = present.first {
                return Insertion(id: first.id, isKept: true, state: first.state)
            }
            if request.ifExists != .append { replaced = present.filter { $0.state != .running } }
            if request.ifExists == .replace, let first = replaced.first, first.lane == prepared.lane {
                place = first.sequence
            }
        }
        // Once something was removed it is too late to refuse.
        if !replaced.isEmpty, let row = try self.row(request.id), !replaced.contains(row) {
            throw QueueError.duplicate(request.id)
        }
        let isFull = try self.isFull(with: prepared, replacing: replaced)

        for row in replaced { _ = try self.remove("sequence = ?", [row.sequence]) }
        try self.remember(replaced.map(\.id), as: .cancelled)
        let state: RequestState = try self.hasPredecessor(prepared.lane, before: place ?? .max) ? .blocked : .ready
        let wall = QueueClock.milliseconds(self.stamp.wall)
        let deadline = request.expiresAt.map { self.now &+ QueueClock.milliseconds($0) &- wall }
        let stored = StoredRequest(prepared, sequence: place, state: state, enqueued: self.now, deadline: deadline)
        do { try stored.insert(self.db) } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
        { throw QueueError.duplicate(request.id) }
        let sequence = self.db.lastInsertedRowID
        if let lease = prepared.lease { self.leases.append(lease) }
        for lane in Set(replaced.compactMap(\.lane)) { try self.promote(lane) }
        let dropped = isFull ? try self.makeRoom(keeping: sequence) : []
        return Insertion(id: request.id, state: state, replaced: replaced.map(\.id), dropped: dropped)
    }

    private struct Load: Codable, FetchableRecord {
        var count: Int
        var bytes: Int
        var finished: Int
        var finishedBytes: Int
    }

    /// Whether something has to go for a request.
    ///
    /// - Throws: ``QueueError/queueFull(limit:of:)`` when nothing may.
    private func isFull(with prepared: PreparedRequest, replacing replaced: [StoredRow]) throws -> Bool {
        let (maxCount, maxBytes) = (self.limits.maxCount, self.limits.maxBytes)
        guard prepared.size <= maxBytes else { throw QueueError.queueFull(limit: maxBytes, of: "bytes") }
        guard maxCount > 0 else { throw QueueError.queueFull(limit: 0, of: "requests") }
        let sql = """
            SELECT sum(count) AS count, sum(bytes) AS bytes, sum(iif(\(StoreSchema.pending), 0, count)) AS finished,
              sum(iif(\(StoreSchema.pending), 0, bytes)) AS finishedBytes FROM total
            """
        guard let load = try Load.fetchOne(self.db.cachedStatement(sql: sql)) else { return false }
        let count = load.count - replaced.count + 1
        let bytes = load.bytes - replaced.reduce(0, { $0 + $1.size }) + prepared.size
        // Those that are being sent are not dropped.
        if self.limits.whenFull == .reject {
            if count - load.finished > maxCount { throw QueueError.queueFull(limit: maxCount, of: "requests") }
            if bytes - load.finishedBytes > maxBytes { throw QueueError.queueFull(limit: maxBytes, of: "bytes") }
        }
        return count > maxCount || bytes > maxBytes
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
            while case let counts = self.counts,
                counts.total > self.limits.maxCount || counts.bytes > self.limits.maxBytes,
                let oldest = try self.remove(condition, [argument]).first
            {
                if oldest.state != .succeeded {
                    try self.remember([oldest.id], as: oldest.state == .dead ? .dead : .cancelled)
                }
                if !oldest.state.isFinal { try self.promote(oldest.lane) }
                dropped.append(oldest.id)
            }
        }
        return dropped
    }
}
