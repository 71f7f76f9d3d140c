// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Everything that changes the queue; one transaction of the database, in which all happens or nothing.
///
/// A method that throws a ``QueueError`` has changed nothing, and the transaction may go on. After any other error
/// nothing of the transaction will remain, whatever is done then.
final class StoreTransaction {
    let db: Database
    /// What the clocks showed when it began.
    let stamp: ClockStamp
    /// The time of the queue's own clock.
    let now: Int64
    let limits: QueueLimits
    let bodies: BodyFiles
    var tally: StoreTally
    /// The numbers of gates that were looked up before.
    var gateNumbers: [Gate: Int64]
    /// The files of bodies that are of no use once all this is true.
    private(set) var removedBodies: [String] = []
    /// The files of bodies that belong to requests once all this is true.
    var leases: [BodyLease] = []
    private(set) var failure: (any Error)?

    init(
        _ db: Database,
        at stamp: ClockStamp,
        tally: StoreTally,
        limits: QueueLimits,
        bodies: BodyFiles,
        gateNumbers: [Gate: Int64]
    ) {
        self.db = db
        self.stamp = stamp
        self.tally = tally
        self.now = tally.clock.now(stamp)
        self.limits = limits
        self.bodies = bodies
        self.gateNumbers = gateNumbers
    }

    /// How many there are in each state.
    var counts: QueueCounts { self.tally.counts }

    /// Whether nothing is to be sent; stays over restarts.
    var isPaused: Bool {
        get { self.tally.isPaused }
        set { self.tally.isPaused = newValue }
    }

    /// Reads requests as this transaction sees them.
    var records: StoreRecords {
        StoreRecords(db: self.db, clock: self.tally.clock, stamp: self.stamp, bodies: self.bodies)
    }

    // MARK: Statements

    /// Remembers a failure, after which nothing of this may become true.
    func attempt<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            self.failure = error
            throw error
        }
    }

    /// Executes a statement.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try self.attempt {
            try self.db.cachedStatement(sql: sql).execute(arguments: arguments)
            return self.db.changesCount
        }
    }

    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try self.attempt {
            try Row.fetchAll(self.db.cachedStatement(sql: sql), arguments: arguments).map { try StoredRow($0) }
        }
    }

    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try self.attempt {
            try Row.fetchOne(self.db.cachedStatement(sql: sql), arguments: arguments).flatMap {
                Columns($0).optionalNumber(0)
            }
        }
    }

    func row(_ id: UUID, in table: String = "request") throws -> StoredRow? {
        try self.attempt {
            let find = table == "request" ? Self.findPending : Self.findFinished
            return try SQLStatement(self.db, find).first(.id(id)) { try StoredRow($0) }
        }
    }

    private static let findPending = "SELECT \(StoredRow.columns) FROM request WHERE id = ?"
    private static let findFinished = "SELECT \(StoredRow.columns) FROM finished WHERE id = ?"

    /// Executes a statement of every delivery.
    func run(_ sql: String, _ values: SQLStatement.Value...) throws {
        try self.attempt { try SQLStatement(self.db, sql).run(values) }
    }

    // MARK: Rows

    /// Removes a request, and its body.
    func remove(_ row: StoredRow) throws {
        try self.run(
            row.state.isFinal ? "DELETE FROM finished WHERE sequence = ?" : "DELETE FROM request WHERE sequence = ?",
            .number(row.sequence)
        )
        self.tally.remove(row.state, size: row.size)
        if let file = row.bodyFile { self.willRemoveBody(file) }
    }

    /// Removes a request that is pending, and its body, unless somebody has changed it meanwhile.
    ///
    /// Unlike to look it up by its id, this finds it where the one before it was.
    func remove(ifStill row: StoredRow) throws -> Bool {
        guard let state = StoreState.number(row.state) else { return false }
        try self.run(
            "DELETE FROM request WHERE sequence = ? AND id = ? AND state = ?",
            .number(row.sequence),
            .id(row.id),
            .number(state)
        )
        guard self.db.changesCount == 1 else { return false }
        self.tally.remove(row.state, size: row.size)
        if let file = row.bodyFile { self.willRemoveBody(file) }
        return true
    }

    func willRemoveBody(_ name: String) { self.removedBodies.append(name) }

    /// Puts the oldest of a lane among those that may go, where it waited for another.
    ///
    /// - Returns: The id of that request.
    @discardableResult
    func promote(_ lane: String?) throws -> UUID? {
        guard let lane, self.counts.blocked > 0 else { return nil }
        let sql = """
            SELECT \(StoredRow.columns) FROM request INDEXED BY requestLane WHERE lane = ? ORDER BY sequence LIMIT 1
            """
        guard let head = try self.rows(sql, [lane]).first, head.state == .blocked else { return nil }
        try self.execute("UPDATE request SET state = 0 WHERE sequence = ?", [head.sequence])
        self.move(head, to: .ready)
        return head.id
    }

    /// Counts a request in another state, and what it grew by, such as its response.
    func move(_ row: StoredRow, to state: RequestState, growth: Int = 0) {
        self.tally.remove(row.state, size: row.size)
        self.tally.add(state, size: row.size + growth)
    }
}
