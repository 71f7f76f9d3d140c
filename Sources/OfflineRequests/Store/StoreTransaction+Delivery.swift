// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP

/// What may go, and how it ends.
extension StoreTransaction {
    /// The gates that have requests which may go, each with the first of them.
    ///
    /// One look into the index for each, however many requests wait.
    func gates(limit: Int = .max) throws -> [StoreGate] {
        let sql = """
            SELECT gate AS id, priority, sequence AS first FROM request INDEXED BY requestReady
            WHERE state = 'ready' AND gate > ? ORDER BY gate, attempts, priority DESC, sequence LIMIT 1
            """
        var gates: [StoreGate] = []
        let statement = try self.db.cachedStatement(sql: sql)
        while gates.count < limit, let next = try StoreGate.fetchOne(statement, arguments: [gates.last?.id ?? ""]) {
            // What is no text sorts behind all texts, and would come again and again.
            if next.id == gates.last?.id { throw StoreDamage(message: "a gate is no text") }
            gates.append(next)
        }
        return gates
    }

    /// Makes sure that no request is ready behind a gate that is not found; such a file has to be made anew.
    func checkGates() throws {
        guard try self.counts.ready > 0 else { return }
        throw StoreDamage(message: "requests are ready, and none is found")
    }

    /// Some of the gates of what is ready, or waits for its time: of that only so many requests are looked at.
    func waitingGates(limit: Int) throws -> Set<Gate> {
        let sql = "SELECT gate FROM request INDEXED BY requestDue WHERE state = 'backoff' ORDER BY due LIMIT ?"
        let tried = try String.fetchAll(self.db.cachedStatement(sql: sql), arguments: [limit])
        return Set(tried.compactMap { Gate(text: $0) } + (try self.gates(limit: limit)).map(\.gate))
    }

    /// The requests that may go through a gate, in the order they are to go: those first that were tried least.
    ///
    /// Whether they are what was taken has to be looked at before they go, and not within the transaction.
    func ready(
        gate: StoreGate.ID,
        limit: Int,
        order: DeliveryMachine.Order = .oldest,
        except isKnown: (UUID) -> Bool = { _ in false }
    ) throws -> [ReadyRequest] {
        let gates = "INDEXED BY requestReady WHERE state = 'ready' AND gate = ?"
        let oldest = "ORDER BY attempts, priority DESC"
        // One look into the index, whose order is that of `oldest`, and another for what it says.
        let other: String? =
            switch order {
            case .oldest: nil
            case .newest:
                "(attempts, priority) = (SELECT attempts, priority FROM request \(gates) \(oldest) LIMIT 1) "
                    + "ORDER BY sequence DESC"
            case .mostTried:
                "attempts = (SELECT max(attempts) FROM request \(gates) AND attempts > 0) ORDER BY priority DESC, sequence"
            }
        let first = try other.map { condition in
            try self.ready("\(gates) AND \(condition)", [gate, gate], limit: min(limit, 1), except: isKnown)
        }
        let ids = first?.map(\.id) ?? []
        let rest = try self.ready("\(gates) \(oldest), sequence", [gate], limit: limit - ids.count) { id in
            ids.contains(id) || isKnown(id)
        }
        return (first ?? []) + rest
    }

    func ready(_ id: UUID) throws -> ReadyRequest? {
        try self.ready("WHERE id = ? AND state = 'ready'", [id], limit: 1) { _ in false }.first
    }

    private func ready(
        _ condition: String,
        _ arguments: StatementArguments,
        limit: Int,
        except isKnown: (UUID) -> Bool
    ) throws -> [ReadyRequest] {
        var requests: [ReadyRequest] = []
        let select = try self.db.cachedStatement(sql: "SELECT * FROM request \(condition)")
        let rows = try Row.fetchCursor(select, arguments: arguments)
        while requests.count < limit, let row = try rows.next() {
            if let id = UUID.fromDatabaseValue(row["id"]), isKnown(id) { continue }
            let stored = try StoredRequest(row: row)
            let record = stored.record(self.bodies, self.status, at: self.stamp)
            requests.append(ReadyRequest(record: record, row: stored))
        }
        return requests
    }

    /// Marks a request as being sent, which begins an attempt.
    func markRunning(_ id: UUID) throws -> Bool {
        // To have a response handled is no attempt.
        let sql = """
            UPDATE request SET state = 'running', attempts = attempts + (answer IS NULL) WHERE id = ? AND state = 'ready'
            """
        return try self.execute(sql, [id]) == 1
    }

    /// Records how an attempt ended, lets the next of its lane go where that is due, and returns what changed; nil when
    /// the request was cancelled.
    ///
    /// A response is kept: of a delivered request, or where no handler took it. With ``Disposition/waitForPath`` that
    /// is to be handled as soon as may be, and not sent again.
    func finish(
        _ id: UUID,
        _ disposition: Disposition,
        status: Int? = nil,
        error: String? = nil,
        response: TransportResponse? = nil
    ) throws -> Finish? {
        if disposition == .succeeded, response == nil {
            guard let row = try self.remove("id = ? AND \(StoreSchema.pending)", [id]).first else { return nil }
            try self.remember([id], as: .succeeded, status: status)
            try self.promote(row.lane)
            return Finish(state: .succeeded)
        }
        guard let row = try self.row(id), !row.state.isFinal else { return nil }
        if let response { try self.keep(response, of: row) }
        // What only explains that an attempt failed takes no room from the ends.
        let explanation = self.leavesOutAnswers ? nil : error
        switch disposition {
        case .succeeded:
            let deadline = self.now &+ self.settings.maxResponseAge.inMilliseconds
            try self.set(row, .succeeded, status: status ?? response?.status, "deadline = ?", [deadline])
            try self.remember([id], as: .succeeded, status: status ?? response?.status)
            try self.promote(row.lane)
            return Finish(state: .succeeded)
        case .retry(let delay, let countsAttempt):
            let due = self.now &+ max(0, delay.inMilliseconds)
            let change = "due = ?, retries = retries + ?, received = max(received, ?)"
            try self.set(
                row,
                .backoff,
                status: status,
                error: explanation,
                change,
                [due, countsAttempt, countsAttempt]
            )
            return Finish(state: .backoff)
        case .waitForPath:
            try self.set(
                row,
                .ready,
                status: status,
                error: explanation,
                "received = max(received, ?)",
                [response != nil]
            )
            return Finish(state: .ready)
        case .hold(let reason):
            try self.hold(row, reason, status: status, error: error)
            return Finish(state: .held)
        case .dead(let reason):
            let policy = response == nil ? try self.policy(of: row) : .skip
            return try self.giveUp(row, policy, status: status, error: reason)
        }
    }

    /// Puts requests whose time has come, or need not be waited for, among those that may go; returns how many.
    @discardableResult
    func promoteDue(_ promotion: DeliveryMachine.Promotion = .due, limit: Int = 10_000) throws -> Int {
        // All but those of servers that ask for patience.
        let unasked = promotion == .restored ? "OR status IS NULL OR status NOT IN (429, 503)" : ""
        let sql = """
            UPDATE request SET state = 'ready', due = NULL WHERE sequence IN
              (SELECT sequence FROM request INDEXED BY requestDue WHERE state = 'backoff' AND (due <= ? \(unasked))
               ORDER BY due LIMIT ?)
            """
        return try self.execute(sql, [promotion == .all ? Int64.max : self.now, limit])
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
        let change = "UPDATE request INDEXED BY requestApart SET state = 'ready', received = 1 WHERE state = 'running'"
        return try self.execute(change)
    }

    // MARK: Ends

    func set(
        _ row: StoredRow,
        _ state: RequestState,
        status: Int? = nil,
        error: String? = nil,
        _ change: String = "attempts = attempts",
        _ arguments: StatementArguments = []
    ) throws {
        // What is set twice has the value that comes last (https://sqlite.org/lang_update.html).
        let sql = """
            UPDATE request SET due = NULL, waiting = NULL, \(change), state = ?, status = coalesce(?, status),
              error = coalesce(?, error) WHERE sequence = ?
            """
        try self.execute(sql, arguments + [state.rawValue, status, error, row.sequence])
    }

    func hold(_ row: StoredRow, _ reason: WaitingReason, status: Int? = nil, error: String?) throws {
        try self.set(row, .held, status: status, error: error, "waiting = ?", [JSON.text(of: reason)])
    }

    /// A longer head is left out with the body: the one that a server may send is six times as long in the file.
    private static let longHead = 4 << 10

    /// Keeps a response with its request.
    ///
    /// Where it has no room, its body is left out, and long headers: that it was answered must be known whatever happens.
    private func keep(_ response: TransportResponse, of row: StoredRow) throws {
        var answer = StoredRequest.Answer(status: response.status, headers: response.headers)
        if response.isCut { answer.isCut = true }
        var (head, body) = (try JSON.text(of: answer), Data(response.body))
        let isTooLong = try self.counts.bytes + head.utf8.count + body.count > self.settings.maxBytes
        let isHeadTooLong = self.leavesOutAnswers && head.utf8.count > Self.longHead
        // Without room for it on the disk, what is written of it would be that of the ends.
        if isHeadTooLong || !body.isEmpty && (isTooLong || self.leavesOutAnswers || self.lacksRoom != nil) {
            answer.isCut = true
            if isHeadTooLong { answer.headers = HeaderFields() }
            (head, body) = (try JSON.text(of: answer), Data())
        }
        try self.execute(
            """
            UPDATE request SET size = size + ? - ifnull(length(CAST(answer AS BLOB)) + length(answerBody), 0),
              answer = ?, answerBody = ? WHERE sequence = ?
            """,
            [head.utf8.count + body.count, head, body, row.sequence]
        )
    }

    /// What a request that is given up wants to become of its lane.
    func policy(of row: StoredRow) throws -> LanePolicy {
        // Without a key for order no caller asked for a lane: one that stands still would surprise.
        guard let request = try self.records.record(row.id)?.request, request.orderingKey != nil else { return .skip }
        return request.onFailure
    }

    /// Gives a request up, and does with its lane what it asks for; it stays until it is revived or removed.
    @discardableResult
    func giveUp(_ row: StoredRow, _ policy: LanePolicy, status: Int? = nil, error: String) throws -> Finish {
        if policy == .hold {
            let reason = try JSON.text(of: WaitingReason.laneHeld)
            try self.set(row, .held, status: status, error: error, "deadline = NULL, waiting = ?", [reason])
            return Finish(state: .held)
        }
        try self.set(row, .dead, status: status, error: error, "deadline = NULL")
        guard policy == .dropLane else {
            try self.promote(row.lane)
            return Finish(state: .dead)
        }
        let condition = "INDEXED BY requestLane WHERE lane = ? AND \(StoreSchema.pending) AND sequence > ?"
        let behind = try self.rows("\(condition) ORDER BY sequence", [row.lane, row.sequence])
        let reason = "the request \(row.id.text) before it in its lane was given up"
        for row in behind { try self.set(row, .dead, error: reason, "deadline = NULL") }
        return Finish(state: .dead, dropped: behind.map(\.id))
    }
}
