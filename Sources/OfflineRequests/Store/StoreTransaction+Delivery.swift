// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// What may go, and how it ends.
extension StoreTransaction {
    private struct Head: Codable, FetchableRecord {
        var gate: String
        var priority: RequestPriority
        var sequence: Int64
    }

    /// The gates that have requests which may go, each with the first of them.
    ///
    /// One look into the index for each, however many requests wait.
    func gates() throws -> [StoreGate] {
        let sql = """
            SELECT gate, priority, sequence FROM request INDEXED BY requestReady WHERE state = 'ready' AND gate > ?
            ORDER BY gate, priority DESC, sequence LIMIT 1
            """
        var gates: [StoreGate] = []
        var last = ""
        while let head = try Head.fetchOne(self.db.cachedStatement(sql: sql), arguments: [last]) {
            last = head.gate
            let gate = Gate(text: head.gate) ?? Gate(host: head.gate)
            gates.append(StoreGate(id: head.gate, gate: gate, priority: head.priority, first: head.sequence))
        }
        return gates
    }

    /// The requests that may go through a gate, in the order they are to go.
    ///
    /// One that is not what was taken is held, and must not go.
    func ready(
        gate: StoreGate.ID,
        limit: Int,
        octets: Int = .max,
        except isKnown: (UUID) -> Bool = { _ in false }
    ) throws -> [ReadyRequest] {
        var (requests, damaged, room) = ([ReadyRequest](), [UUID](), octets)
        guard limit > 0, room > 0 else { return [] }
        let sql = """
            SELECT * FROM request INDEXED BY requestReady WHERE state = 'ready' AND gate = ?
            ORDER BY priority DESC, sequence
            """
        let rows = try Row.fetchCursor(self.db.cachedStatement(sql: sql), arguments: [gate])
        while requests.count < limit, room > 0, let row = try rows.next() {
            if let id = UUID.fromDatabaseValue(row["id"]), isKnown(id) { continue }
            let stored = try StoredRequest(row: row)
            guard let record = self.intact(stored) else {
                damaged.append(stored.id)
                continue
            }
            let size = stored.request.utf8.count + (stored.body?.count ?? 0)
            requests.append(ReadyRequest(record: record, octets: size))
            room -= size
        }
        for id in damaged { try self.hold(damaged: id) }
        return requests
    }

    /// A request, if it may go; one that is not what was taken is held, and must not.
    func ready(_ id: UUID) throws -> RequestRecord? {
        let sql = "SELECT * FROM request WHERE id = ? AND state = 'ready'"
        guard let stored = try StoredRequest.fetchOne(self.db.cachedStatement(sql: sql), arguments: [id]) else {
            return nil
        }
        if let record = self.intact(stored) { return record }
        try self.hold(damaged: id)
        return nil
    }

    private func intact(_ stored: StoredRequest) -> RequestRecord? {
        stored.intact(self.bodies).map { stored.record(of: $0, self.status.clock, at: self.stamp) }
    }

    /// Marks a request as being sent, which begins an attempt.
    func markRunning(_ id: UUID) throws -> Bool {
        // To have a response handled is no attempt.
        let sql = """
            UPDATE request SET state = 'running', attempts = attempts + (answer IS NULL) WHERE id = ? AND state = 'ready'
            """
        return try self.execute(sql, [id]) == 1
    }

    /// Records how an attempt ended, and lets the next of its lane go where that is due.
    ///
    /// - Returns: What changed; nil when the request is there no more, for it was cancelled.
    func finish(
        _ id: UUID,
        _ outcome: StoreOutcome,
        status: Int? = nil,
        error: String? = nil
    ) throws -> Finish? {
        if case .delivered(nil) = outcome {
            guard let row = try self.remove("id = ? AND \(StoreSchema.pending)", [id]).first else { return nil }
            return Finish(state: .succeeded, promoted: try self.promote(row.lane))
        }
        guard let row = try self.row(id), !row.state.isFinal else { return nil }
        switch outcome {
        case .delivered(let response):
            try self.keep(response, of: row)
            let deadline = self.now &+ QueueClock.milliseconds(self.limits.maxResponseAge)
            try self.set(row, .succeeded, status: status ?? response?.status, "deadline = ?", [deadline])
            return Finish(state: .succeeded, promoted: try self.promote(row.lane))
        case .later(let delay, let countsAttempt):
            let due = delay.map { self.now &+ max(0, QueueClock.milliseconds($0)) }
            let state: RequestState = due == nil ? .ready : .backoff
            let change = "due = ?, retries = retries + ?, received = max(received, ?)"
            try self.set(row, state, status: status, error: error, change, [due, countsAttempt, countsAttempt])
            return Finish(state: state)
        case .answered(let response):
            try self.keep(response, of: row)
            try self.set(row, .ready, status: response.status, "received = 1")
            return Finish(state: .ready)
        case .unhandled(let response):
            try self.keep(response, of: row)
            return try self.drop(row, status: response.status, error: error)
        case .held(let reason):
            try self.set(row, .held, status: status, error: error, "waiting = ?", [Self.text(of: reason)])
            return Finish(state: .held)
        case .dead: return try self.giveUp(row, status: status, error: error)
        }
    }

    /// Puts requests whose time has come among those that may go.
    @discardableResult
    func promoteDue(all: Bool = false, limit: Int = 10_000) throws -> Int {
        try self.promote(where: "due <= ?", [all ? Int64.max : self.now], limit: limit)
    }

    /// The same, because the path is back: all but those of servers that ask for patience.
    func promoteUnasked(limit: Int) throws -> Int {
        let condition = "(due <= ? OR status IS NULL OR status NOT IN (429, 503))"
        return try self.promote(where: condition, [self.now], limit: limit)
    }

    private func promote(where condition: String, _ arguments: StatementArguments, limit: Int) throws -> Int {
        let sql = """
            UPDATE request SET state = 'ready', due = NULL WHERE sequence IN
              (SELECT sequence FROM request INDEXED BY requestDue WHERE state = 'backoff' AND \(condition)
               ORDER BY due LIMIT ?)
            """
        return try self.execute(sql, arguments + [limit])
    }

    /// How long it is until the first of those that were tried is due; nil when there is none.
    func nextDue() throws -> Duration? {
        let sql = "SELECT min(due) FROM request INDEXED BY requestDue WHERE state = 'backoff'"
        let due = try Int64.fetchOne(self.db.cachedStatement(sql: sql))
        return due.map { .milliseconds(max(0, $0 &- self.now)) }
    }

    /// Returns what another sender left when it died; a server may have received it.
    @discardableResult
    func releaseRunning() throws -> Int {
        try self.execute(
            """
            UPDATE request INDEXED BY requestApart SET state = 'ready', received = 1
            WHERE \(StoreSchema.apart) AND state = 'running'
            """
        )
    }

    // MARK: Ends

    /// Changes where a request stands, and whatever else.
    func set(
        _ row: StoredRow,
        _ state: RequestState,
        status: Int? = nil,
        error: String? = nil,
        _ change: String = "attempts = attempts",
        _ arguments: StatementArguments = []
    ) throws {
        // What is set twice has the value that comes first.
        let forgotten = ["due", "waiting"].filter { !change.contains("\($0) = ") }.map { "\($0) = NULL, " }.joined()
        let sql = """
            UPDATE request SET \(change), \(forgotten)state = ?, status = coalesce(?, status), error = coalesce(?, error)
            WHERE sequence = ?
            """
        try self.execute(sql, arguments + [state.rawValue, status, error, row.sequence])
    }

    static func text(of reason: WaitingReason) throws -> String {
        String(decoding: try JSONEncoder().encode(reason), as: UTF8.self)
    }

    /// Keeps a response with its request.
    ///
    /// Where it has no room, its body is left out: that it was answered must be known whatever happens.
    private func keep(_ response: TransportResponse?, of row: StoredRow) throws {
        guard let response else { return }
        let answer = StoredRequest.Answer(status: response.status, headers: response.headers)
        let head = String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)
        let fits = self.counts.bytes + head.utf8.count + response.body.count <= self.limits.maxBytes
        let body = fits ? Data(response.body) : Data()
        try self.execute(
            """
            UPDATE request SET size = size + ? - ifnull(length(CAST(answer AS BLOB)) + length(answerBody), 0),
              answer = ?, answerBody = ? WHERE sequence = ?
            """,
            [head.utf8.count + body.count, head, body, row.sequence]
        )
    }

    /// Gives a request up, and does with its lane what it asks for.
    private func giveUp(_ row: StoredRow, status: Int?, error: String?) throws -> Finish {
        // Without a key for order nobody asked for a lane: one that stands still would surprise.
        let request = try self.records.record(row.id)?.request
        switch request?.orderingKey == nil ? .skip : request?.onFailure ?? .skip {
        case .hold:
            try self.set(row, .held, status: status, error: error, "waiting = ?", [Self.text(of: .laneHeld)])
            return Finish(state: .held)
        case .skip: return try self.drop(row, status: status, error: error)
        case .dropLane:
            let condition = "INDEXED BY requestLane WHERE lane = ? AND \(StoreSchema.pending) AND sequence > ?"
            let behind = try self.rows("\(condition) ORDER BY sequence", [row.lane, row.sequence])
            try self.set(row, .dead, status: status, error: error, "deadline = NULL")
            let reason = "the request \(row.id.uuidString.lowercased()) before it in its lane was given up"
            for row in behind { try self.set(row, .dead, error: reason, "deadline = NULL") }
            return Finish(state: .dead, dropped: behind.map(\.id))
        }
    }

    /// Gives a request up, and lets its lane go on; it stays until somebody has looked at it.
    func drop(_ row: StoredRow, status: Int? = nil, error: String?) throws -> Finish {
        try self.set(row, .dead, status: status, error: error, "deadline = NULL")
        return Finish(state: .dead, promoted: try self.promote(row.lane))
    }
}
