// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

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

    /// Takes the lock, unless another process has it.
    ///
    /// - Returns: Whether it was taken now.
    func take() -> Bool {
        guard !self.isHeld, flock(self.descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        self.isHeld = true
        // What the last one said is true no more.
        self.write([])
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
