// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import Synchronization

/// An open database, and what is remembered of it.
///
/// A `DatabaseQueue` runs what it is told on the thread that tells it. Neither its asynchronous functions nor a
/// `DatabasePool` are used: those run on libdispatch's threads, which wake a process up long after their work.
final class StoreConnection: Sendable {
    private let database: DatabaseQueue
    private let path: String
    /// The file that was opened, which may not be the one under its name any more.
    let identity: FileIdentity
    private let memory = Mutex(Memory())
    /// For how many milliseconds others are waited for, who keep the file for one transaction at a time.
    private static let patience: Int32 = 5_000

    /// Above how many pages without use a file is worth the work: 4 MiB.
    private static let wasted = (4 << 20) / DatabasePages.size
    /// How many pages in use are copied at most: 16 MiB.
    private static let copied = (16 << 20) / DatabasePages.size

    private struct Memory: Sendable {
        var isDurable = true
        var gateNumbers: [Gate: Int64] = [:]
        /// What the last transaction left, and the version of the file it left that in.
        var tally: (of: UInt32, value: StoreTally)?
    }

    /// Opens a database that exists.
    init(_ path: String, identity: FileIdentity, readOnly: Bool) throws {
        var configuration = Configuration()
        configuration.label = "netpath.queue"
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(Double(Self.patience) / 1_000)
        configuration.prepareDatabase { db in
            // Without this SQLite keeps up to 2 MB.
            try db.execute(sql: "PRAGMA cache_size = -1024")
            if readOnly { return }
            // What reads a damaged file relies on it.
            try db.execute(sql: "PRAGMA page_size = \(DatabasePages.size)")
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // A journal that grew beyond what a checkpoint leaves shrinks again.
            try db.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
            // What was delivered may have held secrets, and must not come back out of a damaged file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        self.database = try DatabaseQueue(path: path, configuration: configuration)
        self.identity = identity
        self.path = path
    }

    func close() throws { try self.database.close() }

    /// Makes sure that it is a queue of ours, or empty.
    func check(path: String) throws {
        try self.database.inDatabase { db in _ = try StoreSchema.version(of: db, path: path) }
    }

    /// Brings the database up to date, and looks at what every transaction looks at.
    func prepare(path: String, at stamp: ClockStamp) throws {
        try self.database.inDatabase { db in
            try StoreSchema.migrate(db, path: path, at: stamp)
            _ = try StoreTally.read(db)
        }
    }

    /// Says how much the next transaction must survive: FULL survives the loss of power, NORMAL the death of the
    /// process.
    private func setDurable(_ durable: Bool, _ db: Database) throws {
        guard durable != self.memory.withLock({ $0.isDurable }) else { return }
        try SQLStatement(db, "PRAGMA synchronous = \(durable ? "FULL" : "NORMAL")").run()
        self.memory.withLock { $0.isDurable = durable }
    }

    /// Does something as one transaction; one that does not wait fails with `SQLITE_BUSY` while another process writes.
    func transaction<Value>(
        durable: Bool,
        waits: Bool = true,
        at stamp: ClockStamp,
        limits: QueueLimits,
        bodies: BodyFiles,
        _ body: (StoreTransaction) throws -> Value
    ) throws -> Value {
        try self.database.inDatabase { db in
            try self.setDurable(durable, db)
            try self.begin(db, waits: waits)
            do {
                let before = try self.tally(db)
                let transaction = StoreTransaction(
                    db,
                    at: stamp,
                    tally: try before.advanced(to: stamp, db),
                    limits: limits,
                    bodies: bodies,
                    gateNumbers: self.memory.withLock { $0.gateNumbers }
                )
                let value = try body(transaction)
                if let failure = transaction.failure { throw failure }
                let tally = try transaction.tally.write(db, before: before)
                try SQLStatement(db, "COMMIT").run()
                let (gateNumbers, version) = (transaction.gateNumbers, db.dataVersion)
                self.memory.withLock {
                    $0.gateNumbers = gateNumbers
                    $0.tally = (of: version, value: tally)
                }
                for lease in transaction.leases { lease.keep() }
                for name in transaction.removedBodies { StoreFiles.remove(bodies.path(name)) }
                return value
            } catch {
                // SQLite has done it already after some errors, such as a full disk.
                if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
                // The journal may be what fills the disk, and the next transaction has the room it gives back.
                if (error as? DatabaseError)?.resultCode == .SQLITE_FULL { _ = try? db.checkpoint(.truncate) }
                throw error
            }
        }
    }

    /// What is known of the queue as it is now, which is read only when somebody else has changed the file.
    private func tally(_ db: Database) throws -> StoreTally {
        let version = db.dataVersion
        if let (of: last, value: tally) = self.memory.withLock({ $0.tally }), last == version { return tally }
        try self.checkVersion(db)
        return try StoreTally.read(db)
    }

    /// Makes sure that nobody has brought the file up to a newer version meanwhile, whose tables may be others.
    private func checkVersion(_ db: Database) throws {
        guard try StoreSchema.version(of: db, path: self.path) == 0 else { return }
        throw Damage(reason: "the tables are gone")
    }

    private func begin(_ db: Database, waits: Bool) throws {
        if !waits { db.waitForOthers(milliseconds: 0) }
        defer { if !waits { db.waitForOthers(milliseconds: Self.patience) } }
        try SQLStatement(db, "BEGIN IMMEDIATE").run()
    }

    func read<Value>(
        at stamp: ClockStamp,
        bodies: BodyFiles,
        _ body: (StoreRecords, StoreTally) throws -> Value
    ) throws -> Value {
        try self.database.inDatabase { db in
            try SQLStatement(db, "BEGIN DEFERRED").run()
            defer { try? SQLStatement(db, "COMMIT").run() }
            try self.checkVersion(db)
            let tally = try StoreTally.read(db)
            return try body(StoreRecords(db: db, clock: tally.clock, stamp: stamp, bodies: bodies), tally)
        }
    }

    /// Brings everything into the file itself, and empties the journal.
    func checkpoint() throws {
        _ = try self.database.inDatabase { db in try db.checkpoint(.truncate) }
    }

    /// Empties the journal, unless what that puts into the file does not fit the disk.
    func checkpoint(size: Int, room: Int) throws {
        let pages = try self.database.inDatabase { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
        // Otherwise it would take the last of the room, and not come to its end.
        if pages * DatabasePages.size - size <= room { try self.checkpoint() }
    }

    func tidy() throws {
        try self.database.inDatabase { db in
            do {
                let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
                let used = try Int.fetchOne(db, sql: "PRAGMA page_count").map { $0 - free } ?? 0
                // What is used is copied, and until that is done nobody can enqueue.
                guard free > Self.wasted, free > used, used < Self.copied else { return }
                try db.execute(sql: "VACUUM")
                _ = try db.checkpoint(.truncate)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                // Another time.
            }
        }
    }

    /// Looks for pages that are damaged.
    func inspect() throws {
        try self.database.inDatabase { db in
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
            guard findings == ["ok"] else { throw Damage(reason: findings.first ?? "the check of the file failed") }
        }
    }

    /// Looks for damage in the whole file, and in every request.
    func verify(at stamp: ClockStamp, bodies: BodyFiles) throws {
        try self.database.inDatabase { db in
            let findings = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
            guard findings == ["ok"] else { throw Damage(reason: findings.first ?? "the check of the file failed") }
            let found = try Row.fetchAll(db, sql: "SELECT state, count(*), sum(size) FROM kept GROUP BY state")
            var (counts, finishedBytes) = (QueueCounts(), 0)
            for row in found {
                let columns = Columns(row)
                guard let state = StoreState.state(try columns.number(0)) else {
                    throw Damage(reason: "a state is none")
                }
                counts[state] = Int(try columns.number(1))
                let size = Int(try columns.number(2))
                counts.bytes += size
                if state.isFinal { finishedBytes += size }
            }
            let tally = try StoreTally.read(db)
            try StoreRecords(db: db, clock: tally.clock, stamp: stamp, bodies: bodies).verify()
            guard tally.counts == counts, tally.finishedBytes == finishedBytes else {
                throw Damage(reason: "requests were counted wrongly")
            }
        }
    }

    func removeOrphans(_ bodies: BodyFiles, _ remove: (String) -> Void) throws -> Int {
        try self.database.inDatabase { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT 1 FROM request INDEXED BY requestBody WHERE bodyFile IS NOT NULL AND bodyFile = ?1
                    UNION ALL
                    SELECT 1 FROM finished INDEXED BY finishedBody WHERE bodyFile IS NOT NULL AND bodyFile = ?1
                    """
            )
            return try bodies.removeOrphans(
                isKnown: { name in try Row.fetchOne(statement, arguments: [name]) != nil },
                remove: remove
            )
        }
    }
}
