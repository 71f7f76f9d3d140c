// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

extension StoreTransaction {
    /// Revives a request that was given up or is held.
    ///
    /// Its attempts and its age begin anew, without the time it was to expire at; its keys stay. One that was answered keeps the response, and is not sent
    /// again.
    ///
    /// One that was given up goes to the end, also of its lane.
    ///
    /// - Returns: Where it stands now; nil when it is neither dead nor held.
    func requeue(_ id: UUID) throws -> RequestState? {
        if let row = try self.row(id) {
            guard row.state == .held else { return nil }
            try self.resume(row, attemptsAnew: true)
            return .ready
        }
        guard let row = try self.row(id, in: "finished"), row.state == .dead else { return nil }
        return try self.revive(row)
    }

    /// Lets one request go now that waits for its time, or is held, or was given up, as ``requeue(_:)`` does.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - headers: What takes the place of its headers of the same names.
    /// - Returns: The request; nil when it is not there.
    /// - Throws: ``QueueError``, before anything is changed, when the headers cannot be sent; what the database says.
    func release(_ id: UUID, replacing headers: HeaderFields = HeaderFields()) throws -> RetryableRequest? {
        let changed = try self.request(id, replacing: headers)
        if let row = try self.row(id), row.state == .backoff {
            try self.execute("UPDATE request SET state = 0, due = NULL WHERE sequence = ?", [row.sequence])
            self.move(row, to: .ready)
        } else {
            _ = try self.requeue(id)
        }
        if let changed, let row = try self.row(id) { try self.rewrite(row, as: changed) }
        return try self.attempt { try self.records.record(id)?.request }
    }

    /// A request with other headers; nil when there are none to replace.
    private func request(_ id: UUID, replacing headers: HeaderFields) throws -> RetryableRequest? {
        guard !headers.fields.isEmpty, let record = try self.attempt({ try self.records.record(id) }) else {
            return nil
        }
        guard record.state != .running, record.state != .succeeded else {
            throw QueueError.invalidRequest(field: "state", reason: "is \(record.state.rawValue): it is too late")
        }
        var request = record.request
        let names = Set(headers.fields.map { $0.name.lowercased() })
        request.headers.fields.removeAll { names.contains($0.name.lowercased()) }
        request.headers.fields += headers.fields
        try request.validate()
        return request
    }

    /// Puts a request in the place of one that differs from it in its headers.
    private func rewrite(_ row: StoredRow, as request: RetryableRequest) throws {
        let old = try self.number("SELECT length(payload) FROM request WHERE sequence = ?", [row.sequence]) ?? 0
        let payload = RequestWriter.encode(request, bodyFile: row.bodyFile)
        let added = payload.count - Int(old)
        try self.execute(
            "UPDATE request SET payload = ?, seal = ?, size = size + ? WHERE sequence = ?",
            [payload, Checksum.of(payload), added, row.sequence]
        )
        self.move(row, to: row.state, growth: added)
    }

    /// Tells the process that sends that somebody does not want to wait: for a host, or with nil for any.
    func force(host: String?) {
        self.tally.forces += 1
        self.tally.forced = host
    }

    /// Revives what was given up, the oldest first, and what is held because its lane stands still.
    ///
    /// - Parameter limit: How many of those that were given up at most.
    /// - Returns: Those that were revived.
    /// - Throws: What the database says.
    func requeueDead(limit: Int = 1000) throws -> [UUID] {
        let held = try self.held(for: .laneHeld)
        for row in held { try self.resume(row, attemptsAnew: true) }
        let dead = try self.rows(
            "SELECT \(StoredRow.columns) FROM finished WHERE state = 5 ORDER BY sequence LIMIT ?",
            [limit]
        )
        for row in dead { _ = try self.revive(row) }
        return held.map(\.id) + dead.map(\.id)
    }

    /// Removes all that are finished in this way: dead or succeeded.
    ///
    /// - Returns: How many there were.
    func purge(_ state: RequestState, limit: Int = 10_000) throws -> Int {
        let rows = try self.rows(
            "SELECT \(StoredRow.columns) FROM finished WHERE state = ? ORDER BY sequence LIMIT ?",
            [StoreState.number(state), limit]
        )
        for row in rows { try self.remove(row) }
        if state == .dead { try self.remember(rows.map(\.id), as: .dead) }
        return rows.count
    }

    /// Removes a request that is finished, for example once its response was taken.
    ///
    /// - Returns: Whether it was there.
    func purge(_ id: UUID) throws -> Bool {
        guard let row = try self.row(id, in: "finished") else { return false }
        try self.remove(row)
        if row.state == .dead { try self.remember([id], as: .dead) }
        return true
    }

    /// Removes the responses that nobody took in time.
    ///
    /// - Parameter limit: How many at most.
    /// - Throws: What the database says.
    func removeOldResponses(limit: Int = 1000) throws {
        guard self.counts.succeeded > 0 else { return }
        let rows = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM finished INDEXED BY finishedDeadline
            WHERE deadline IS NOT NULL AND deadline <= ? ORDER BY deadline LIMIT ?
            """,
            [self.now, limit]
        )
        for row in rows { try self.remove(row) }
    }

    /// Lets requests go that are held, for a reason or with nil for any.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func resumeHeld(for reason: WaitingReason? = nil) throws -> Int {
        let rows = try self.held(for: reason)
        for row in rows { try self.resume(row, attemptsAnew: false) }
        return rows.count
    }

    private func held(for reason: WaitingReason?) throws -> [StoredRow] {
        guard self.counts.held > 0 else { return [] }
        let rows = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM request INDEXED BY requestApart WHERE state >= 3 AND state = 4
            ORDER BY sequence
            """
        )
        guard let reason else { return rows }
        return try rows.filter { row in
            try self.attempt { try self.records.record(row.id)?.waiting == reason }
        }
    }

    private func resume(_ row: StoredRow, attemptsAnew: Bool) throws {
        try self.execute("UPDATE request SET state = 0, waiting = NULL WHERE sequence = ?", [row.sequence])
        if attemptsAnew {
            try self.execute(
                "UPDATE request SET retries = 0, enqueued = ?, deadline = NULL WHERE sequence = ?",
                [self.now, row.sequence]
            )
        }
        self.move(row, to: .ready)
    }

    private func revive(_ row: StoredRow) throws -> RequestState {
        let sequence = self.tally.sequence + 1
        let state: RequestState = try self.hasPredecessor(row.lane, before: sequence) ? .blocked : .ready
        try self.execute(
            """
            INSERT INTO request SELECT ?, id, ?, gate, priority, lane, uniqueKey, requestType, NULL, NULL, ?,
              size, 0, attempts, received, status, error, NULL, response, bodyFile, ~seal, payload
            FROM finished WHERE sequence = ?
            """,
            [sequence, StoreState.number(state), self.now, row.sequence]
        )
        try self.execute("DELETE FROM finished WHERE sequence = ?", [row.sequence])
        self.tally.sequence = sequence
        self.move(row, to: state)
        return state
    }
}
