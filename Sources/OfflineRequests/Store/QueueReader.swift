// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
import GRDB
import NetPathSystem

/// Looks into the file of a queue; makes, changes and repairs nothing, and does not wait for writers.
///
/// For programs that show what waits and do not take part. Thread-safe; every function reads the file, and blocks for
/// as long as that takes. SQLite's own companions of the file (`-wal`, `-shm`) may be made.
public final class QueueReader: Sendable {
    private static let pageSize = 256

    /// The file of the queue.
    public let file: String

    private let store: StoreFile
    private let clock: @Sendable () -> Moment

    /// Opens a queue that is there.
    ///
    /// - Parameters:
    ///   - application: The identifier of the application, as for ``OfflineRequestQueue``.
    ///   - file: The file; nil for ``OfflineRequestQueue/standardFile(application:)``.
    /// - Throws: ``QueueError``: ``QueueError/missing(path:)`` where there is none,
    ///   ``QueueError/corrupt(path:setAsideAs:)`` when it is damaged.
    public convenience init(application: String? = nil, file: String? = nil) throws(QueueError) {
        try self.init(existing: QueueFile.path(of: file, application: application))
    }

    convenience init(existing path: String) throws(QueueError) {
        let paths = StorePaths(path)
        let found = try FileTrust.check(paths)
        try Self.checkRepair(paths)
        guard let size = found else { throw .missing(path: path) }
        if size == 0 {
            throw try paths.hasRemains ? .corrupt(path: path, setAsideAs: nil) : .missing(path: path)
        }
        self.init(paths, lock: FileLock(existing: paths.lock), clock: { .now() })
        do throws(QueueError) {
            _ = try self.use { db in try StoreSchema.check(db, path: path) }
        } catch {
            if case .corrupt = error, try !paths.mayBeQueue(size) { throw .notAQueue(path: path) }
            throw error
        }
    }

    /// Reads beside those who write in the same process.
    init(_ paths: StorePaths, lock: FileLock?, clock: @escaping @Sendable () -> Moment) {
        self.file = paths.database
        self.clock = clock
        // For how long a process may have the file alone, to open or to repair it.
        self.store = StoreFile(paths, lock: lock, patience: .seconds(2))
    }

    func close() { self.store.close() }

    /// Makes sure that the file is not about to be replaced by one that a process has repaired.
    private static func checkRepair(_ paths: StorePaths) throws(QueueError) {
        guard try StoreFiles.isThere(paths.replacement) else { return }
        let reason = "its repair was interrupted, and goes on when a request is put into it or sent"
        throw .io(path: paths.database, reason: reason)
    }

    // MARK: What is in it

    /// Counts the requests in each state, and looks for damage in the whole file.
    ///
    /// - Throws: ``QueueError``, also when the file is damaged elsewhere.
    public func counts() throws(QueueError) -> QueueCounts {
        try self.use { try StoreErrors.check($0, quickly: true) }
        var counts = try self.read { try $0.counts }
        if counts.running > 0, !FileLock.isTaken(at: QueueFile.senderLock(of: self.file)) {
            // The process that was sending them is there no more.
            (counts.ready, counts.running) = (counts.ready + counts.running, 0)
        }
        return counts
    }

    /// Since when the request has waited that has waited longest; nil when none waits.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    package func oldest() throws(QueueError) -> Date? {
        try self.read { records in
            let first = "SELECT min(enqueued) FROM request WHERE \(StoreSchema.pending)"
            let enqueued = try Int64?.fetchOne(records.db, sql: first) ?? nil
            return enqueued.map { records.status.wall($0, at: records.stamp) }
        }
    }

    /// Whether the queue is paused, in whichever process that was done.
    ///
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func isPaused() throws(QueueError) -> Bool { try self.read { $0.status.isPaused } }

    /// Reads a request and where it stands.
    ///
    /// - Parameter id: The id.
    /// - Returns: The record; nil when there is none, or no more.
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func record(id: UUID) throws(QueueError) -> RequestRecord? { try self.record(id, QueueStatus()) }

    /// The same, beside a queue of this process that says where it stands.
    func record(_ id: UUID, _ status: QueueStatus) throws(QueueError) -> RequestRecord? {
        let (record, isPaused) = try self.read { (try $0.record(id), $0.status.isPaused) }
        return record.map { status.explain([$0], isPaused: isPaused, in: self.file)[0] }
    }

    /// How and when a request left the queue, and with what status: of the last ten thousand, for a day.
    ///
    /// - Parameter id: The id.
    /// - Returns: `succeeded`, `cancelled` or `dead`, the time, and the status of the answer; nil when it is not among them.
    /// - Throws: ``QueueError`` when the file cannot be read.
    public func end(of id: UUID) throws(QueueError) -> (state: RequestState, date: Date, status: Int?)? {
        try self.read { records in try records.end(of: id) }
    }

    /// Reads requests, a page at a time, in the order in which they were enqueued; those of a damaged file that can be
    /// read.
    ///
    /// - Parameters:
    ///   - states: Those that are wanted.
    ///   - body: Called with each of them; returns whether to go on.
    /// - Throws: ``QueueError`` when the file cannot be read, or after the last request when not all can be, and what `body`
    ///   throws.
    public func forEach(in states: Set<RequestState>, _ body: (RequestRecord) throws -> Bool) throws {
        var (last, isWhole) = (Int64(0), try !self.isDamaged())
        while true {
            let page = try self.page(in: states, after: last, limit: Self.pageSize, QueueStatus(), isDamaged: !isWhole)
            isWhole = isWhole && page.isWhole
            guard try page.records.allSatisfy(body) else { return }
            guard page.records.count == Self.pageSize, let end = page.records.last else { break }
            last = end.sequence
        }
        if !isWhole { throw QueueError.corrupt(path: self.file, setAsideAs: nil) }
    }

    private func isDamaged() throws(QueueError) -> Bool {
        do {
            try self.use { try StoreErrors.check($0, quickly: true) }
            return false
        } catch {
            guard case .corrupt = error else { throw error }
            return true
        }
    }

    /// Reads requests in the order of their numbers, and goes on behind those that cannot be read.
    ///
    /// - Returns: The requests, fewer than the limit only when there are no more, all of a damaged file, and whether none is
    ///   missing.
    func page(
        in states: Set<RequestState>,
        after last: Int64,
        limit: Int,
        _ status: QueueStatus,
        isDamaged: Bool = false
    ) throws(QueueError) -> (records: [RequestRecord], isWhole: Bool) {
        // In no transaction: SQLite does not end one any more that has met damage.
        let (page, isWhole, isPaused) = try self.use(inTransaction: false) { db in
            let records = try self.records(db, (try? StoreStatus.read(db)) ?? StoreStatus(at: self.clock()))
            let isPaused = records.status.isPaused
            do {
                if !isDamaged { return (try records.page(states: states, after: last, limit: limit), true, isPaused) }
            } catch {
                guard StoreErrors.isDamage(error) else { throw error }
            }
            return (try records.readable(states: states, after: last), false, isPaused)
        }
        return (status.explain(page, isPaused: isPaused, in: self.file), isWhole)
    }

    // MARK: Reading

    /// Reads what the last transaction left.
    ///
    /// - Throws: ``QueueError/corrupt(path:setAsideAs:)`` without a second name when what is read is damaged.
    func read<Value: Sendable>(_ body: (StoreRecords) throws -> Value) throws(QueueError) -> Value {
        try self.use { db in try body(self.records(db, StoreStatus.read(db))) }
    }

    private func records(_ db: Database, _ status: @autoclosure () throws -> StoreStatus) throws -> StoreRecords {
        try StoreSchema.check(db, path: self.file)
        let bodies = BodyFiles(folder: self.store.paths.bodies)
        return StoreRecords(db: db, status: try status(), stamp: self.clock(), bodies: bodies)
    }

    private func use<Value: Sendable>(
        inTransaction: Bool = true,
        _ body: (Database) throws -> Value
    ) throws(QueueError) -> Value {
        let path = self.file
        do {
            return try self.store.use(
                open: { _, _ in
                    try Self.checkRepair(self.store.paths)
                    guard try StoreFiles.identity(path) != nil else {
                        throw QueueError.io(path: path, reason: "the file is gone")
                    }
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
        try self.store.alone {
            guard try StoreFiles.size(self.store.paths.journal) == 0 else { return nil }
            return try StoreFile.readUnshared(self.file, body)
        }
    }
}
