// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathSystem
import Synchronization

/// A body that is in a file of the queue's own.
///
/// As long as this object lives without ``keep()`` the file belongs to no request and goes with it. The lock on the file
/// says to the process that tidies up that it is in use.
final class BodyLease: Sendable {
    let path: String
    private let descriptor: FileDescriptor
    private let kept = Atomic<Bool>(false)

    fileprivate init(path: String, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        if !self.kept.load(ordering: .relaxed) { StoreFiles.remove(self.path) }
    }

    /// The file belongs to a request of the queue now.
    func keep() { self.kept.store(true, ordering: .relaxed) }
}

/// The folder beside a queue that has the bodies that are too long for the database.
struct BodyFiles: Sendable {
    /// Longer bodies do not go into the database: a transaction writes everything twice.
    static let threshold = 64 << 10
    static let piece = 1 << 18

    let folder: String

    /// Where a body is; a name that no queue gives leads to no file.
    func path(_ name: String) -> String { "\(self.folder)/\(UUID(uuidString: name)?.text ?? "none")" }

    struct Copy: Sendable {
        var name: String
        var lease: BodyLease
        var size = 0
        var checksum = Checksum()
    }

    func write(_ body: Data) throws(QueueError) -> Copy {
        try self.make { (write) throws(QueueError) in for piece in body.pieces { try write(piece) } }
    }

    func copy(_ source: String, limit: Int) throws(QueueError) -> Copy {
        try self.make { (write) throws(QueueError) in try Self.read(source, limit: limit, write) }
    }

    /// The checksum of a body.
    ///
    /// - Throws: ``QueueError/bodyUnreadable(path:reason:)`` where there is none, any other error where it is not given now.
    func checksum(_ name: String) throws(QueueError) -> Int64 {
        var checksum = Checksum()
        do {
            try Self.read(self.path(name), limit: .max) { checksum.add($0.span) }
        } catch .bodyUnreadable(let path, let reason) {
            throw try StoreFiles.identity(path) == nil
                ? .bodyUnreadable(path: path, reason: reason) : .io(path: path, reason: reason)
        }
        return checksum.value
    }

    private typealias Piece = (Data) throws(QueueError) -> Void

    /// Reads a file in pieces, all but the last of the same length.
    private static func read(_ path: String, limit: Int, _ body: Piece) throws(QueueError) {
        // Without O_NONBLOCK a named pipe would hold up the caller for ever.
        guard let input = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            throw self.unreadable(path, errno)
        }
        guard let status = input.status else { throw self.unreadable(path, errno) }
        guard status.isFile else { throw .bodyUnreadable(path: path, reason: "it is not a regular file") }
        guard status.st_size <= limit else { throw .bodyTooLarge(bytes: Int(status.st_size), limit: limit) }
        var size = 0
        while true {
            var piece = Data()
            while piece.count < Self.piece {
                guard let bytes = input.read(limit: Self.piece - piece.count) else {
                    if errno == EINTR { continue }
                    throw self.unreadable(path, errno)
                }
                if bytes.isEmpty { break }
                piece.append(contentsOf: bytes)
            }
            if piece.isEmpty { return }
            size += piece.count
            // It may grow while it is copied.
            guard size <= limit else { throw .bodyTooLarge(bytes: size, limit: limit) }
            try body(piece)
        }
    }

    /// What the system said of a body; that it cannot give it now says nothing of the body.
    private static func unreadable(_ path: String, _ number: Int32) -> QueueError {
        let reason = SystemReason.text(number)
        return StoreFiles.isPassing(number)
            ? .io(path: path, reason: reason) : .bodyUnreadable(path: path, reason: reason)
    }

    /// Takes away the files that belong to no request, which a process left that died, except those that a process writes.
    ///
    /// Only files that a queue has made: a link in place of the folder leads to one of a user's, and so may a name in it.
    func removeOrphans(isKnown: (String) throws -> Bool, remove: (String) throws -> Void) rethrows -> Int {
        var count = 0
        guard (try? FileTrust.checkFolder(self.folder)) != nil else { return 0 }
        for name in FileAccess.names(in: self.folder) where UUID(uuidString: name) != nil {
            // The lock first: the process that releases it has told the database before.
            guard let descriptor = FileDescriptor(unsafe open(self.path(name), Self.orphanFlags)),
                flock(descriptor.number, LOCK_EX | LOCK_NB) == 0, try !isKnown(name)
            else { continue }
            try remove(name)
            count += 1
        }
        return count
    }

    private static let orphanFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW

    private func make(
        attempts: Int = 8,
        _ fill: (Piece) throws(QueueError) -> Void
    ) throws(QueueError) -> Copy {
        try StoreFiles.createFolder(self.folder)
        try FileTrust.checkFolder(self.folder)
        let name = UUID().text
        let path = self.path(name)
        guard let descriptor = FileDescriptor(unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)) else {
            throw StoreFiles.error(errno, path)
        }
        FileTrust.giveToOwnerOfFolder(descriptor, path)
        var copy = Copy(name: name, lease: BodyLease(path: path, descriptor: descriptor))
        // Until then it looked like one that was left, which another process may be about to remove, or just has.
        let isLocked = flock(descriptor.number, LOCK_EX | LOCK_NB) == 0
        if !isLocked, errno != EWOULDBLOCK { throw StoreFiles.error(errno, path) }
        guard isLocked, FileAccess.exists(path) else {
            guard attempts > 1 else {
                throw .io(path: path, reason: "other programs lock or remove this while it is written; try again")
            }
            return try self.make(attempts: attempts - 1, fill)
        }
        let file = FileHandle(fileDescriptor: descriptor.number)
        try fill { (piece) throws(QueueError) in
            do { try file.write(contentsOf: piece) } catch { throw StoreFiles.error(errno, path) }
            copy.checksum.add(piece.span)
            copy.size += piece.count
        }
        guard fsync(descriptor.number) == 0 else { throw StoreFiles.error(errno, path) }
        StoreFiles.syncFolder(self.folder)
        return copy
    }
}

extension Data {
    /// The bytes as files are read: at least one piece.
    var pieces: some Sequence<Data> {
        stride(from: 0, through: Swift.max(0, self.count - 1), by: BodyFiles.piece).lazy.map { start in
            self.dropFirst(start).prefix(BodyFiles.piece)
        }
    }
}

/// A checksum of bytes, for damage and not against malice.
///
/// Every step is a bijection of what was before, so that a single damaged word of eight bytes never goes unnoticed, and
/// other damage does once in 2^64 cases. That of a request is the exclusive or of those of its parts.
struct Checksum: Sendable {
    private(set) var value: Int64 = 0

    static func of(_ text: String) -> Int64 {
        var checksum = Checksum()
        checksum.add(text.utf8.span)
        return checksum.value
    }

    /// The checksum of bytes; zero where there are none.
    static func of(_ bytes: Data?) -> Int64 {
        var checksum = Checksum()
        if let bytes { for piece in bytes.pieces { checksum.add(piece.span) } }
        return checksum.value
    }

    mutating func add(_ span: Span<UInt8>) {
        var hash = 0x9E37_79B9_7F4A_7C15 ^ UInt64(span.count)
        var index = 0
        while index + 8 <= span.count {
            let word = unsafe span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            Self.mix(UInt64(littleEndian: word), into: &hash)
            index += 8
        }
        var word: UInt64 = 0
        while index < span.count {
            word = word << 8 | UInt64(span[index])
            index += 1
        }
        Self.mix(word, into: &hash)
        self.value = (self.value << 1 | (self.value >> 63 & 1)) ^ Int64(bitPattern: hash)
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}
