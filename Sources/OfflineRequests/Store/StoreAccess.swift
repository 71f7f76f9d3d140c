// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// A file is damaged: which, and what is wrong with it.
struct DamagedFile: Error {
    var identity: FileIdentity?
    var cause: any Error
}

/// A connection, and what keeps the file in its place while that is used.
final class StoreAccess: Sendable {
    private let lock: StoreLock?
    /// How long is waited for somebody who has the file alone; nil for as long as it takes.
    private let patience: Duration?
    /// Held while the file is used: what a process locks, all of its threads have.
    private let turn = Mutex(())
    private let state = Mutex(State())

    private struct State: Sendable {
        var connection: StoreConnection?
        var isClosed = false
        /// How often the file was replaced: a disk that damages everything must not be filled with copies.
        var salvages = 0
    }

    private var connection: StoreConnection? {
        get { self.state.withLock { $0.connection } }
        set { self.state.withLock { $0.connection = newValue } }
    }

    /// Without a lock nobody has opened the file to write yet, or somebody else's user, whose it is.
    init(lock: StoreLock?, patience: Duration? = nil) {
        self.lock = lock
        self.patience = patience
    }

    /// Tells the other processes to look into the queue.
    func ring() { self.lock?.ring() }

    func close() {
        self.turn.withLock { _ in
            self.state.withLock { state in
                state.connection = nil
                state.isClosed = true
            }
        }
    }

    /// Does something while nobody replaces the file.
    func shared<Value: Sendable>(
        _ paths: StorePaths,
        _ body: (FileIdentity?) throws -> Value
    ) throws -> Value {
        try self.turn.withLock { _ in
            if self.state.withLock({ $0.isClosed }) { throw QueueError.closed }
            try self.share(paths)
            defer { self.lock?.release() }
            let identity = StoreFiles.identity(paths.database)
            // What others put under the names later is theirs.
            guard self.lock?.isInPlace ?? true else { throw QueueError.removed(path: paths.database) }
            do { return try body(identity) } catch {
                guard StoreErrors.isDamage(error) else { throw error }
                throw DamagedFile(identity: StoreFiles.identity(paths.database), cause: error)
            }
        }
    }

    private func share(_ paths: StorePaths) throws {
        guard let lock = self.lock else { return }
        guard let patience = self.patience else { return lock.share() }
        if lock.share(within: patience) { return }
        throw QueueError.io(
            path: paths.database,
            reason: "another process is opening or repairing the queue; try again"
        )
    }

    /// Does something to the file that is open, unless it would have to wait for anybody.
    ///
    /// - Returns: What the body returns; nil also when nothing was done.
    func atOnce<Value: Sendable>(
        _ paths: StorePaths,
        _ body: (StoreConnection) throws -> Value?
    ) throws -> Value? {
        try self.turn.withLockIfAvailable { _ in
            guard let lock = self.lock, lock.shareAtOnce() else { return nil }
            defer { lock.release() }
            // Closed, there is none.
            guard let connection = self.connection, connection.identity == StoreFiles.identity(paths.database) else {
                return nil
            }
            return try body(connection)
        } ?? nil
    }

    /// Does something while nobody uses the file.
    func alone<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        try self.turn.withLock { _ in
            if self.state.withLock({ $0.isClosed }) { throw QueueError.closed }
            self.lock?.takeAlone()
            defer { self.lock?.release() }
            return try body()
        }
    }

    func withConnection<Value>(_ body: (StoreConnection) throws -> Value) throws -> Value {
        guard let connection = self.connection else { throw QueueError.closed }
        return try body(connection)
    }

    /// Whether it is this file that is open.
    func isOpen(_ identity: FileIdentity?) -> Bool {
        self.connection.map { $0.identity == identity } ?? false
    }

    /// Opens a file, unless it is open.
    func open(_ paths: StorePaths, as identity: FileIdentity?, readOnly: Bool) throws {
        guard let identity else { throw QueueError.io(path: paths.database, reason: "the file is gone") }
        if self.isOpen(identity) { return }
        self.connection = nil
        self.connection = try StoreConnection(paths.database, identity: identity, readOnly: readOnly)
    }

    /// Opens the file, makes it where there is none, and brings it up to date; without anybody else at it.
    ///
    /// - Returns: What was lost with a file that is gone; nil when nobody knows of one.
    func openOrMake(_ paths: StorePaths, at stamp: ClockStamp) throws -> QueueSalvage? {
        self.lock?.takeAlone()
        let wasOpen = self.connection != nil
        self.connection = nil
        try StoreReplacement(paths).finish(at: stamp)
        let path = paths.database
        var lost: QueueSalvage?
        switch StoreFiles.kind(path) {
        case .folder: throw QueueError.isDirectory(path: path)
        case .other: throw QueueError.notAQueue(path: path)
        case .nothing:
            // It cannot be read without its file, and must not be played into another.
            if case .file(_, size: 1...) = StoreFiles.kind("\(path)-wal") {
                lost = QueueSalvage(recovered: 0, lost: nil, asideAs: try StoreReplacement(paths).setAside(at: stamp))
            } else if wasOpen {
                lost = QueueSalvage(recovered: 0, lost: nil, asideAs: nil)
            }
            try StoreFiles.create(path)
            StoreFiles.syncFolder(paths.folder)
        case .file(_, let size):
            // SQLite would remove the journal of a file that has lost everything.
            if size == 0, case .file(_, size: 1...) = StoreFiles.kind("\(path)-wal") {
                throw Damage(reason: "the file is empty, and its journal is not")
            }
            if size > 0 {
                // To switch to WAL writes into the file, and somebody else's must stay as it is.
                try self.open(paths, as: StoreFiles.identity(path), readOnly: true)
                try self.withConnection { connection in try connection.check(path: path) }
                self.connection = nil
            }
            // SQLite makes those beside it as the file was.
            for suffix in ["", "-wal", "-shm"] { StoreFiles.makePrivate(path + suffix) }
        }
        try self.open(paths, as: StoreFiles.identity(path), readOnly: false)
        try self.withConnection { connection in try connection.prepare(path: path, at: stamp) }
        return lost
    }

    /// Replaces a damaged file by what can be read of it; without anybody else at it.
    ///
    /// - Returns: What was saved; nil when somebody else has replaced it.
    func salvage(
        _ damaged: DamagedFile,
        _ paths: StorePaths,
        bodies: BodyFiles,
        at stamp: ClockStamp
    ) throws -> QueueSalvage? {
        guard StoreFiles.identity(paths.database) == damaged.identity else { return nil }
        let pages = try DatabasePages(database: paths.database)
        guard pages.isQueue else { throw QueueError.notAQueue(path: paths.database) }
        if let version = pages.newerVersion { throw QueueError.newerSchema(path: paths.database, version: version) }
        let salvages = self.state.withLock { state in
            state.salvages += 1
            return state.salvages
        }
        guard salvages <= 3 else { throw QueueError.corrupt(path: paths.database, setAsideAs: nil) }
        let replacement = StoreReplacement(paths)
        let contents = try replacement.make(of: pages, bodies: bodies, at: stamp)
        guard let aside = try replacement.finish(at: stamp) else { return nil }
        // Only now: closing it before would have tidied up the damaged file.
        self.connection = nil
        let lostBodies = StorePaths(aside).bodies
        _ = try bodies.removeOrphans(
            isKnown: { contents.bodies.contains($0) },
            remove: { name in
                try StoreFiles.createFolder(lostBodies)
                try StoreFiles.rename(bodies.path(name), to: "\(lostBodies)/\(name)")
            }
        )
        let lost = contents.expected.map { max(0, $0 - contents.recovered) }
        return QueueSalvage(recovered: contents.recovered, lost: lost, asideAs: aside)
    }
}
