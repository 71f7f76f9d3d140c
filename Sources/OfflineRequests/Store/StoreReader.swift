// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Reads a queue; makes, changes and repairs nothing, and waits for nobody who writes.
///
/// SQLite's own companions of the file (`-wal`, `-shm`) are excepted. All functions block; any thread may call them.
final class StoreReader: Sendable {
    /// How long somebody may have the file alone, to open or to repair it, before a reader gives up.
    private static let patience: Duration = .seconds(2)

    let paths: StorePaths
    private let clock: @Sendable () -> ClockStamp
    private let access: StoreAccess

    /// Reads beside those who write in the same process.
    init(_ paths: StorePaths, lock: StoreLock, clock: @escaping @Sendable () -> ClockStamp) {
        self.paths = paths
        self.clock = clock
        self.access = StoreAccess(lock: lock)
    }

    /// Opens a queue that is there.
    ///
    /// - Throws: What is in the way; ``QueueError/missing(path:)`` where nobody has put anything yet.
    init(existing path: String) throws(QueueError) {
        self.paths = StorePaths(path)
        self.clock = { .now() }
        try FileTrust.check(self.paths)
        switch StoreFiles.kind(path) {
        case .folder: throw .isDirectory(path: path)
        case .other: throw .notAQueue(path: path)
        case .nothing: throw .missing(path: path)
        case .file(_, size: 0):
            // With a journal it is one that has lost everything.
            if case .file(_, size: 1...) = StoreFiles.kind("\(path)-wal") {
                throw .corrupt(path: path, setAsideAs: nil)
            }
            throw .missing(path: path)
        case .file: ()
        }
        self.access = StoreAccess(lock: StoreLock(existing: self.paths.lock), patience: Self.patience)
        do throws(QueueError) { try self.use { try $0.check(path: path) } } catch {
            // A file of somebody else's looks as damaged as one of ours whose beginning was overwritten.
            guard case .corrupt = error, let pages = try? DatabasePages(database: path), !pages.isQueue else {
                throw error
            }
            throw .notAQueue(path: path)
        }
    }

    /// Reads what the last transaction left.
    ///
    /// - Throws: ``QueueError/corrupt(path:setAsideAs:)`` without a second name when what is read is damaged.
    func read<Value: Sendable>(_ body: (StoreRecords, StoreTally) throws -> Value) throws(QueueError) -> Value {
        let (stamp, bodies) = (self.clock(), BodyFiles(folder: self.paths.bodies))
        return try self.use { connection in try connection.read(at: stamp, bodies: bodies, body) }
    }

    /// Looks for damage in every page of the file.
    func inspect() throws(QueueError) { try self.use { try $0.inspect() } }

    func close() { self.access.close() }

    private func use<Value: Sendable>(_ body: (StoreConnection) throws -> Value) throws(QueueError) -> Value {
        do {
            return try self.access.shared(self.paths) { identity in
                try self.access.open(self.paths, as: identity, readOnly: true)
                return try self.access.withConnection(body)
            }
        } catch is DamagedFile {
            throw .corrupt(path: self.paths.database, setAsideAs: nil)
        } catch {
            throw StoreErrors.queueError(error, path: self.paths.database)
        }
    }
}
