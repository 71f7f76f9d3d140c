// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB

/// Reads a queue; makes, changes and repairs nothing, and waits for nobody who writes.
///
/// SQLite's own companions of the file (`-wal`, `-shm`) are excepted. All functions block; any thread may call them.
final class StoreReader: Sendable {
    let paths: StorePaths
    private let clock: @Sendable () -> ClockStamp
    private let file: StoreFile

    /// Reads beside those who write in the same process.
    init(_ paths: StorePaths, lock: StoreLock?, clock: @escaping @Sendable () -> ClockStamp) {
        self.paths = paths
        self.clock = clock
        // For how long somebody may have the file alone, to open or to repair it.
        self.file = StoreFile(paths, lock: lock, patience: .seconds(2))
    }

    /// Opens a queue that is there.
    convenience init(existing path: String) throws(QueueError) {
        let paths = StorePaths(path)
        try FileTrust.check(paths)
        switch StoreFiles.kind(path) {
        case .folder: throw .isDirectory(path: path)
        case .other: throw .notAQueue(path: path)
        case .nothing: throw .missing(path: path)
        case .file(_, size: 0):
            // With a journal it is one that has lost everything.
            guard StoreFiles.kind("\(path)-wal").isEmpty else { throw .corrupt(path: path, setAsideAs: nil) }
            throw .missing(path: path)
        case .file: ()
        }
        self.init(paths, lock: StoreLock(existing: paths.lock), clock: { .now() })
        do throws(QueueError) {
            _ = try self.use { db in try StoreSchema.check(db, path: path) }
        } catch {
            // A file of somebody else's looks as damaged as one of ours whose beginning was overwritten.
            guard case .corrupt = error, StoreFiles.kind(paths.lock) == .nothing else { throw error }
            throw .notAQueue(path: path)
        }
    }

    /// Makes sure that a file which nobody has used as a queue yet is one.
    static func check(_ paths: StorePaths) throws(QueueError) {
        let reader = try StoreReader(existing: paths.database)
        reader.close()
    }

    /// Reads what the last transaction left.
    ///
    /// - Throws: ``QueueError/corrupt(path:setAsideAs:)`` without a second name when what is read is damaged.
    func read<Value: Sendable>(_ body: (StoreRecords, StoreStatus) throws -> Value) throws(QueueError) -> Value {
        let (stamp, bodies) = (self.clock(), BodyFiles(folder: self.paths.bodies))
        return try self.use { db in
            try StoreSchema.check(db, path: self.paths.database)
            var status = try StoreStatus.read(db)
            status.counts = try QueueCounts(db)
            return try body(StoreRecords(db: db, clock: status.clock, stamp: stamp, bodies: bodies), status)
        }
    }

    /// Reads requests a page at a time, in order, and goes on behind those that cannot be read.
    func forEachPage(in states: Set<RequestState>, _ body: ([RequestRecord], Bool) throws -> Bool) throws {
        let (stamp, bodies, limit) = (self.clock(), BodyFiles(folder: self.paths.bodies), 256)
        var (last, isWhole) = (Int64(0), true)
        while true {
            // In no transaction: SQLite does not end one any more that has met damage.
            let (page, isIntact, isPaused) = try self.use(inTransaction: false) { [last] db in
                try StoreSchema.check(db, path: self.paths.database)
                let status = (try? StoreStatus.read(db)) ?? StoreStatus(at: stamp)
                let records = StoreRecords(db: db, clock: status.clock, stamp: stamp, bodies: bodies)
                do {
                    return (try records.page(states: states, after: last, limit: limit), true, status.isPaused)
                } catch {
                    guard StoreErrors.isDamage(error) else { throw error }
                    let page = try records.readablePage(states: states, after: last, limit: limit)
                    return (page, false, status.isPaused)
                }
            }
            isWhole = isWhole && isIntact
            guard try body(page, isPaused) else { return }
            guard page.count == limit, let end = page.last else { break }
            last = end.sequence
        }
        if !isWhole { throw QueueError.corrupt(path: self.paths.database, setAsideAs: nil) }
    }

    /// Looks for damage in every page of the file.
    func inspect() throws(QueueError) {
        try self.use { db in
            let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
            if finding != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
        }
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
            throw StoreErrors.queueError(error, path: path)
        }
    }
}
