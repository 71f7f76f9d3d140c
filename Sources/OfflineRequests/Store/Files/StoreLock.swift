// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// The lock on a file beside the queue that keeps the queue from being replaced while it is used.
///
/// A process that reads or writes shares it; one that makes the file, or replaces a damaged one, has it alone.
/// Unlike SQLite's own locks it stays valid when the file under the name becomes another. It also carries notifications between
/// processes, since all of them have it open: a process that watches it is told that it is read.
final class StoreLock: Sendable {
    private let descriptor: FileDescriptor
    private let path: String

    init(_ path: String) throws(QueueError) {
        self.descriptor = try StoreFiles.create(path)
        self.path = path
        // To read nothing is no event.
        if case .file(_, size: 0) = StoreFiles.kind(path) { _ = unsafe pwrite(self.descriptor.number, "\n", 1, 0) }
    }

    /// The lock of a queue that exists; nil where there is none, or it is not for this user.
    init?(existing path: String) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        self.descriptor = descriptor
        self.path = path
    }

    /// Whether the file is still the one under its name, which others lock.
    var isInPlace: Bool {
        guard let status = self.descriptor.status else { return false }
        return StoreFiles.identity(self.path) == FileIdentity(status)
    }

    /// Shares it.
    ///
    /// - Parameter patience: How long is waited for a process that has it alone.
    /// - Throws: ``QueueError/io(path:reason:)`` that says which process has it.
    func share(within patience: Duration) throws(QueueError) { try self.lock(LOCK_SH, within: patience) }

    /// Has it alone.
    ///
    /// - Parameter patience: How long is waited for the others.
    /// - Throws: ``QueueError/io(path:reason:)`` that says which process has it; this one may share it no more then.
    func takeAlone(within patience: Duration) throws(QueueError) { try self.lock(LOCK_EX, within: patience) }

    func release() { _ = flock(self.descriptor.number, LOCK_UN) }

    private func lock(_ operation: Int32, within patience: Duration) throws(QueueError) {
        let deadline = ContinuousClock.now + patience
        // flock(2) knows no deadline.
        while flock(self.descriptor.number, operation | LOCK_NB) != 0 {
            guard [EWOULDBLOCK, EINTR].contains(errno) else { throw StoreFiles.error(errno, self.path) }
            if .now >= deadline {
                let holders = LockHolders.text(of: [self.path])
                let reason = "\(holders) kept the queue for \(patience), to open or to repair it; try again, or end it"
                throw .io(path: self.path, reason: reason)
            }
            usleep(5_000)
        }
    }

    /// Tells the other processes to look into the queue.
    func notifySender() {
        var byte: UInt8 = 0
        _ = unsafe pread(self.descriptor.number, &byte, 1, 0)
    }
}
