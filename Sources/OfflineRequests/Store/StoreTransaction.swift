// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Everything that changes the queue; one transaction of the database, in which all happens or nothing.
///
/// A method that throws a ``QueueError`` has changed nothing, and the transaction may go on; any other error must end it.
final class StoreTransaction {
    let db: Database
    let stamp: Moment
    let now: Int64
    let settings: QueueSettings
    let bodies: BodyFiles
    let path: String
    /// Whether another process has written since the last transaction of this process.
    let othersWrote: Bool
    /// Written at the end, where it is not the same as before.
    var status: StoreStatus
    private let before: StoreStatus
    /// The files of bodies that are of no use once all this is true.
    private(set) var removedBodies: [String] = []
    /// The files of bodies that belong to requests once all this is true.
    var leases: [BodyLease] = []
    /// How many bytes are missing on the disk for a request to be taken, or a response to be kept; nil when there is room.
    var lacksRoom: Int?
    /// Whether the bodies of responses are left out, long headers, and why attempts failed: what was reserved is for the ends of
    /// all requests.
    var leavesOutAnswers = false
    private var counted: Counted?

    /// What a transaction leaves to the next one of this process.
    struct Seen: Sendable {
        fileprivate let dataVersion: UInt32
        fileprivate let status: StoreStatus
        fileprivate let counted: Counted?
    }

    /// What was counted after so many changes of this connection.
    fileprivate struct Counted: Sendable {
        let counts: QueueCounts
        let changes: Int
    }

    /// How many requests there are in each state; read only when something has changed since the last time.
    var counts: QueueCounts {
        get throws {
            let changes = self.db.totalChangesCount
            if let counted, counted.changes == changes { return counted.counts }
            let counts = try QueueCounts(self.db)
            self.counted = Counted(counts: counts, changes: changes)
            return counts
        }
    }

    /// Inserts a row, and counts it as the trigger does, so that what was read need not be read again.
    func counting(_ row: StoredRequest, _ insert: () throws -> Void) throws {
        var counts = try self.counts
        try insert()
        counts[row.state] += 1
        counts.bytes += row.size
        self.counted = Counted(counts: counts, changes: self.db.totalChangesCount)
    }

    init(_ db: Database, of store: RequestStore, at stamp: Moment, after last: Seen?) throws {
        let before: StoreStatus
        if let last, last.dataVersion == db.dataVersion {
            (before, self.othersWrote, self.counted) = (last.status, false, last.counted)
        } else {
            // It may have brought the file up to a newer version, whose tables may be others.
            try StoreSchema.check(db, path: store.paths.database)
            (before, self.othersWrote) = (try StoreStatus.read(db), true)
        }
        var (status, latest) = (before, before.anchor)
        if !status.isCurrent(stamp) {
            latest = max(latest, try Int64.fetchOne(db, sql: "SELECT max(enqueued) FROM request") ?? latest)
        }
        status.advance(to: stamp, latest: latest)
        self.db = db
        self.stamp = stamp
        self.now = status.now(stamp)
        (self.settings, self.bodies, self.path) = (store.settings, store.bodies, store.paths.database)
        (self.before, self.status) = (before, status)
    }

    /// Writes what is not the same as before; the last thing before the commit.
    func finish() throws {
        if self.status != self.before { try self.status.update(self.db) }
    }

    /// For after the commit.
    var seen: Seen { Seen(dataVersion: self.db.dataVersion, status: self.status, counted: self.counted) }

    var records: StoreRecords {
        StoreRecords(db: self.db, status: self.status, stamp: self.stamp, bodies: self.bodies)
    }

    /// Tells the process that sends that a caller does not want to wait: for a host, or with nil for any.
    func force(host: String?) {
        self.status.forces += 1
        self.status.forced = host
    }

    // MARK: Statements

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

    func remove(_ condition: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        let sql = "DELETE FROM request WHERE \(condition) RETURNING \(StoredRow.columns)"
        let rows = try StoredRow.fetchAll(self.db.cachedStatement(sql: sql), arguments: arguments)
        self.removedBodies += rows.compactMap(\.bodyFile)
        return rows.sorted { $0.sequence < $1.sequence }
    }

    /// Removes requests that are not delivered, of which those who wait for them hear; their lanes go on.
    func end(_ condition: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        let rows = try self.remove(condition, arguments)
        try self.remember(rows.filter { $0.state == .dead }.map(\.id), as: .dead)
        try self.remember(rows.filter { !$0.state.isFinal }.map(\.id), as: .cancelled)
        for lane in Set(rows.compactMap(\.lane)) { try self.promote(lane) }
        return rows
    }

    /// Puts the oldest of a lane among those that may go, where it waited for another.
    func promote(_ lane: String?) throws {
        guard let lane else { return }
        let change = "UPDATE request SET state = 'ready' WHERE state = 'blocked' AND sequence = (\(StoreSchema.head))"
        try self.execute(change, [lane])
    }

    func hasPredecessor(_ lane: String?, before sequence: Int64) throws -> Bool {
        guard let lane else { return false }
        let head = try Int64.fetchOne(self.db.cachedStatement(sql: StoreSchema.head), arguments: [lane])
        return head.map { $0 < sequence } ?? false
    }

    /// How many ends are remembered, and for how long.
    private static let rememberedEnds = 10_000
    static let tombstoneAge: Duration = .seconds(86_400)

    /// Remembers how requests ended that leave now, for people and for processes that wait for them.
    func remember(_ ids: [UUID], as state: RequestState, status: Int? = nil) throws {
        guard !ids.isEmpty else { return }
        let insert = "INSERT INTO ended (id, time, state, status) VALUES (?, ?, ?, ?)"
        for id in ids.suffix(Self.rememberedEnds) { try self.execute(insert, [id, self.now, state.rawValue, status]) }
        let number = self.db.lastInsertedRowID - Int64(Self.rememberedEnds)
        if number > 0 { try self.execute("DELETE FROM ended WHERE number <= ?", [number]) }
    }
}
