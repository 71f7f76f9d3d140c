// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Everything that changes the queue; one transaction of the database, in which all happens or nothing.
///
/// A method that throws a ``QueueError`` has changed nothing, and the transaction may go on; any other error must end it.
final class StoreTransaction {
    let db: Database
    /// What the clocks showed when it began.
    let stamp: ClockStamp
    /// The time of the queue's own clock.
    let now: Int64
    let limits: QueueLimits
    let bodies: BodyFiles
    private(set) var status: StoreStatus
    private let before: StoreStatus
    /// The files of bodies that are of no use once all this is true.
    private(set) var removedBodies: [String] = []
    /// The files of bodies that belong to requests once all this is true.
    var leases: [BodyLease] = []
    private var failure: (any Error)?

    init(_ db: Database, at stamp: ClockStamp, limits: QueueLimits, bodies: BodyFiles) throws {
        self.before = try StoreStatus.read(db)
        var clock = self.before.clock
        var latest = clock.anchor
        if clock.boot != stamp.bootID ?? "" {
            latest = max(latest, try Int64.fetchOne(db, sql: "SELECT max(enqueued) FROM request") ?? latest)
        }
        clock.advance(to: stamp, latest: latest)
        self.db = db
        self.stamp = stamp
        self.now = clock.now(stamp)
        self.limits = limits
        self.bodies = bodies
        self.status = self.before
        self.status.clock = clock
    }

    /// Writes what is not the same as before; the last thing before the commit.
    func finish() throws {
        if let failure { throw failure }
        if self.status != self.before { try self.status.update(self.db) }
    }

    /// How many there are in each state.
    var counts: QueueCounts {
        do { return try QueueCounts(self.db) } catch {
            self.failure = error
            return QueueCounts()
        }
    }

    /// Whether anything is to be delivered that does not wait for somebody.
    var hasPending: Bool {
        get throws {
            let sql = "SELECT 1 FROM total WHERE count > 0 AND state IN ('ready', 'blocked', 'backoff', 'running')"
            return try Int.fetchOne(self.db.cachedStatement(sql: sql)) != nil
        }
    }

    /// Whether nothing is to be sent; stays over restarts.
    var isPaused: Bool {
        get { self.status.isPaused }
        set { self.status.isPaused = newValue }
    }

    /// How many requests have left that were not delivered.
    var ends: Int64 { self.status.ends }
    /// How often a process that does not send wanted that which waits to go now.
    var forces: Int64 { self.status.forces }
    /// The host that was meant the last time; nil for all.
    var forced: String? { self.status.forced }

    /// Tells the process that sends that somebody does not want to wait: for a host, or with nil for any.
    func force(host: String?) {
        self.status.forces += 1
        self.status.forced = host
    }

    /// Reads requests as this transaction sees them.
    var records: StoreRecords {
        StoreRecords(db: self.db, clock: self.status.clock, stamp: self.stamp, bodies: self.bodies)
    }

    // MARK: Statements

    /// Executes a statement.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try self.db.cachedStatement(sql: sql).execute(arguments: arguments)
        return self.db.changesCount
    }

    func rows(_ condition: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        let sql = "SELECT \(StoredRow.columns) FROM request \(condition)"
        return try StoredRow.fetchAll(self.db.cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ id: UUID) throws -> StoredRow? { try self.rows("WHERE id = ?", [id]).first }

    /// Removes requests, and their bodies.
    func remove(_ condition: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        let sql = "DELETE FROM request WHERE \(condition) RETURNING \(StoredRow.columns)"
        let rows = try StoredRow.fetchAll(self.db.cachedStatement(sql: sql), arguments: arguments)
        self.removedBodies += rows.compactMap(\.bodyFile)
        return rows.sorted { $0.sequence < $1.sequence }
    }

    /// Puts the oldest of a lane among those that may go, where it waited for another.
    @discardableResult
    func promote(_ lane: String?) throws -> UUID? {
        guard let lane else { return nil }
        let sql = """
            UPDATE request SET state = 'ready' WHERE state = 'blocked' AND sequence =
              (SELECT sequence FROM request INDEXED BY requestLane WHERE lane = ? AND \(StoreSchema.pending)
               ORDER BY sequence LIMIT 1) RETURNING id
            """
        return try UUID.fetchAll(self.db.cachedStatement(sql: sql), arguments: [lane]).first
    }

    func hasPredecessor(_ lane: String?, before sequence: Int64) throws -> Bool {
        guard let lane else { return false }
        let sql = """
            SELECT 1 FROM request INDEXED BY requestLane WHERE lane = ? AND \(StoreSchema.pending) AND sequence < ?
            LIMIT 1
            """
        return try Int.fetchOne(self.db.cachedStatement(sql: sql), arguments: [lane, sequence]) != nil
    }

    /// How many ends are remembered.
    static let rememberedEnds: Int64 = 1000

    /// Remembers how requests ended that leave now without having been delivered, for processes that wait for them.
    ///
    /// Deliveries are not written down, for they are many: what is gone and not in the list was delivered, as long as
    /// the list goes back to when it was seen.
    func remember(_ ids: [UUID], of count: Int? = nil, as state: RequestState) throws {
        guard !ids.isEmpty else { return }
        self.status.ends += Int64(count ?? ids.count)
        let last = ids.suffix(Int(Self.rememberedEnds))
        for (number, id) in zip((self.ends - Int64(last.count) + 1)..., last) {
            try self.execute("INSERT INTO ended VALUES (?, ?, ?)", [number, id, state.rawValue])
        }
        try self.execute("DELETE FROM ended WHERE number <= ?", [self.ends - Self.rememberedEnds])
    }
}
