// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathSystem
import Synchronization

/// The database of a queue, open, and the lock that keeps the file in its place while it is used.
///
/// The file may be used by several processes. Each looks before every use whether the name still leads to the file it has
/// open: one that finds it damaged puts another in its place.
///
/// A `DatabaseQueue` runs what it is told on the thread that tells it. Neither its asynchronous functions nor a
/// `DatabasePool` are used: those run on libdispatch's threads, which wake a process up long after their work.
final class StoreFile: Sendable {
    let paths: StorePaths
    private let lock: FileLock?
    /// How long is waited for a process that has the file alone.
    private let patience: Duration
    private let state = Mutex(State())

    struct Files: Sendable {
        var database: FileIdentity
        var journal: FileIdentity?
        /// The shared memory that SQLite has mapped.
        var memory: FileIdentity?
    }

    struct State: Sendable {
        fileprivate(set) var database: DatabaseQueue? {
            didSet { if let oldValue { StoreFile.close(oldValue) } }
        }
        fileprivate var files: Files?
        /// Keeps what is open from being written into the file when it is closed.
        fileprivate var abandoned: FileDescriptor?
        fileprivate var isClosed = false
        /// Whether transactions survive the loss of power, and not only the death of the process.
        var isDurable = true
        /// What the last transaction of this process left; nil before the first.
        var last: StoreTransaction.Seen?
    }

    /// Without a lock no process has opened the file to write yet, or one of another user, whose it is.
    init(_ paths: StorePaths, lock: FileLock?, patience: Duration) {
        self.paths = paths
        self.lock = lock
        self.patience = patience
    }

    func notifySender() { self.lock?.notifySender() }

    /// Ends the use of the file; before that does something with the database that is open, if that is still the one
    /// under the name.
    func close(_ last: (DatabaseQueue) -> Void = { _ in }) {
        self.state.withLock { state in
            let current = try? StoreFiles.identity(self.paths.database)
            if let database = state.database, let files = state.files, files.database == current {
                last(database)
            }
            state.database = nil
            state = State()
            state.isClosed = true
        }
    }

    deinit { self.close() }

    /// Does something while no process replaces the file.
    func use<Value: Sendable>(
        open: (FileLock?, _ last: Files?) throws -> DatabaseQueue,
        _ body: (DatabaseQueue, inout State) throws -> Value
    ) throws -> Value {
        try self.state.withLock { state in
            if state.isClosed { throw QueueError.closed }
            try self.lock?.share(within: self.patience)
            defer { self.lock?.release() }
            var last = state.files
            func done(_ database: DatabaseQueue) throws -> Value {
                do { return try body(database, &state) } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_READONLY
                {
                    // The system did not open one of the files to write when this was opened; it may now.
                    (state.database, state.files) = (nil, nil)
                    throw error
                }
            }
            let current = try StoreFiles.identity(self.paths.database)
            if let database = state.database, let files = last, files.database == current {
                let memory = try StoreFiles.identity(self.paths.memory)
                if let known = files.memory, known != memory { throw self.abandon(&state) }
                guard try StoreFiles.isThere(self.paths.replacement) else {
                    state.files?.memory = memory
                    return try done(database)
                }
                // What is written into it now would be lost with it: the process that repaired it was interrupted.
                (state.abandoned, last) = (StoreFiles.holdOpen(self.paths.database), nil)
            }
            (state.database, state.isDurable, state.last) = (nil, true, nil)
            state.abandoned = nil
            let database = try open(self.lock, last)
            state.database = database
            state.files = try StoreFiles.identity(self.paths.database).map { database in
                let journal = try StoreFiles.identity(self.paths.journal)
                return try Files(database: database, journal: journal, memory: StoreFiles.identity(self.paths.memory))
            }
            return try done(database)
        }
    }

    /// Closes a database whose shared memory was removed, and leaves its journal as it is: others write there what SQLite
    /// does not know of in this process, and would overwrite.
    private func abandon(_ state: inout State) -> QueueError {
        state.abandoned = StoreFiles.holdOpen(self.paths.database)
        state.database = nil
        state.isClosed = true
        return .removed(path: self.paths.memory)
    }

    /// Does something while no other process uses the file, which is opened anew for the next use.
    func alone<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        try self.state.withLock { state in
            if state.isClosed { throw QueueError.closed }
            defer { self.lock?.release() }
            try self.lock?.takeAlone(within: self.patience)
            let value = try body()
            // Only now: closing it before would have tidied up a damaged file.
            state.database = nil
            return value
        }
    }

    /// Connections that are closed and not released: releasing one starts a thread of libdispatch, which looks after the number
    /// of its threads every second from then on, for ever.
    private static let closed = Mutex<[DatabaseQueue]>([])

    static func close(_ database: DatabaseQueue) {
        try? database.close()
        // They take 4 KiB each; a process that opens queues so often does not sleep anyway.
        self.closed.withLock { if $0.count < 64 { $0.append(database) } }
    }

    static func once<Value>(_ database: DatabaseQueue, _ body: (Database) throws -> Value) throws -> Value {
        defer { self.close(database) }
        return try database.inDatabase(body)
    }

    /// Reads a database with a connection for that alone.
    static func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        try self.once(self.open(path, readOnly: true), body)
    }

    /// Reads a database that no process can change; SQLite makes no file beside it then.
    static func readUnshared<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        // https://sqlite.org/uri.html
        try self.read("\(URL(filePath: path).absoluteString)?immutable=1", body)
    }

    /// Has SQLite take back what a process was interrupted in that made a queue, or opened one without WAL, such as a copy.
    ///
    /// It refuses that to connections that only read. For when no other process is at the file.
    static func rollBack(_ paths: StorePaths) throws {
        let path = paths.database
        guard try StoreFiles.isThere(paths.rollback) else { return }
        guard StoreFiles.isMarked(path) || StoreFiles.isBlank(path) else { return }
        try self.once(DatabaseQueue(path: path)) { db in
            _ = try Int.fetchOne(db, sql: "PRAGMA schema_version")
            guard try StoreFiles.isThere(paths.rollback) else { return }
            // One that is not to be played back, unless another program is at the database, and takes back its change with it.
            try db.inTransaction(.exclusive) {
                StoreFiles.remove(paths.rollback)
                return .commit
            }
        }
    }

    /// Makes the tables of a queue in an empty file, all of them or none: what a process that is killed leaves,
    /// ``rollBack(_:)`` takes back.
    ///
    /// In place, under SQLite's own lock: another program may have the file open. Not yet in WAL mode.
    private static func make(_ db: Database, path: String, at stamp: Moment) throws {
        try db.inTransaction(.exclusive) {
            if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
                try StoreSchema.make(db, at: stamp)
            } else {
                // Another program was faster.
                try StoreSchema.check(db, path: path)
            }
            return .commit
        }
    }

    /// Opens a database; with a time it makes a queue of an empty file.
    static func open(
        _ path: String,
        readOnly: Bool,
        isDamaged: Bool = false,
        waitingUntil limit: ContinuousClock.Instant? = nil,
        makingAt stamp: Moment? = nil
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "netpath.queue"
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = false
        // Others keep the file for one transaction at a time; who waits for longer tries again at another time.
        configuration.busyMode = .timeout(2)
        if let limit {
            configuration.busyMode = .callback { tries in
                // For 2 s as well.
                guard tries < 400, .now < limit else { return false }
                Thread.sleep(forTimeInterval: 0.005)
                return true
            }
        }
        configuration.prepareDatabase { db in
            // Where the system does not open it to write, SQLite falls back to reading. Before anything reads the header.
            if !readOnly, db.isReadOnly { throw StoreErrors.notOpenedToWrite(path) }
            // Without it one index whose text is damaged keeps SQLite from all tables (`sqlite3InitCallback` of prepare.c).
            if isDamaged { try db.execute(sql: "PRAGMA writable_schema = ON") }
            // Else what is copied to give back room, secrets too, is in a file in /var/tmp meanwhile.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            // Without this SQLite keeps up to 2 MB.
            try db.execute(sql: "PRAGMA cache_size = -1024")
            if readOnly { return }
            // Of a new file.
            try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
            if let stamp { try Self.make(db, path: path, at: stamp) }
            // Not by the configuration, which would make it NORMAL.
            let mode = Result { try db.execute(sql: "PRAGMA journal_mode = WAL") }
            if db.isReadOnly { throw StoreDamage(message: "only newer versions of SQLite may write it, says the file") }
            try mode.get()
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // A journal that grew beyond what a checkpoint leaves shrinks again.
            try db.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
            // What was delivered may have held secrets, and must not come back out of a damaged file.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

struct StorePaths: Hashable, Sendable {
    let database: String

    init(_ database: String) { self.database = database }

    /// SQLite's journal, which exists while a process has the database open.
    var journal: String { "\(self.database)-wal" }
    /// What SQLite takes back a change with that was interrupted in a database without WAL.
    var rollback: String { "\(self.database)-journal" }
    /// What the processes that have it open share, to find their way in the journal.
    var memory: String { "\(self.database)-shm" }
    var bodies: String { "\(self.database)-bodies" }
    /// What keeps the database in its place while it is used.
    var lock: String { "\(self.database)-lock" }
    /// Room for the ends of requests on a full disk.
    var reserve: String { "\(self.database)-reserve" }
    /// A new database until it is complete.
    var unfinished: String { "\(self.database)-salvaging" }
    /// A copy of a damaged database, from which the new one is filled.
    var mended: String { "\(self.database)-mended" }
    /// A new database that takes the place of a damaged one, complete as soon as it has this name.
    var replacement: String { "\(self.database)-salvaged" }
    var folder: String {
        guard let slash = self.database.lastIndex(of: "/") else { return "." }
        return slash == self.database.startIndex ? "/" : String(self.database[..<slash])
    }

    static let companions = ["-wal", "-shm"]

    /// Removes a database that is for this process alone, and what SQLite has left beside it.
    static func remove(_ database: String) {
        for suffix in ["", "-journal"] + Self.companions { StoreFiles.remove(database + suffix) }
    }

    /// Whether a damaged file of so many bytes may be a queue.
    ///
    /// That of another program looks as damaged as one whose beginning was overwritten, but gets no lock. A copy of a queue has
    /// none either, and a lock may be that of a queue that is gone.
    func mayBeQueue(_ size: Int) throws(QueueError) -> Bool {
        let isOfForm = size % StoreSchema.pageSize == 0 || StoreFiles.beginsAsDatabase(self.database)
        if isOfForm, try StoreFiles.isThere(self.lock) { return true }
        return StoreFiles.isMarked(self.database)
    }

    /// Whether there is a journal, or room for the ends of requests: an empty database beside it has lost everything.
    var hasRemains: Bool {
        get throws(QueueError) {
            if try StoreFiles.size(self.journal) > 0 { return true }
            return try StoreFiles.size(self.reserve) > 0
        }
    }
}
