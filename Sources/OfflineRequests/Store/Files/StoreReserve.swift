// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A file that keeps room on the disk for the day when there is none.
///
/// What was delivered is recorded in the journal, which grows by that. Without room nothing could be recorded, and
/// hence nothing delivered, which alone makes the queue smaller.
struct StoreReserve: Sendable {
    /// As much as the journal usually holds, which is what the database may have to grow by to empty it.
    private static let size = 4 << 20
    /// Less would not be worth a file.
    private static let least = 128 << 10

    let path: String

    /// Takes the room, a part of what there is.
    ///
    /// - Returns: Whether it is kept, now or from before.
    func take() -> Bool {
        if StoreFiles.kind(self.path) != .nothing { return true }
        let size = min(Self.size, StoreFiles.room(self.path) / 8)
        let flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC
        guard size >= Self.least, let file = FileDescriptor(unsafe open(self.path, flags, 0o600)) else { return false }
        FileTrust.giveToOwnerOfFolder(file, self.path)
        // A file with holes would keep nothing.
        guard posix_fallocate(file.number, 0, size) == 0 else {
            StoreFiles.remove(self.path)
            return false
        }
        return true
    }

    /// Gives the room back.
    ///
    /// - Returns: Whether there was any.
    func give() -> Bool { unsafe unlink(self.path) == 0 }
}
