// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import Synchronization

/// The requests of a queue on disk.
///
/// Everything is in the database; what is kept in memory besides, the numbers of gates and what the last transaction
/// left, is true for as long as the file is as that left it. All functions block; any thread may call them, but none
/// from within a transaction.
///
/// The file may be used by several processes. Each looks before every transaction whether the name still leads to the
/// file it has open: a process that finds it damaged puts another in its place.
final class RequestStore: Sendable {
    /// Where the files are.
    let paths: StorePaths
    /// How much is kept.
    let limits: QueueLimits
    /// Where the long bodies are.
    let bodies: BodyFiles

    private let clock: @Sendable () -> ClockStamp
    private let salvaged: @Sendable (QueueSalvage) -> Void
    private let lastEndpoint = Mutex<Endpoint?>(nil)
    private let writer: StoreAccess
    private let reader: StoreReader

    /// Opens a queue, or makes one.
    ///
    /// - Parameters:
    ///   - path: The database; the folder is made when it is not there.
    ///   - limits: How much is kept.
    ///   - clock: What the clocks show.
    ///   - salvaged: Called after the file was found damaged, set aside and replaced, by whatever function found it.
    /// - Throws: What is in the way: a folder, another database, a newer schema, a file that cannot be written.
    init(
        path: String,
        limits: QueueLimits = QueueLimits(),
        clock: @escaping @Sendable () -> ClockStamp = { ClockStamp.now() },
        salvaged: @escaping @Sendable (QueueSalvage) -> Void = { _ in }
    ) throws(QueueError) {
        self.paths = StorePaths(path)
        self.limits = limits
        self.bodies = BodyFiles(folder: self.paths.bodies)
        self.clock = clock
        self.salvaged = salvaged
        try FileTrust.check(self.paths)
        switch StoreFiles.kind(path) {
        case .folder: throw .isDirectory(path: path)
        case .other: throw .notAQueue(path: path)
        case .file where !StoreFiles.isWritable(path): throw .readOnly(path: path)
        case .file, .nothing: ()
        }
        try StoreFiles.createFolder(self.paths.folder)
        self.writer = StoreAccess(lock: try StoreLock(self.paths.lock))
        self.reader = StoreReader(self.paths, lock: try StoreLock(self.paths.lock), clock: clock)
        do { try self.withWriter { _ in } } catch .corrupt(_, setAsideAs: _?) {
            // It has been replaced.
            try self.withWriter { _ in }
        }
    }

    /// Gets a request ready to be inserted: checks it, encodes it, and copies a long body.
    ///
    /// Best on the thread of whoever enqueues; the queue's own is for transactions.
    func prepare(_ request: RetryableRequest) throws(QueueError) -> PreparedRequest {
        let last = self.lastEndpoint.withLock { $0 }
        let endpoint = try request.validEndpoint(maxBodyBytes: self.limits.maxBodyBytes, after: last)
        if endpoint != last { self.lastEndpoint.withLock { $0 = endpoint } }
        return try PreparedRequest(request, to: endpoint.authority, limits: self.limits, bodies: self.bodies)
    }

    /// Changes the queue: everything that is done with the transaction, or nothing.
    ///
    /// - Parameters:
    ///   - durable: Whether it must survive the loss of power, and not only the death of the process.
    ///   - body: What is to be done. What it throws ends the transaction.
    /// - Returns: What the body returns.
    /// - Throws: After ``QueueError/corrupt(path:setAsideAs:)`` the file has been replaced: do it again.
    func transaction<Value: Sendable>(
        durable: Bool,
        _ body: (StoreTransaction) throws -> Value
    ) throws(QueueError) -> Value {
        let stamp = self.clock()
        return try self.withWriter { connection in
            try connection.transaction(durable: durable, at: stamp, limits: self.limits, bodies: self.bodies, body)
        }
    }

    /// Puts a request behind all others, durably, if that needs to wait for nobody and takes nothing from anybody.
    ///
    /// - Parameters:
    ///   - prepared: The request.
    ///   - then: Called when it is durable, before anybody in this process can see it; with how many requests had left
    ///     by then without having been delivered.
    /// - Returns: Whether it is in the queue. For every reason not to be, ``transaction(durable:_:)`` does or says the
    ///   right thing.
    func append(_ prepared: PreparedRequest, then: (Insertion, _ ends: Int64) -> Void) -> Bool {
        let stamp = self.clock()
        let isDone = try? self.writer.atOnce(self.paths) { connection -> Bool? in
            let result = try connection.transaction(
                durable: true,
                waits: false,
                at: stamp,
                limits: self.limits,
                bodies: self.bodies
            ) { store in
                try store.takesNothing(prepared) ? (store.insert(prepared), store.tally.ends) : nil
            }
            guard let (insertion, ends) = result else { return false }
            then(insertion, ends)
            return true
        }
        return isDone == true
    }

    /// Reads what the last transaction left, beside whatever is written at the same time; repairs nothing.
    func read<Value: Sendable>(_ body: (StoreRecords, StoreTally) throws -> Value) throws(QueueError) -> Value {
        try self.reader.read(body)
    }

    /// Tells the other processes to look into the queue: those that watch ``StorePaths/lock`` for being read.
    func ring() { self.writer.ring() }

    /// Gives back the room on the disk that a file takes which is mostly empty; costs microseconds when it is not.
    ///
    /// For when nothing else is to be done; it does nothing while another process is at the file.
    func tidy() throws(QueueError) {
        try self.withWriter { connection in try connection.tidy() }
    }

    /// Keeps room on the disk for what has to be recorded when there is no other.
    ///
    /// - Returns: Whether it could be had.
    func takeReserve() -> Bool { StoreReserve(path: self.paths.reserve).take() }

    /// Gives that room back, to be used at once.
    ///
    /// - Returns: Whether there was any.
    func giveReserve() -> Bool { StoreReserve(path: self.paths.reserve).give() }

    /// Empties the journal, which may be what fills the disk, if the file can take what is in it.
    func emptyJournal() throws(QueueError) {
        let path = self.paths.database
        guard case .file(_, let size) = StoreFiles.kind(path) else { return }
        try self.withWriter { try $0.checkpoint(size: size, room: StoreFiles.room(path)) }
    }

    /// Looks through the whole file, which takes as long as that is; a damaged one is replaced.
    func verify() throws(QueueError) {
        let stamp = self.clock()
        try self.withWriter { connection in try connection.verify(at: stamp, bodies: self.bodies) }
    }

    /// Removes bodies that belong to no request, which a process left that died.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func removeOrphanedBodies() throws(QueueError) -> Int {
        try self.withWriter { connection in
            try connection.removeOrphans(self.bodies) { name in StoreFiles.remove(self.bodies.path(name)) }
        }
    }

    /// Makes sure that the file is still under its name, and makes it anew where somebody has removed it.
    func checkPlace() throws(QueueError) { try self.withWriter { _ in } }

    /// Closes the file; everything fails with ``QueueError/closed`` from then on.
    func close() {
        self.reader.close()
        self.writer.close()
    }

    // MARK: Damage

    /// Does something with the connection that writes, which is opened when that has to be.
    private func withWriter<Value: Sendable>(
        _ body: (StoreConnection) throws -> Value
    ) throws(QueueError) -> Value {
        do {
            return try self.writer.shared(self.paths) { identity in
                if !self.writer.isOpen(identity), let lost = try self.writer.openOrMake(self.paths, at: self.clock()) {
                    self.salvaged(lost)
                }
                return try self.writer.withConnection(body)
            }
        } catch {
            throw self.repair(error)
        }
    }

    /// Replaces a damaged file by what can be read of it, if that is what an error is about.
    ///
    /// - Returns: The error for whoever found it.
    private func repair(_ error: any Error) -> QueueError {
        let path = self.paths.database
        guard let damaged = error as? DamagedFile else { return StoreErrors.queueError(error, path: path) }
        do {
            let salvage = try self.writer.alone {
                try self.writer.salvage(damaged, self.paths, bodies: self.bodies, at: self.clock())
            }
            guard let salvage else { return .io(path: path, reason: "the damaged file was just replaced; try again") }
            self.salvaged(salvage)
            return .corrupt(path: path, setAsideAs: salvage.asideAs)
        } catch {
            return StoreErrors.queueError(error, path: path)
        }
    }
}
