// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// What people and applications do with requests, and what time does.
extension StoreTransaction {
    /// Cancels a request, whatever its state, and returns that; nil when it is not there.
    func cancel(_ id: UUID) throws -> RequestState? { try self.end("id = ?", [id]).first?.state }

    /// Cancels all requests that are not finished, or those of a type or of a lane: so many of the newest.
    func cancel(type: String? = nil, lane: String? = nil, limit: Int = .max) throws -> [UUID] {
        let (condition, arguments): (String, [String]) =
            if let type {
                ("requestType = ? AND ", [type])
            } else if let lane {
                ("lane = ? AND ", ["o\(lane)"])
            } else {
                ("", [])
            }
        return try self.end(newest: limit, condition + StoreSchema.pending, arguments).map(\.id)
    }

    /// Removes so many of the newest, whatever their state.
    func reset(limit: Int = .max) throws -> [StoredRow] { try self.end(newest: limit, "TRUE") }

    private func end(newest limit: Int, _ condition: String, _ arguments: [String] = []) throws -> [StoredRow] {
        let newest = "SELECT sequence FROM request WHERE \(condition) ORDER BY sequence DESC LIMIT \(limit)"
        return try self.end("sequence IN (\(newest))", StatementArguments(arguments))
    }

    /// What can become too old: not what is being sent, nor what holds its lane because it was given up.
    private static let aging = """
        \(StoreSchema.pending) AND state != 'running' AND NOT (state = 'held' AND instr(waiting, '"laneHeld"'))
        """

    /// What became of requests that were given up, and whether these were all.
    typealias Expired = (requests: [(id: UUID, finish: Finish)], isAll: Bool)

    /// How many requests one transaction changes at most because their time has come.
    static let step = 1_000

    /// Gives up so many of those that are of no use any more; lanes go by what that asks for.
    func giveUpLate(limit: Int = StoreTransaction.step) throws -> Expired {
        let late = "INDEXED BY requestDeadline WHERE deadline IS NOT NULL AND deadline <= ?"
        return try self.giveUp("\(late) AND \(Self.aging) ORDER BY deadline", [self.now], limit: limit)
    }

    /// The same for what is too old.
    func giveUpOld(maxAge: Duration, limit: Int = StoreTransaction.step) throws -> Expired {
        let oldest = self.now &- maxAge.inMilliseconds
        return try self.giveUp("WHERE \(Self.aging) AND enqueued <= ? ORDER BY sequence", [oldest], limit: limit)
    }

    /// The same for what has a unique key and is one or the other.
    func giveUpExpired(uniqueKey: String, maxAge: Duration) throws -> Expired {
        let sql = "INDEXED BY requestUnique WHERE uniqueKey = ? AND (deadline <= ? OR enqueued <= ?) AND \(Self.aging)"
        return try self.giveUp(sql, [uniqueKey, self.now, self.now &- maxAge.inMilliseconds])
    }

    private func giveUp(
        _ condition: String,
        _ arguments: StatementArguments,
        limit: Int = StoreTransaction.step
    ) throws -> Expired {
        let rows = try self.rows("\(condition) LIMIT \(limit)", arguments)
        // One may be given up with another that was before it in its lane.
        var seen: Set<UUID> = []
        let requests = try rows.compactMap { row -> (id: UUID, finish: Finish)? in
            guard seen.insert(row.id).inserted else { return nil }
            let finish = try self.giveUp(row, self.policy(of: row), error: "it expired")
            seen.formUnion(finish.dropped)
            return (row.id, finish)
        }
        return (requests, rows.count < limit)
    }

    /// How long it is until a request or a response is of no use any more; nil when none ever is.
    func nextDeadline() throws -> Duration? {
        let first = """
            SELECT deadline FROM request INDEXED BY requestDeadline
            WHERE deadline IS NOT NULL AND (state = 'succeeded' OR \(Self.aging)) ORDER BY deadline LIMIT 1
            """
        let deadline = try Int64.fetchOne(self.db.cachedStatement(sql: first))
        return deadline.map { .milliseconds(max(0, $0 &- self.now)) }
    }

    /// How long it is until a request becomes too old; nil when there is none.
    ///
    /// Looks through all of them.
    func nextAge(maxAge: Duration) throws -> Duration? {
        func rest(_ condition: String) throws -> Duration? {
            let first = "SELECT min(enqueued) FROM request \(condition)"
            let enqueued = try Int64?.fetchOne(self.db.cachedStatement(sql: first)) ?? nil
            return enqueued.map { .milliseconds(max(0, $0 &+ maxAge.inMilliseconds &- self.now)) }
        }
        // One that is being sent is not given up, but may have to wait again.
        let running = try rest("INDEXED BY requestApart WHERE state = 'running'").map { max($0, Self.runningLook) }
        return try [rest("WHERE \(Self.aging)"), running].compactMap(\.self).min()
    }

    /// The shortest time until the next look where only what is being sent is too old.
    private static let runningLook: Duration = .seconds(60)

    // MARK: Finished

    /// Removes all that are finished in this way: dead or succeeded.
    func purge(_ state: RequestState) throws -> Int {
        let apart = "SELECT sequence FROM request INDEXED BY requestApart WHERE state = '\(state.rawValue)'"
        return try self.end("sequence IN (\(apart))").count
    }

    func purge(_ id: UUID) throws -> Bool { try !self.end("id = ? AND NOT (\(StoreSchema.pending))", [id]).isEmpty }

    /// Removes the responses that no process took in time, and what ended long ago.
    func removeOldResponses() throws {
        _ = try self.end("deadline IS NOT NULL AND deadline <= ? AND state = 'succeeded'", [self.now])
        let oldest = self.now &- Self.tombstoneAge.inMilliseconds
        try self.execute("DELETE FROM ended WHERE time <= ?", [oldest])
    }

    // MARK: Reviving

    /// Revives a request that was given up or is held, and returns where it stands now; nil for any other.
    ///
    /// Its attempts and its age begin anew, without the time it was to expire at; its keys stay. One that was answered
    /// keeps the response, and is not sent again. One that was given up goes to the end, also of its lane.
    func requeue(_ id: UUID) throws -> RequestState? {
        guard let row = try self.row(id), row.state == .held || row.state == .dead else { return nil }
        return try self.revive(row)
    }

    private func revive(_ row: StoredRow) throws -> RequestState {
        // One that expired behind others is held there.
        let isBlocked = try self.hasPredecessor(row.lane, before: row.state == .dead ? .max : row.sequence)
        let place = row.state == .dead ? "sequence = (SELECT max(sequence) + 1 FROM request), " : ""
        let change = "\(place)retries = 0, deadline = NULL, enqueued = ?"
        try self.set(row, isBlocked ? .blocked : .ready, change, [self.now])
        return isBlocked ? .blocked : .ready
    }

    /// Lets a request go now that waits for its time, is held or was given up; returns it, nil when it is not there.
    func release(_ id: UUID, replacing headers: HeaderFields = HeaderFields()) throws -> RetryableRequest? {
        guard let record = try self.records.record(id) else { return nil }
        if !headers.fields.isEmpty { try self.replace(headers, of: record) }
        if record.waiting == .expired, let row = try self.row(id) {
            _ = try self.revive(row)
        } else if record.state == .backoff, let row = try self.row(id) {
            try self.set(row, .ready)
        } else {
            _ = try self.requeue(id)
        }
        return record.request
    }

    private func replace(_ headers: HeaderFields, of record: RequestRecord) throws {
        guard record.state != .running, record.state != .succeeded else {
            let reason = "can no longer be changed: it is \(record.state.rawValue)"
            throw QueueError.invalidRequest(field: "header", reason: reason)
        }
        var request = record.request
        let names = Set(headers.fields.map { $0.name.lowercased() })
        request.headers.fields.removeAll { names.contains($0.name.lowercased()) }
        request.headers.fields += headers.fields
        try request.validate()
        let find = "SELECT * FROM request WHERE id = ?"
        guard let old = try StoredRequest.fetchOne(self.db, sql: find, arguments: [record.id]) else { return }
        let text = request.text
        let checksum = old.checksum ^ Checksum.of(old.request) ^ Checksum.of(text)
        let size = old.size + text.utf8.count - old.request.utf8.count
        let change = "UPDATE request SET checksum = ?, size = ?, request = ? WHERE id = ?"
        try self.execute(change, [checksum, size, text, record.id])
    }

    /// Revives what was given up, the oldest first, and what is held because its lane stands still.
    func requeueDead() throws -> [UUID] {
        let apart = "INDEXED BY requestApart WHERE state ="
        let rows =
            try self.rows("\(apart) 'held' AND instr(waiting, '\"laneHeld\"') ORDER BY sequence")
            + self.rows("\(apart) 'dead' ORDER BY sequence")
        for row in rows { _ = try self.revive(row) }
        return rows.map(\.id)
    }

    /// Lets requests go that are held, whatever for; their attempts begin anew, and the age of those that were given up.
    @discardableResult
    func resumeHeld() throws -> Int {
        try self.execute(
            """
            UPDATE request INDEXED BY requestApart SET waiting = NULL, retries = 0,
              enqueued = CASE WHEN instr(waiting, '"laneHeld"') THEN ? ELSE enqueued END,
              state = CASE WHEN lane IS NOT NULL AND EXISTS
              (SELECT 1 FROM request AS other WHERE other.lane = request.lane AND other.sequence < request.sequence
               AND other.state NOT IN ('dead', 'succeeded')) THEN 'blocked' ELSE 'ready' END
            WHERE state = 'held'
            """,
            [self.now]
        )
    }

    // MARK: Damage

    /// Holds those that turned out not to be what was taken; returns how many.
    func verify(damaged: [UUID]) throws -> Int {
        // What ended meanwhile has no body any more.
        try damaged.count { id in
            guard let row = try self.row(id), row.state != .running, !row.state.isFinal else { return false }
            try self.hold(row, .damaged, error: RequestRecord.damage)
            return true
        }
    }
}
