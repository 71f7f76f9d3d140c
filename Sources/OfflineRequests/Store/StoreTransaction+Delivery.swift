// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

extension StoreTransaction {
    /// Marks a request as being sent, which begins an attempt.
    ///
    /// - Returns: Whether it was ready.
    func markRunning(_ id: UUID) throws -> Bool {
        guard let row = try self.row(id), row.state == .ready else { return false }
        // To have a response handled is no attempt.
        let mark = "UPDATE request SET state = 3, attempts = attempts + (response IS NULL) WHERE sequence = ?"
        try self.run(mark, .number(row.sequence))
        self.move(row, to: .running)
        return true
    }

    /// Records how an attempt ended, and lets the next of its lane go where that is due.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - known: Where it stood when it was read; nil when that is not known any more.
    ///   - outcome: How it ended.
    ///   - status: The status of the answer; nil keeps the one before.
    ///   - error: What is wrong, for a person; nil keeps the one before.
    /// - Returns: What changed; nil when the request is there no more, for it was cancelled.
    /// - Throws: What the database says.
    func finish(
        _ id: UUID,
        as known: StoredRow? = nil,
        _ outcome: StoreOutcome,
        status: Int? = nil,
        error: String? = nil
    ) throws -> Finish? {
        if case .delivered(nil) = outcome, let known, try self.remove(ifStill: known) {
            return Finish(state: .succeeded, promoted: try self.promote(known.lane))
        }
        guard let row = try self.row(id) else { return nil }
        switch outcome {
        case .delivered(let response):
            if let response {
                try self.bury(row, as: .succeeded, status: status ?? response.status, error: nil, response)
            } else {
                try self.remove(row)
            }
            return Finish(state: .succeeded, promoted: try self.promote(row.lane))
        case .later(let delay, let countsAttempt):
            let due = delay.map { self.now &+ max(0, QueueClock.milliseconds($0)) }
            let counted = countsAttempt ? 1 : 0
            try self.execute(
                """
                UPDATE request SET state = ?, due = ?, retries = retries + ?, received = max(received, ?),
                  status = coalesce(?, status), error = coalesce(?, error), waiting = NULL WHERE sequence = ?
                """,
                [due == nil ? 0 : 2, due, counted, counted, status, error, row.sequence]
            )
            self.move(row, to: due == nil ? .ready : .backoff)
            return Finish(state: due == nil ? .ready : .backoff)
        case .answered(let response):
            let octets = try self.octets(of: response, for: row)
            try self.execute(
                """
                UPDATE request SET state = 0, due = NULL, response = ?, received = 1, status = ?, size = size + ?
                WHERE sequence = ?
                """,
                [octets.data, response.status, octets.growth, row.sequence]
            )
            self.move(row, to: .ready, growth: octets.growth)
            return Finish(state: .ready)
        case .unhandled(let response):
            try self.bury(row, as: .dead, status: response.status, error: error, response)
            return Finish(state: .dead, promoted: try self.promote(row.lane))
        case .held(let reason):
            try self.hold(row, reason, status: status, error: error)
            return Finish(state: .held)
        case .dead:
            return try self.giveUp(row, status: status, error: error)
        }
    }

    /// Puts requests whose time has come among those that may go.
    ///
    /// - Parameters:
    ///   - all: Whether their time has come, whatever was said of it.
    ///   - limit: How many at most; what is left is due at once.
    /// - Returns: How many there were.
    /// - Throws: What the database says.
    @discardableResult
    func promoteDue(all: Bool = false, limit: Int = 10_000) throws -> Int {
        guard self.counts.backoff > 0 else { return 0 }
        let due = try self.rows(
            """
            SELECT \(StoredRow.columns) FROM request INDEXED BY requestDue WHERE state = 2 AND due <= ?
            ORDER BY due LIMIT ?
            """,
            [all ? Int64.max : self.now, limit]
        )
        for row in due {
            try self.execute("UPDATE request SET state = 0, due = NULL WHERE sequence = ?", [row.sequence])
            self.move(row, to: .ready)
        }
        return due.count
    }

    /// How long it is until the first of those that were tried is due; nil when there is none.
    func nextDue() throws -> Duration? {
        guard self.counts.backoff > 0 else { return nil }
        let due = try self.number("SELECT min(due) FROM request INDEXED BY requestDue WHERE state = 2")
        return due.map { .milliseconds(max(0, $0 &- self.now)) }
    }

    /// Returns what another sender left when it died; a server may have received it.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func releaseRunning() throws -> Int {
        let rows = try self.rows(
            "SELECT \(StoredRow.columns) FROM request INDEXED BY requestApart WHERE state >= 3 AND state = 3"
        )
        for row in rows {
            try self.execute("UPDATE request SET state = 0, received = 1 WHERE sequence = ?", [row.sequence])
            self.move(row, to: .ready)
        }
        return rows.count
    }

    // MARK: Failures

    /// Moves a request to what is kept of finished ones.
    private func bury(
        _ row: StoredRow,
        as state: RequestState,
        status: Int?,
        error: String?,
        _ response: TransportResponse? = nil
    ) throws {
        let octets = try response.map { try self.octets(of: $0, for: row) }
        // What was given up stays until somebody has looked at it.
        let deadline = state == .dead ? nil : self.now &+ QueueClock.milliseconds(self.limits.maxResponseAge)
        try self.execute(
            """
            INSERT INTO finished SELECT sequence, id, ?, gate, priority, lane, uniqueKey, requestType, NULL, ?, enqueued,
              size + ?, retries, attempts, received, coalesce(?, status), coalesce(?, error), NULL, coalesce(?, response),
              bodyFile, ~seal, payload
            FROM request WHERE sequence = ?
            """,
            [
                StoreState.number(state), octets == nil ? nil : deadline, octets?.growth ?? 0, status, error,
                octets?.data, row.sequence,
            ]
        )
        try self.execute("DELETE FROM request WHERE sequence = ?", [row.sequence])
        self.move(row, to: state, growth: octets?.growth ?? 0)
    }

    /// A response as it is kept, and by how much that lets the row of its request grow.
    ///
    /// Where it has no room, its body is left out: that it was answered must be known whatever happens.
    private func octets(of response: TransportResponse, for row: StoredRow) throws -> (data: Data, growth: Int) {
        let present = try self.number("SELECT length(response) FROM request WHERE sequence = ?", [row.sequence]) ?? 0
        let data = RequestWriter.encode(response)
        let growth = data.count - Int(present)
        guard self.counts.bytes + growth > self.limits.maxBytes, !response.body.isEmpty else { return (data, growth) }
        return try self.octets(of: TransportResponse(status: response.status, headers: response.headers), for: row)
    }

    private func hold(_ row: StoredRow, _ reason: WaitingReason, status: Int?, error: String?) throws {
        let waiting = String(decoding: try JSONEncoder().encode(reason), as: UTF8.self)
        try self.execute(
            """
            UPDATE request SET state = 4, due = NULL, waiting = ?, status = coalesce(?, status),
              error = coalesce(?, error) WHERE sequence = ?
            """,
            [waiting, status, error, row.sequence]
        )
        self.move(row, to: .held)
    }

    /// Gives a request up, and does with its lane what it asks for.
    private func giveUp(_ row: StoredRow, status: Int?, error: String?) throws -> Finish {
        let request = try self.attempt {
            try self.records.fetch("SELECT * FROM request WHERE sequence = ?", [row.sequence]).first?.request
        }
        // Without a key for order nobody asked for a lane: one that stands still would surprise.
        let policy = request?.orderingKey == nil ? .skip : request?.onFailure ?? .skip
        switch policy {
        case .hold:
            try self.hold(row, .laneHeld, status: status, error: error)
            return Finish(state: .held)
        case .skip:
            return try self.drop(row, status: status, error: error)
        case .dropLane:
            let behind = try self.rows(
                """
                SELECT \(StoredRow.columns) FROM request INDEXED BY requestLane WHERE lane = ? AND sequence > ?
                ORDER BY sequence
                """,
                [row.lane, row.sequence]
            )
            try self.bury(row, as: .dead, status: status, error: error)
            let reason = "the request \(row.id.uuidString.lowercased()) before it in its lane was given up"
            for row in behind { try self.bury(row, as: .dead, status: nil, error: reason) }
            return Finish(state: .dead, dropped: behind.map(\.id))
        }
    }

    /// Gives a request up, and lets its lane go on.
    func drop(_ row: StoredRow, status: Int? = nil, error: String?) throws -> Finish {
        try self.bury(row, as: .dead, status: status, error: error)
        return Finish(state: .dead, promoted: try self.promote(row.lane))
    }
}
