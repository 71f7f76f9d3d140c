// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathSystem

/// Which of the processes that have a queue open sends: the one that holds the lock on a file beside it.
///
/// The kernel gives the lock back however its holder ends, and with the end of this object, so there is no lease to
/// renew and none to expire. That end is heard: a descriptor that could write to the file is closed then, for which the
/// others watch it.
final class SenderLock {
    private let descriptor: FileDescriptor
    private(set) var isHeld = false

    init(path: String) throws(QueueError) {
        self.descriptor = try StoreFiles.create(path)
    }

    /// Takes the lock and leaves word in the file, unless another process has it; returns whether it was taken now.
    func take(saying bytes: [UInt8] = []) -> Bool {
        guard !self.isHeld, flock(self.descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        self.isHeld = true
        // What the last one said is true no more.
        self.write(bytes)
        return true
    }

    /// Leaves word in the file for those who read it while this has the lock.
    func write(_ bytes: [UInt8]) {
        guard self.isHeld else { return }
        _ = unsafe pwrite(self.descriptor.number, bytes, bytes.count, 0)
        _ = ftruncate(self.descriptor.number, off_t(bytes.count))
    }

    /// Whether a process has the lock of a queue.
    ///
    /// Not from `/proc/locks`: the kernel hands that out in pieces, and passes over locks when others go meanwhile.
    static func isHeld(at path: String) -> Bool {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return false }
        guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        _ = flock(file.number, LOCK_UN)
        // Who tried at this instant was refused, hears this, and tries again.
        _ = FileDescriptor(unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW))
        return false
    }
}

/// Which requests processes send that send one only: each shares a lock on a byte of the file of ``SenderLock``, which the
/// identifier leads to, for as long as it lives.
struct OwnSenders {
    private let file: FileDescriptor?

    /// Looks into the file of a queue's senders.
    init(at path: String) { self.file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) }

    func contains(_ id: UUID) -> Bool { self.file?.isShared(from: Self.place(of: id)) ?? false }

    /// Says that this process sends that request alone, for as long as the descriptor is open.
    static func join(for id: UUID, at path: String) -> FileDescriptor? {
        let file = try? StoreFiles.create(path)
        file?.share(from: self.place(of: id))
        return file
    }

    private static func place(of id: UUID) -> off_t { off_t(Checksum.of(id.uuidString) & (.max >> 1)) }
}
