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
            let present = try self.rows(
                "SELECT \(StoredRow.columns) FROM request INDEXED BY requestUnique WHERE uniqueKey = ? ORDER BY sequence",
                [key]
            )
            if request.ifExists == .keep, let first = present.first {
                return Insertion(id: first.id, isKept: true, state: first.state)
            }
            if request.ifExists != .append { replaced = present.filter { $0.state != .running } }
            if request.ifExists == .replace, let first = replaced.first, first.lane == prepared.lane {
                place = first.sequence
            }
        }
        try self.refuseDuplicate(request.id, replaced: replaced)
        try self.refuseWhenFull(prepared, replaced: replaced)

        let gate = try self.gate(for: prepared)
        for row in replaced { try self.remove(row) }
        try self.remember(replaced.map(\.id), as: .cancelled)
        let sequence = place ?? self.tally.sequence + 1
        let state: RequestState = try self.hasPredecessor(prepared.lane, before: sequence) ? .blocked : .ready
        try self.add(prepared, sequence: sequence, state: state, gate: gate)
        for lane in Set(replaced.compactMap(\.lane)) { try self.promote(lane) }
        let dropped = try self.makeRoom(keeping: sequence)
        return Insertion(id: request.id, state: state, replaced: replaced.map(\.id), dropped: dropped)
    }

    /// Whether a request can come into the queue without another having to go, or to stay in its place.
    func takesNothing(_ prepared: PreparedRequest) -> Bool {
        prepared.request.uniqueKey == nil && self.counts.total < self.limits.maxCount
            && self.counts.bytes + prepared.size <= self.limits.maxBytes
    }

    private func add(_ prepared: PreparedRequest, sequence: Int64, state: RequestState, gate: Int64) throws {
        let request = prepared.request
        let wall = QueueClock.milliseconds(self.stamp.wall)
        let deadline = request.expiresAt.map { self.now &+ QueueClock.milliseconds($0) &- wall }
        do {
            // Not by execute(_:_:): a duplicate is refused, and does not end the transaction.
            let insert = """
                INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, 0, 0, NULL, NULL, NULL, NULL, ?, ?, ?)
                """
            try SQLStatement(self.db, insert).run(
                .number(sequence),
                .id(request.id),
                .number(StoreState.number(state)),
                .number(gate),
                .number(request.priority.rawValue),
                .text(prepared.lane),
                .text(request.uniqueKey),
                .text(request.requestType),
                .number(deadline),
                .number(self.now),
                .number(prepared.size),
                .number(request.retryCount),
                .text(prepared.bodyFile),
                .number(prepared.seal),
                .octets(prepared.payload)
            )
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            throw QueueError.duplicate(request.id)
        } catch {
            try self.attempt { throw error }
        }
        if sequence > self.tally.sequence {
            self.tally.append(state, size: prepared.size, as: sequence)
        } else {
            self.tally.add(state, size: prepared.size)
        }
        if let lease = prepared.lease { self.leases.append(lease) }
    }

    /// What the unique index of the insert does not see.
    private func refuseDuplicate(_ id: UUID, replaced: [StoredRow]) throws {
        if self.counts.dead + self.counts.succeeded > 0, try self.row(id, in: "finished") != nil {
            throw QueueError.duplicate(id)
        }
        // Once something was removed it is too late to refuse.
        guard !replaced.isEmpty, let row = try self.row(id) else { return }
        if !replaced.contains(row) { throw QueueError.duplicate(id) }
    }

    private func refuseWhenFull(_ prepared: PreparedRequest, replaced: [StoredRow]) throws {
        guard prepared.size <= self.limits.maxBytes else {
            throw QueueError.queueFull(limit: self.limits.maxBytes, of: "bytes")
        }
        guard self.limits.maxCount > 0 else { throw QueueError.queueFull(limit: 0, of: "requests") }
        // Those that are being sent are not dropped.
        guard self.limits.whenFull == .reject else { return }
        if self.counts.pending - replaced.count >= self.limits.maxCount {
            throw QueueError.queueFull(limit: self.limits.maxCount, of: "requests")
        }
        let pending = self.counts.bytes - self.tally.finishedBytes - replaced.reduce(0) { $0 + $1.size }
        if pending + prepared.size > self.limits.maxBytes {
            throw QueueError.queueFull(limit: self.limits.maxBytes, of: "bytes")
        }
    }

    private var isFull: Bool {
        self.counts.total > self.limits.maxCount || self.counts.bytes > self.limits.maxBytes
    }

    /// Removes the oldest: first of what is finished, then of what is not being sent.
    private func makeRoom(keeping sequence: Int64) throws -> [UUID] {
        var dropped: [UUID] = []
        let tables = self.limits.whenFull == .dropOldest ? ["finished", "request"] : ["finished"]
        for table in tables {
            while self.isFull {
                let oldest = try self.rows(
                    """
                    SELECT \(StoredRow.columns) FROM \(table) WHERE state != 3 AND sequence != ? ORDER BY sequence LIMIT 1
                    """,
                    [sequence]
                )
                guard let oldest = oldest.first else { break }
                try self.remove(oldest)
                if oldest.state != .succeeded {
                    try self.remember([oldest.id], as: oldest.state == .dead ? .dead : .cancelled)
                }
                if !oldest.state.isFinal { try self.promote(oldest.lane) }
                dropped.append(oldest.id)
            }
        }
        return dropped
    }

    func hasPredecessor(_ lane: String?, before sequence: Int64) throws -> Bool {
        guard let lane else { return false }
        return try self.number(
            "SELECT 1 FROM request INDEXED BY requestLane WHERE lane = ? AND sequence < ? LIMIT 1",
            [lane, sequence]
        ) != nil
    }

    /// The number of the gate of a request, which is made when it is the first.
    func gate(for prepared: PreparedRequest) throws -> Int64 {
        let key = Gate(prepared.request, to: prepared.host)
        if let number = self.gateNumbers[key] { return number }
        let arguments: StatementArguments = [key.host, RequestWriter.encode(key)]
        let find = "SELECT id FROM gate WHERE host = ? AND requires = ?"
        var number = try self.number(find, arguments)
        if number == nil {
            try self.execute("INSERT INTO gate (host, requires) VALUES (?, ?)", arguments)
            number = self.db.lastInsertedRowID
        }
        self.gateNumbers[key] = number
        return number ?? 0
    }
}
