// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathHTTP
import NetPathSystem
import Synchronization

/// The requests of a queue on disk.
///
/// Everything is in the database, and nothing is kept in memory besides. All functions block; any thread may call them,
/// but none from within a transaction.
final class RequestStore: Sendable {
    let paths: StorePaths
    let settings: QueueSettings
    let bodies: BodyFiles

    private let clock: @Sendable () -> Moment
    private let salvaged: @Sendable (QueueEvent) -> Void
    private let file: StoreFile
    private let reserve: StoreReserve
    /// Whether what was reserved was given up, and is to be reserved again as soon as that can be.
    private let isReserveUsed = Atomic<Bool>(false)
    let reader: QueueReader
    private let isSender = Atomic<Bool>(false)
    /// How long is waited for a process that makes or repairs the file.
    private static let patience: Duration = .seconds(10)
    /// How often the file was replaced: a disk that damages everything must not be filled with copies.
    private let repairs = Atomic<Int>(0)
    /// Whether the file is being replaced, which nobody can read meanwhile.
    let isRepairing = Atomic(false)

    /// Opens a queue, or makes one; a damaged one can be opened too, and is repaired by the process that sends.
    init(
        path: String,
        settings: QueueSettings = QueueSettings(),
        clock: @escaping @Sendable () -> Moment = { Moment.now() },
        salvaged: @escaping @Sendable (QueueEvent) -> Void = { _ in }
    ) throws(QueueError) {
        self.paths = StorePaths(path)
        self.settings = settings
        self.bodies = BodyFiles(folder: self.paths.bodies)
        self.reserve = StoreReserve(paths: self.paths)
        self.clock = clock
        self.salvaged = salvaged
        let size = try FileTrust.check(self.paths)
        if size != nil, !StoreFiles.isWritable(path) { throw .readOnly(path: path) }
        let isRepaired = try StoreFiles.isThere(self.paths.replacement)
        if let size, size > 0, !isRepaired, try !self.paths.mayBeQueue(size) {
            do { _ = try QueueReader(existing: path) } catch .corrupt {}
        }
        try StoreFiles.createFolder(self.paths.folder)
        // One for each: to share the one of the other would end its sharing.
        let lock = try FileLock(self.paths.lock, waitingUntil: settings.waitsUntil)
        self.file = StoreFile(self.paths, lock: lock, patience: Self.patience)
        let other = try FileLock(self.paths.lock, waitingUntil: settings.waitsUntil)
        self.reader = QueueReader(self.paths, lock: other, clock: clock)
        do { try self.use { _, _ in } } catch .corrupt {}
    }

    /// Whether this process is the one that sends, which alone repairs a damaged file.
    var sends: Bool {
        get { self.isSender.load(ordering: .relaxed) }
        set { self.isSender.store(newValue, ordering: .relaxed) }
    }

    /// Gets a request ready to be inserted: checks it, encodes it, and copies a long body.
    ///
    /// Best on the thread of the caller; the queue's own is for transactions.
    func prepare(_ request: RetryableRequest) throws(QueueError) -> PreparedRequest {
        let endpoint = try request.validEndpoint(maxBodyBytes: self.settings.maxBodyBytes)
        let limit = self.settings.maxBodyBytes
        return try PreparedRequest(request, to: endpoint.authority, limit: limit, bodies: self.bodies)
    }

    /// Changes the queue: everything that is done with the transaction, or nothing.
    ///
    /// What is durable survives the loss of power. `size` is how many bytes the requests have that are to be inserted, and the
    /// responses that are to be kept: zero for none, nil for none to be taken. Where there is no room, ``makeRoom()`` may help.
    func transaction<Value: Sendable>(
        durable: Bool,
        inserting size: Int? = 0,
        _ body: (StoreTransaction) throws -> Value
    ) throws(QueueError) -> Value {
        let stamp = self.clock()
        return try self.use { database, state in
            try database.writeWithoutTransaction { db in
                // Within a transaction SQLite ignores it.
                if durable != state.isDurable {
                    try db.execute(sql: "PRAGMA synchronous = \(durable ? "FULL" : "NORMAL")")
                    state.isDurable = durable
                }
                let missing = try self.lackOfRoom(forRequestsOf: size, in: db)
                let (value, transaction): (Value, StoreTransaction)
                do {
                    try db.executeDirectly("BEGIN IMMEDIATE")
                    transaction = try StoreTransaction(db, of: self, at: stamp, after: state.last)
                    transaction.lacksRoom = missing
                    transaction.leavesOutAnswers = self.isReserveUsed.load(ordering: .relaxed)
                    value = try body(transaction)
                    try transaction.finish()
                    try db.executeDirectly("COMMIT")
                    state.last = transaction.seen
                } catch {
                    try? db.rollback()
                    guard StoreErrors.isFullDisk(error, path: self.paths.database) else { throw error }
                    // Once the file has all that is in the journal, the next transaction has the room of that.
                    _ = try? db.checkpoint(.restart)
                    guard let size, size > 0 else { throw error }
                    throw QueueError.diskFull(path: self.paths.database, missing: 2 * size)
                }
                if self.isReserveUsed.load(ordering: .relaxed) {
                    _ = try? db.checkpoint(.truncate)
                    let isReserved = self.reserve.keep(forRequestsOf: 0) == 0
                    self.isReserveUsed.store(!isReserved, ordering: .relaxed)
                }
                for lease in transaction.leases { lease.keep() }
                // After a loss of power there must be no request without its body. One that stays is removed as an orphan.
                let isOnDisk = durable || transaction.removedBodies.isEmpty || StoreFiles.sync(self.paths.journal)
                for name in transaction.removedBodies where isOnDisk { StoreFiles.remove(self.bodies.path(name)) }
                return value
            }
        }
    }

    /// How many bytes are missing for requests of so many to be taken; nil when they may be.
    private func lackOfRoom(forRequestsOf size: Int?, in db: Database) throws -> Int? {
        // What was given up a moment ago is for what is written now.
        guard let size else { return max(1, self.reserve.lack) }
        guard size > 0, self.reserve.keep(forRequestsOf: size) > 0 else { return nil }
        // What is in the file already needs no room for a second time.
        _ = try? db.checkpoint(.truncate)
        let missing = self.reserve.keep(forRequestsOf: size)
        return missing > 0 ? missing : nil
    }

    /// Gives up what was reserved for when the disk is full, and brings into the file what is in the journal.
    func makeRoom() {
        _ = self.reserve.release()
        self.isReserveUsed.store(true, ordering: .relaxed)
        // What still keeps it from being written, the next transaction says.
        self.emptyJournal()
    }

    /// Reads what the last transaction left, beside whatever is written at the same time; repairs nothing.
    func read<Value: Sendable>(_ body: (StoreRecords) throws -> Value) throws(QueueError) -> Value {
        try self.reader.read(body)
    }

    /// Tells the other processes to look into the queue: those that watch ``StorePaths/lock`` for being read.
    func notifySender() { self.file.notifySender() }

    /// Gives back the room on the disk that a file takes which is mostly empty.
    ///
    /// For when nothing else is to be done; it does nothing while another process is at the file.
    func tidy() throws(QueueError) {
        try self.use { database, _ in
            defer { self.reserve.shrink() }
            try database.writeWithoutTransaction { db in
                let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
                let used = try Int.fetchOne(db, sql: "PRAGMA page_count").map { $0 - free } ?? 0
                // What is used, up to 16 MiB, is copied, and until that is done no process can enqueue.
                guard free > 2048, free > used, used < 8192 else { return }
                // While another process is at the file, another time.
                try? db.execute(sql: "VACUUM")
                _ = try? db.checkpoint(.truncate)
            }
        }
    }

    /// Removes bodies that belong to no request, which a process left that died.
    @discardableResult
    func removeOrphanedBodies() throws(QueueError) -> Int {
        try self.use { database, _ in
            // In no transaction: what is looked up must be what is true once the lock on the body is taken.
            try database.inDatabase { db in
                let statement = try db.cachedStatement(sql: "SELECT 1 FROM request WHERE bodyFile = ?")
                return try self.bodies.removeOrphans(
                    isKnown: { name in try Int.fetchOne(statement, arguments: [name]) != nil },
                    remove: { name in StoreFiles.remove(self.bodies.path(name)) }
                )
            }
        }
    }

    /// Makes sure that the file is still under its name, and makes it anew where it was removed.
    func checkPlace() throws(QueueError) { try self.use { _, _ in } }

    /// Takes everything out of the journal, where secrets of what was delivered or cancelled would stay.
    ///
    /// While another process reads it stays as it is, until the next time.
    func emptyJournal() {
        _ = try? self.use { database, _ in Self.emptyJournal(of: database) }
    }

    private static func emptyJournal(of database: DatabaseQueue) {
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    /// Closes the file; everything fails with ``QueueError/closed`` from then on.
    func close() {
        self.reader.close()
        self.file.close { Self.emptyJournal(of: $0) }
    }

    // MARK: Damage

    /// Looks through the database, bodies in files excepted; a damaged one is replaced.
    ///
    /// SQLite finds damage where it looks: an index that misleads would hide a request or change an order without a word.
    ///
    /// - Parameter repairs: Whether a damaged one is replaced; else that is only thrown.
    /// - Throws: ``QueueError``.
    func check(repairs: Bool = true) throws(QueueError) {
        try self.use(repairs: repairs) { database, _ in try database.read { try StoreErrors.check($0) } }
    }

    /// Looks through the whole file, which takes as long as that is: a damaged one is replaced, a request that is not
    /// what was taken is held.
    ///
    /// - Returns: How many are held because they or their bodies are damaged.
    /// - Throws: ``QueueError/corrupt(path:setAsideAs:)`` with a second name after the file was replaced; that another
    ///   process sends, which alone may do that.
    @discardableResult
    func verify() throws(QueueError) -> Int {
        do {
            try self.check(repairs: false)
            let damaged = try self.damaged()
            return try self.transaction(durable: true) { try $0.verify(damaged: damaged) }
        } catch .corrupt(let path, nil) {
            let lock = self.sends ? nil : try FileLock(QueueFile.senderLock(of: path))
            guard try lock?.take() ?? true else {
                self.notifySender()
                let reason = "the file is damaged, and the process that sends has it open; end it, then repair the file"
                throw .io(path: path, reason: reason)
            }
            throw try self.repair()
        }
    }

    /// Those whose request or body is not what was taken; reads all bodies, and keeps no process waiting for that.
    private func damaged() throws(QueueError) -> [UUID] {
        var (damaged, last) = ([UUID](), Int64(0))
        while true {
            let page = try self.read { [last] records in try records.stored(after: last, limit: 64) }
            guard let end = page.last?.sequence else { return damaged }
            last = end
            for stored in page where stored.state != .running {
                guard let request = try stored.intact(self.bodies) else {
                    damaged.append(stored.id)
                    continue
                }
                // It would wait for another host; what is made anew has the right one.
                guard Gate(text: stored.gate) == Gate(request) else {
                    throw QueueError.corrupt(path: self.paths.database, setAsideAs: nil)
                }
            }
        }
    }

    /// Does something with the database, which is opened or made when that has to be.
    private func use<Value: Sendable>(
        repairs: Bool = true,
        _ body: (DatabaseQueue, inout StoreFile.State) throws -> Value
    ) throws(QueueError) -> Value {
        do { return try self.file.use(open: self.open, body) } catch {
            let meaning = StoreErrors.queueError(error, path: self.paths.database)
            guard case .corrupt = meaning else { throw meaning }
            if repairs, self.sends { throw try self.repair() }
            // The sender has to hear of it.
            self.notifySender()
            throw meaning
        }
    }

    /// Opens the file, or makes it where there is none, which it does without any other process at it.
    private func open(_ lock: FileLock?, after last: StoreFile.Files?) throws -> DatabaseQueue {
        let path = self.paths.database
        do { return try self.openOrMake(lock, after: last) } catch let error
            where StoreErrors.isFullDisk(error, path: path)
        {
            // SQLite's companions of it may need room that only the reserve has.
            guard self.reserve.release() else { throw error }
            self.isReserveUsed.store(true, ordering: .relaxed)
            return try self.openOrMake(lock, after: last)
        }
    }

    private func openOrMake(_ lock: FileLock?, after last: StoreFile.Files?) throws -> DatabaseQueue {
        let (path, stamp) = (self.paths.database, self.clock())
        let replacement = StoreReplacement(paths: self.paths, bodies: self.bodies, stamp: stamp)
        if let last, let current = try StoreFiles.identity(path), current != last.database,
            try !replacement.isSetAside(last.database)
        {
            try lock?.takeAlone(within: Self.patience)
            var journal: String?
            // It would be played into a file that it does not belong to.
            if last.journal != nil, try last.journal == StoreFiles.identity(self.paths.journal) {
                journal = StorePaths(try replacement.setAside(StorePaths.companions)).journal
            }
            let reason = "another file replaced this one while it was open; the queue goes on with the new one"
            self.salvaged(self.lost("\(reason): what waited in the old one is not in the new one", journal: journal))
        }
        if let database = try self.openCurrent() { return database }
        try lock?.takeAlone(within: Self.patience)
        for name in [self.paths.unfinished, self.paths.mended] { StorePaths.remove(name) }
        let salvage = try replacement.finish()
        var lost = salvage.map { QueueEvent.salvaged(recovered: $0.recovered, lost: nil, setAsideAs: $0.aside) }
        let hasJournal = try StoreFiles.size(self.paths.journal) > 0
        if try FileTrust.check(self.paths) ?? 0 > 0 { try StoreFile.rollBack(self.paths) }
        let size = try FileTrust.check(self.paths)
        if let size, size > 0 {
            // To switch to WAL writes into the file, and the file of another program must stay as it is.
            _ = try StoreFile.read(path) { try StoreSchema.check($0, path: path) }
        } else {
            // SQLite would remove the journal of a file that has lost everything, and take it for a new one.
            if size != nil, try self.paths.hasRemains {
                throw StoreDamage(message: "the file is empty, and its journal is not")
            }
            // It cannot be read without its file, and must not be played into another.
            if size == nil, hasJournal || last != nil {
                let journal = hasJournal ? StorePaths(try replacement.setAside()).journal : nil
                let reason = "the file was removed while it was open, and what waited in it is lost; a new one was made"
                lost = self.lost(reason, journal: journal)
            }
            if size == nil {
                // SQLite would cut the shared memory that connections to the file that is gone still read.
                for name in [self.paths.journal, self.paths.memory, self.paths.reserve] { StoreFiles.remove(name) }
                try StoreFiles.create(path)
                StoreFiles.syncFolder(self.paths.folder)
            }
        }
        let database = try self.connect(makingAt: size ?? 0 > 0 ? nil : stamp)
        if let lost { self.salvaged(lost) }
        return database
    }

    /// What others did to the file, whose journal may have another name now.
    private func lost(_ reason: String, journal: String?) -> QueueEvent {
        let journal = journal.map { ", and its journal kept as \($0)" } ?? ""
        return .failed(.io(path: self.paths.database, reason: reason + journal))
    }

    /// Opens a file that is up to date; nil where there is none.
    private func openCurrent() throws -> DatabaseQueue? {
        let path = self.paths.database
        guard let size = try FileTrust.check(self.paths), size > 0, try !StoreFiles.isThere(self.paths.replacement),
            try !StoreFiles.isThere(self.paths.rollback)
        else { return nil }
        let version = try StoreFile.read(path) { try StoreSchema.check($0, path: path) }
        guard version == StoreSchema.version else { return nil }
        return try self.connect()
    }

    /// Opens the file, which is brought up to date; SQLite makes those beside it as the file was.
    private func connect(makingAt stamp: Moment? = nil) throws -> DatabaseQueue {
        let path = self.paths.database
        for suffix in [""] + StorePaths.companions { StoreFiles.makePrivate(path + suffix) }
        let limit = self.settings.waitsUntil
        let database = try StoreFile.open(path, readOnly: false, waitingUntil: limit, makingAt: stamp)
        try StoreSchema.upgrade(database, path: path)
        return database
    }

    /// Replaces a damaged file by what can be read of it, and returns the error that says so.
    private func repair() throws(QueueError) -> QueueError {
        if self.repairs.load(ordering: .relaxed) == 3 { return .corrupt(path: self.paths.database, setAsideAs: nil) }
        self.isRepairing.store(true, ordering: .relaxed)
        defer { self.isRepairing.store(false, ordering: .relaxed) }
        do {
            let salvage = try self.file.alone {
                try StoreReplacement(paths: self.paths, bodies: self.bodies, stamp: self.clock()).replace()
            }
            self.repairs.add(1, ordering: .relaxed)
            self.salvaged(.salvaged(recovered: salvage.recovered, lost: salvage.lost, setAsideAs: salvage.aside))
            return .corrupt(path: self.paths.database, setAsideAs: salvage.aside)
        } catch {
            throw StoreErrors.queueError(error, path: self.paths.database)
        }
    }
}
