// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// What tells a file from another that has its name later.
struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var number: UInt64

    init(_ status: stat) {
        self.device = UInt64(status.st_dev)
        self.number = UInt64(status.st_ino)
    }
}

extension FileDescriptor {
    /// Shares a lock on bytes, which belongs to the open file description and not to the process (fcntl_locking(2)).
    func share(from start: off_t, length: off_t = 1) { _ = self.lock(37, F_RDLCK, start, length) }

    /// Whether any other description shares a lock on a byte.
    func isShared(from start: off_t) -> Bool { self.lock(36, F_WRLCK, start, 1).map { $0 != F_UNLCK } ?? false }

    /// The commands are F_OFD_GETLK (36) and F_OFD_SETLK (37), which no module has.
    private func lock(_ command: Int32, _ type: Int32, _ start: off_t, _ length: off_t) -> Int32? {
        var lock = flock()
        lock.l_type = Int16(type)
        (lock.l_start, lock.l_len) = (start, length)
        return unsafe fcntl(self.number, command, &lock) == 0 ? Int32(lock.l_type) : nil
    }
}

/// The system calls of the store; every one by path.
///
/// The file of the queue itself is never opened here while a database has it open: closing any descriptor of it would
/// drop all locks that SQLite holds on it in this process (fcntl_locking(2)).
enum StoreFiles {
    /// What is under a path, a symbolic link itself unless it is followed; nil for nothing.
    ///
    /// - Throws: That the system does not say, which does not mean that nothing is there.
    static func status(_ path: String, following: Bool = false) throws(QueueError) -> stat? {
        if let status = FileAccess.status(path, following: following) { return status }
        if [ENOENT, ENOTDIR].contains(errno) { return nil }
        throw self.error(errno, path)
    }

    static func isThere(_ path: String) throws(QueueError) -> Bool { try self.status(path) != nil }

    private static func file(_ path: String) throws(QueueError) -> stat? {
        guard let status = try self.status(path, following: true), status.isFile else { return nil }
        return status
    }

    static func size(_ path: String) throws(QueueError) -> Int { try self.file(path).map { Int($0.st_size) } ?? 0 }

    static func identity(_ path: String) throws(QueueError) -> FileIdentity? {
        try self.file(path).map { FileIdentity($0) }
    }

    /// Opens a file, or makes a new, empty one for this user alone; the journal of a database gets the same mode from
    /// SQLite.
    @discardableResult
    static func create(_ path: String) throws(QueueError) -> FileDescriptor {
        // Never truncated: others may have it open.
        guard let file = FileDescriptor(unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)) else {
            throw self.error(errno, path)
        }
        FileTrust.giveToOwnerOfFolder(file, path)
        return file
    }

    /// Makes a folder for this user alone, and those above it as the system's mask has it.
    static func createFolder(_ path: String) throws(QueueError) {
        if let present = try? self.status(path, following: true), present.isFolder { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try self.createFolder(String(path[..<slash]))
        }
        guard unsafe mkdir(path, 0o700) == 0 else {
            if errno != EEXIST { throw self.error(errno, path) }
            return
        }
        let folder = FileDescriptor(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))
        if let folder { FileTrust.giveToOwnerOfFolder(folder, path) }
    }

    /// Takes a file from all other users; the file of another user is left as it is.
    static func makePrivate(_ path: String) { _ = unsafe chmod(path, 0o600) }

    static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

    /// Whether a database and its companions, as far as they are there, can be written.
    static func areWritable(_ database: String) -> Bool {
        let files = ([""] + StorePaths.companions).map { database + $0 }
        return files.allSatisfy { !FileAccess.exists($0) || self.isWritable($0) }
    }

    /// Whether a file has the application id of a queue, also where it is no database any more.
    ///
    /// For files that no process of a queue has open.
    static func isMarked(_ path: String) -> Bool {
        // https://sqlite.org/fileformat.html, 1.3.
        self.header(path)[68...].reduce(0) { $0 << 8 | Int64($1) } == StoreSchema.applicationID
    }

    /// Whether a file begins with zeroes, as a new one may after a loss of power; see ``isMarked(_:)``.
    static func isBlank(_ path: String) -> Bool { self.header(path).allSatisfy { $0 == 0 } }

    /// Whether a file begins as every database does, also where its end is missing; see ``isMarked(_:)``.
    static func beginsAsDatabase(_ path: String) -> Bool {
        let beginning = self.beginning(path, 16)
        return !beginning.isEmpty && "SQLite format 3\0".utf8.starts(with: beginning)
    }

    private static func header(_ path: String) -> [UInt8] {
        let header = self.beginning(path, 72)
        return header.count == 72 ? header : [UInt8](repeating: 0xff, count: 72)
    }

    private static func beginning(_ path: String, _ length: Int) -> [UInt8] {
        let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        return file?.read(limit: length) ?? []
    }

    /// Makes durable what is in a file; returns whether it is.
    static func sync(_ path: String) -> Bool {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return false }
        return fdatasync(file.number) == 0
    }

    static func rename(_ path: String, to other: String) throws(QueueError) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw self.error(errno, path) }
    }

    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Keeps connections of this process from bringing the journal into the database when they are closed, for as long as
    /// the descriptor is open: SQLite asks for the lock that no other process has, and a lock of an open file description
    /// keeps that even from the process itself (fcntl_locking(2)).
    static func holdOpen(_ database: String) -> FileDescriptor? {
        guard let file = FileDescriptor(unsafe open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        // What SQLite locks of every database to read it: https://sqlite.org/src/file/src/os.h (SHARED_FIRST, SHARED_SIZE).
        file.share(from: 0x4000_0002, length: 510)
        return file
    }

    /// Makes the names in a folder durable.
    static func syncFolder(_ folder: String) {
        guard let descriptor = FileDescriptor(unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else { return }
        _ = fsync(descriptor.number)
    }

    /// Whether the disk of a path, which need not be there, has no room at all.
    static func isFull(_ path: String) -> Bool { self.free(path) < 64 << 10 }

    /// How many bytes the disk of a path has room for; as many as can be where the system does not say.
    static func free(_ path: String) -> Int {
        var status = statvfs()
        guard unsafe statvfs("\(StorePaths(path).folder)/.", &status) == 0 else { return .max }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }

    /// Whether a reason of the system is a shortage or a fault that may pass, and says nothing of what was asked for.
    static func isPassing(_ number: Int32) -> Bool {
        [EMFILE, ENFILE, ENOMEM, EIO, ENOSPC, EDQUOT, EAGAIN, EINTR, ESTALE].contains(number)
    }

    static func error(_ number: Int32, _ path: String) -> QueueError {
        // What is not there has no permissions: it is the folder that keeps it from being made.
        let place = FileAccess.exists(path) ? path : StorePaths(path).folder
        return switch number {
        case ENOSPC, EDQUOT: .diskFull(path: path, missing: nil)
        case EISDIR: .isDirectory(path: path)
        case EACCES, EPERM, EROFS: .readOnly(path: place)
        default: .io(path: path, reason: SystemReason.text(number))
        }
    }
}
