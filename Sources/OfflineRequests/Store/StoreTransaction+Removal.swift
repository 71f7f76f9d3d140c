// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// What people and applications do with requests, and what time does.
extension StoreTransaction {
    /// Which requests are meant.
    enum Selection: Hashable, Sendable {
        /// All that are not finished.
        case all
        /// Those of a type.
        case type(String)
        /// Those of a lane.
        case lane(String)
    }

    /// Cancels a request, whatever its state; one that is being sent too, which then has to be told.
    ///
    /// - Returns: Where it stood; nil when it is not there.
    func cancel(_ id: UUID) throws -> RequestState? {
        guard let row = try self.remove("id = ?", [id]).first else { return nil }
        if row.state != .succeeded { try self.remember([id], as: .cancelled) }
        if !row.state.isFinal { try self.promote(row.lane) }
        return row.state
    }

    /// Cancels requests that are not finished.
    func cancel(_ selection: Selection) throws -> Cancellation {
        let rows =
            switch selection {
            case .all: try self.remove(StoreSchema.pending)
            case .type(let type): try self.remove("requestType = ? AND \(StoreSchema.pending)", [type])
            case .lane(let lane): try self.remove("lane = ? AND \(StoreSchema.pending)", ["o\(lane)"])
            }
        try self.remember(rows.map(\.id), as: .cancelled)
        for lane in Set(rows.compactMap(\.lane)) { try self.promote(lane) }
        return Cancellation(ids: rows.map(\.id), running: rows.filter { $0.state == .running }.map(\.id))
    }

    /// Removes everything, finished requests too.
    func reset() throws -> [UUID] {
        let running = try self.cancel(.all).running
        _ = try self.remove("TRUE")
        return running
    }

    /// Gives up what is of no use any more or too old, but nothing that is being sent.
    func expire(maxAge: Duration?, limit: Int = 1000) throws -> [UUID] {
        let waiting = "\(StoreSchema.pending) AND state != 'running'"
        let condition = "INDEXED BY requestDeadline WHERE deadline IS NOT NULL AND deadline <= ? AND \(waiting)"
        var rows = try self.rows("\(condition) ORDER BY deadline LIMIT ?", [self.now, limit])
        if let maxAge {
            let oldest = self.now &- QueueClock.milliseconds(maxAge)
            // Numbers grow with time, so that the first ones say whether there is anything to find.
            let first = "SELECT enqueued FROM request WHERE \(waiting) ORDER BY sequence LIMIT 32"
            let sql = "SELECT min(enqueued) FROM (\(first))"
            if let first = try Int64.fetchOne(self.db.cachedStatement(sql: sql)), first <= oldest {
                let known = Set(rows.map(\.id))
                rows += try self.rows("WHERE \(waiting) AND enqueued <= ? ORDER BY sequence LIMIT ?", [oldest, limit])
                    .filter { !known.contains($0.id) }
            }
        }
        for row in rows { _ = try self.drop(row, error: "it expired") }
        return rows.map(\.id)
    }

    // MARK: Finished

    /// Removes all that are finished in this way: dead or succeeded.
    func purge(_ state: RequestState, limit: Int = 10_000) throws -> Int {
        let rows = try self.remove(
            """
            sequence IN (SELECT sequence FROM request INDEXED BY requestApart WHERE \(StoreSchema.apart) AND state = ?
              ORDER BY sequence LIMIT ?)
            """,
            [state.rawValue, limit]
        )
        if state == .dead { try self.remember(rows.map(\.id), as: .dead) }
        return rows.count
    }

    /// Removes a request that is finished, for example once its response was taken.
    func purge(_ id: UUID) throws -> Bool {
        guard let row = try self.remove("id = ? AND NOT (\(StoreSchema.pending))", [id]).first else { return false }
        if row.state == .dead { try self.remember([id], as: .dead) }
        return true
    }

    /// Removes the responses that nobody took in time.
    func removeOldResponses() throws {
        _ = try self.remove("deadline IS NOT NULL AND deadline <= ? AND state = 'succeeded'", [self.now])
    }

    // MARK: Reviving

    /// Revives a request that was given up or is held.
    ///
    /// Its attempts and its age begin anew, without the time it was to expire at; its keys stay. One that was answered
    /// keeps the response, and is not sent again. One that was given up goes to the end, also of its lane.
    ///
    /// - Returns: Where it stands now; nil when it is neither dead nor held.
    func requeue(_ id: UUID) throws -> RequestState? {
        guard let row = try self.row(id), row.state == .held || row.state == .dead else { return nil }
        return try self.revive(row)
    }

    private func revive(_ row: StoredRow) throws -> RequestState {
        let isBlocked = try row.state == .dead && self.hasPredecessor(row.lane, before: .max)
        let place = row.state == .dead ? "sequence = (SELECT max(sequence) + 1 FROM request), " : ""
        let change = "\(place)retries = 0, deadline = NULL, enqueued = ?"
        try self.set(row, isBlocked ? .blocked : .ready, change, [self.now])
        return isBlocked ? .blocked : .ready
    }

    /// Lets one request go now that waits for its time, or is held, or was given up, as ``requeue(_:)`` does.
    ///
    /// - Returns: The request; nil when it is not there.
    func release(_ id: UUID, replacing headers: HeaderFields = HeaderFields()) throws -> RetryableRequest? {
        guard let record = try self.records.record(id) else { return nil }
        if !headers.fields.isEmpty { try self.replace(headers, of: record) }
        if record.state == .backoff, let row = try self.row(id) {
            try self.set(row, .ready)
        } else {
            _ = try self.requeue(id)
        }
        return try self.records.record(id)?.request
    }

    private func replace(_ headers: HeaderFields, of record: RequestRecord) throws {
        guard record.state != .running, record.state != .succeeded else {
            throw QueueError.invalidRequest(field: "state", reason: "is \(record.state.rawValue): it is too late")
        }
        var request = record.request
        let names = Set(headers.fields.map { $0.name.lowercased() })
        request.headers.fields.removeAll { names.contains($0.name.lowercased()) }
        request.headers.fields += headers.fields
        try request.validate()
        let find = "SELECT * FROM request WHERE id = ?"
        guard var stored = try StoredRequest.fetchOne(self.db, sql: find, arguments: [record.id]) else { return }
        let payload = try PreparedRequest.encode(request)
        stored.checksum ^= Checksum.of(stored.request) ^ Checksum.of(payload)
        stored.size += payload.utf8.count - stored.request.utf8.count
        stored.request = payload
        try stored.update(self.db, columns: ["checksum", "size", "request"])
    }

    /// Revives what was given up, the oldest first, and what is held because its lane stands still.
    func requeueDead(limit: Int = 1000) throws -> [UUID] {
        let apart = "INDEXED BY requestApart WHERE \(StoreSchema.apart) AND state ="
        let held = try self.rows("\(apart) 'held' AND instr(waiting, '\"laneHeld\"') ORDER BY sequence")
        let dead = try self.rows("\(apart) 'dead' ORDER BY sequence LIMIT ?", [limit])
        for row in held + dead { _ = try self.revive(row) }
        return (held + dead).map(\.id)
    }

    /// Lets requests go that are held, whatever for.
    @discardableResult
    func resumeHeld() throws -> Int {
        try self.execute(
            """
            UPDATE request INDEXED BY requestApart SET state = 'ready', waiting = NULL
            WHERE \(StoreSchema.apart) AND state = 'held'
            """
        )
    }

    // MARK: Damage

    /// Holds what is not what was taken, and counts all anew.
    func verify() throws {
        var damaged: [UUID] = []
        let rows = try StoredRequest.fetchCursor(self.db, sql: "SELECT * FROM request WHERE \(StoreSchema.pending)")
        while let stored = try rows.next() {
            if stored.state != .running, stored.intact(self.bodies) == nil { damaged.append(stored.id) }
        }
        for id in damaged { try self.hold(damaged: id) }
        try self.execute(
            """
            UPDATE total SET count = (SELECT count(*) FROM request WHERE request.state = total.state),
              bytes = (SELECT ifnull(sum(size), 0) FROM request WHERE request.state = total.state)
            """
        )
    }

    /// Holds a request that is not what was taken, and must not be sent.
    func hold(damaged id: UUID) throws {
        guard let row = try self.row(id) else { return }
        try self.set(row, .held, error: "it is not what was taken", "waiting = ?", [Self.text(of: .damaged)])
    }
}
