// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// Reads a queue; makes, changes and repairs nothing, and does not wait for writers.
///
/// SQLite's own companions of the file (`-wal`, `-shm`) are excepted. All functions block; any thread may call them.
final class StoreReader: Sendable {
    let paths: StorePaths
    private let clock: @Sendable () -> Moment
    private let file: StoreFile

    /// Reads beside those who write in the same process.
    init(_ paths: StorePaths, lock: StoreLock?, clock: @escaping @Sendable () -> Moment) {
        self.paths = paths
        self.clock = clock
        // For how long a process may have the file alone, to open or to repair it.
        self.file = StoreFile(paths, lock: lock, patience: .seconds(2))
    }

    convenience init(existing path: String) throws(QueueError) {
        let paths = StorePaths(path)
        guard let size = try FileTrust.check(paths) else { throw .missing(path: path) }
        if size == 0 {
            // With a journal, or room for the ends of requests, it is one that has lost everything.
            let isNew = StoreFiles.kind(paths.journal).isEmpty && StoreFiles.size(paths.reserve) == 0
            throw isNew ? .missing(path: path) : .corrupt(path: path, setAsideAs: nil)
        }
        self.init(paths, lock: StoreLock(existing: paths.lock), clock: { .now() })
        do throws(QueueError) {
            _ = try self.use { db in try StoreSchema.check(db, path: path) }
        } catch {
            // A file of another program looks as damaged as one of ours whose beginning was overwritten.
            guard case .corrupt = error, StoreFiles.kind(paths.lock) == .nothing else { throw error }
            throw .notAQueue(path: path)
        }
    }

    /// Reads what the last transaction left.
    ///
    /// - Throws: ``QueueError/corrupt(path:setAsideAs:)`` without a second name when what is read is damaged.
    func read<Value: Sendable>(_ body: (StoreRecords) throws -> Value) throws(QueueError) -> Value {
        try self.use { db in try body(self.records(db, StoreStatus.read(db))) }
    }

    private func records(_ db: Database, _ status: @autoclosure () throws -> StoreStatus) throws -> StoreRecords {
        try StoreSchema.check(db, path: self.paths.database)
        let bodies = BodyFiles(folder: self.paths.bodies)
        return StoreRecords(db: db, status: try status(), stamp: self.clock(), bodies: bodies)
    }

    /// Reads requests in the order of their numbers, and goes on behind those that cannot be read.
    ///
    /// - Returns: The requests, fewer than the limit only when there are no more, and whether none is missing.
    func page(
        in states: Set<RequestState>,
        after last: Int64,
        limit: Int,
        _ status: QueueStatus
    ) throws(QueueError) -> (records: [RequestRecord], isWhole: Bool) {
        // In no transaction: SQLite does not end one any more that has met damage.
        let (page, isWhole, isPaused) = try self.use(inTransaction: false) { db in
            let records = try self.records(db, (try? StoreStatus.read(db)) ?? StoreStatus(at: self.clock()))
            let isPaused = records.status.isPaused
            do { return (try records.page(states: states, after: last, limit: limit), true, isPaused) } catch {
                guard StoreErrors.isDamage(error) else { throw error }
                return (try records.readablePage(states: states, after: last, limit: limit), false, isPaused)
            }
        }
        return (status.explain(page, isPaused: isPaused, in: self.paths.database), isWhole)
    }

    func inspect() throws(QueueError) {
        try self.use { try StoreErrors.check($0, "quick_check") }
    }

    func close() { self.file.close() }

    private func use<Value: Sendable>(
        inTransaction: Bool = true,
        _ body: (Database) throws -> Value
    ) throws(QueueError) -> Value {
        let path = self.paths.database
        do {
            return try self.file.use(
                open: { _, _ in
                    if StoreFiles.identity(path) == nil { throw QueueError.io(path: path, reason: "the file is gone") }
                    return try StoreFile.open(path, readOnly: true)
                },
                { database, _ in try inTransaction ? database.read(body) : database.inDatabase(body) }
            )
        } catch {
            let meaning = StoreErrors.queueError(error, path: path)
            // Where the disk is full there is no room for the memory that those who read share with those who write.
            if case .diskFull = meaning, let value = try? self.readUnshared(body) { return value }
            throw meaning
        }
    }

    /// Reads a file that no process has open, and that none can open meanwhile.
    private func readUnshared<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value? {
        try self.file.alone {
            guard StoreFiles.kind(self.paths.journal).isEmpty else { return nil }
            return try StoreFile.openUnshared(self.paths.database).inDatabase(body)
        }
    }
}

/// Reads whole requests, in whatever transaction the database is in.
struct StoreRecords {
    let db: Database
    let status: StoreStatus
    let stamp: Moment
    let bodies: BodyFiles

    var counts: QueueCounts { get throws { try QueueCounts(self.db) } }

    /// The request with an id, finished or not; nil when there is none.
    func record(_ id: UUID) throws -> RequestRecord? {
        let statement = try self.db.cachedStatement(sql: "SELECT * FROM request WHERE id = ?")
        return try StoredRequest.fetchOne(statement, arguments: [id]).map { self.record($0) }
    }

    /// Some requests, in the order of their numbers.
    ///
    /// - Returns: The requests, fewer than the limit only when there are no more.
    func page(states: Set<RequestState>, after sequence: Int64, limit: Int) throws -> [RequestRecord] {
        let wanted = Self.condition(states)
        // The few that are being sent, held or finished are found without a look at all others.
        let isApart = states.isDisjoint(with: [.ready, .blocked, .backoff])
        let sql = """
            SELECT * FROM request \(isApart ? "INDEXED BY requestApart WHERE \(StoreSchema.apart) AND" : "WHERE")
            \(wanted) AND sequence > ? ORDER BY sequence LIMIT ?
            """
        return try StoredRequest.fetchAll(self.db, sql: sql, arguments: [sequence, limit]).map { self.record($0) }
    }

    /// Some rows of requests that are to be delivered, in the order of their numbers.
    func stored(after sequence: Int64, limit: Int) throws -> [StoredRequest] {
        let sql = "SELECT * FROM request WHERE \(StoreSchema.pending) AND sequence > ? ORDER BY sequence LIMIT ?"
        return try StoredRequest.fetchAll(self.db, sql: sql, arguments: [sequence, limit])
    }

    /// The same of a damaged file, as far as it can be read.
    func readablePage(states: Set<RequestState>, after sequence: Int64, limit: Int) throws -> [RequestRecord] {
        var page: [RequestRecord] = []
        try self.db.forEachReadable(Self.condition(states), after: sequence) { stored in
            page.append(self.record(stored))
            return page.count < limit
        }
        return page
    }

    private static func condition(_ states: Set<RequestState>) -> String {
        "state IN (\(states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")))"
    }

    private func record(_ stored: StoredRequest) -> RequestRecord {
        var record = stored.record(of: stored.readable(self.bodies), self.status, at: self.stamp)
        if record.state == .backoff { record.waiting = record.notBefore.map { .backoff(until: $0) } }
        if record.state == .blocked {
            let sql = "SELECT id FROM request WHERE sequence = (\(StoreSchema.head))"
            // What it waits for is not worth a failure.
            let head = try? UUID.fetchOne(self.db.cachedStatement(sql: sql), arguments: [stored.lane])
            record.waiting = head.map { .behind($0) }
        }
        return record
    }

    /// How and when a request ended that is there no more, and with what status; nil when that is not known any more.
    func end(of id: UUID) throws -> (state: RequestState, date: Date, status: Int?)? {
        let sql = "SELECT state, time, status FROM ended WHERE id = ? AND time > ? ORDER BY number DESC LIMIT 1"
        let oldest = self.status.now(self.stamp) &- StoreTransaction.tombstoneAge.inMilliseconds
        let row = try Row.fetchOne(self.db.cachedStatement(sql: sql), arguments: [id, oldest])
        guard let row, let state = RequestState(rawValue: row[0]) else { return nil }
        return (state, self.status.wall(row[1], at: self.stamp), row[2])
    }
}
