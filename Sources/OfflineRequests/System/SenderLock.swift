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

    /// Opens the file, or makes it.
    init(path: String) throws(QueueError) {
        // Never truncated, never removed: others may hold it open.
        let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard let descriptor = FileDescriptor(number) else {
            throw QueueError.io(path: path, reason: unsafe String(cString: strerror(errno)))
        }
        self.descriptor = descriptor
    }

    /// Takes the lock, unless somebody else has it.
    ///
    /// - Returns: Whether it was taken now.
    func take() -> Bool {
        guard !self.isHeld, flock(self.descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        self.isHeld = true
        return true
    }

    /// Whether somebody has the lock of a queue, found out without touching it.
    ///
    /// To try would be heard by nobody, but whoever tries at the same instant would go without for ever.
    static func isHeld(at path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, let file = unsafe fopen("/proc/locks", "re") else { return false }
        defer { _ = unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            // 1: FLOCK  ADVISORY  WRITE 708 00:1f:13364 0 EOF
            let octets = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let fields = String(decoding: octets, as: UTF8.self).split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE" else { continue }
            // Devices have other numbers here than in stat(2) on some file systems.
            if fields[5].split(separator: ":").last == "\(status.st_ino)" { return true }
        }
        return false
    }
}
