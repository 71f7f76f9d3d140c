// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// The lock on a file beside the queue that keeps the queue from being replaced while somebody uses it.
///
/// Whoever reads or writes shares it for that long; whoever makes the file, or replaces a damaged one, has it alone.
/// Unlike SQLite's own locks it stays valid when the file under the name becomes another. It is also the bell between
/// processes, since all of them have it open: whoever watches it hears that it is read.
final class StoreLock: Sendable {
    private let descriptor: FileDescriptor
    private let path: String

    init(_ path: String) throws(QueueError) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600))
        else {
            throw StoreFiles.error(errno, path)
        }
        self.descriptor = descriptor
        self.path = path
        FileTrust.giveToOwnerOfFolder(descriptor, path)
        // To read nothing is not heard.
        if case .file(_, size: 0) = StoreFiles.kind(path) { _ = unsafe pwrite(descriptor.number, "\n", 1, 0) }
    }

    /// The lock of a queue that somebody has made; nil where there is none, or it is not for this user.
    init?(existing path: String) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        self.descriptor = descriptor
        self.path = path
    }

    /// Whether the file is still the one under its name, which others lock.
    var isInPlace: Bool {
        var status = stat()
        guard unsafe fstat(self.descriptor.number, &status) == 0 else { return false }
        let identity = FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        return StoreFiles.identity(self.path) == identity
    }

    /// Shares it, and waits for that while somebody has it alone.
    func share() { self.lock(LOCK_SH) }

    /// Shares it, unless somebody has it alone for longer.
    ///
    /// - Returns: Whether it is shared.
    func share(within patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        // flock(2) knows no deadline.
        while !self.shareAtOnce() {
            if .now >= deadline { return false }
            usleep(10_000)
        }
        return true
    }

    /// Shares it, unless somebody has it alone.
    ///
    /// - Returns: Whether it is shared.
    func shareAtOnce() -> Bool { flock(self.descriptor.number, LOCK_SH | LOCK_NB) == 0 }

    /// Has it alone, and waits for that.
    func takeAlone() { self.lock(LOCK_EX) }

    func release() { self.lock(LOCK_UN) }

    private func lock(_ operation: Int32) {
        while flock(self.descriptor.number, operation) != 0, errno == EINTR {}
    }

    /// Tells the other processes to look into the queue.
    func ring() {
        var octet: UInt8 = 0
        _ = unsafe pread(self.descriptor.number, &octet, 1, 0)
    }
}
