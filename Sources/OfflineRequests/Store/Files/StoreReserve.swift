// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Room on the disk that only the ends of requests may use: a file beside the queue, which is emptied when the disk is full.
///
/// To record a delivery takes no room in the database, but some in its journal; and what is in the journal may need as
/// much room in the database. So the file has as many bytes as the journal, and some more. Without them no request is
/// taken: what was taken can be delivered, and cancelled, with not one byte free.
struct StoreReserve: Sendable {
    /// What there is room for besides the journal: the longest request that is in the database, several times.
    private static let margin = 4 * BodyFiles.threshold
    /// How much it grows at once, so that it seldom does.
    private static let step = 256 << 10

    let paths: StorePaths

    private var size: Int { Self.size(self.paths.reserve) }

    private static func size(_ path: String) -> Int { (try? StoreFiles.size(path)) ?? 0 }

    /// How many bytes are to be reserved, with requests of so many bytes more.
    private func wanted(forRequestsOf bytes: Int) -> Int {
        // They are written to the journal, and from there to the database.
        let (needed, overflow) = Self.size(self.paths.journal).addingReportingOverflow(2 * min(bytes, 1 << 40))
        return overflow ? Int.max / 2 : (needed + Self.margin + Self.step - 1) / Self.step * Self.step
    }

    /// How many bytes are not reserved that have to be.
    var lack: Int { max(0, self.wanted(forRequestsOf: 0) - self.size) }

    /// Reserves the room that is needed with requests of so many bytes more; returns how many bytes that lacks.
    func keep(forRequestsOf bytes: Int) -> Int {
        let (wanted, size) = (self.wanted(forRequestsOf: bytes), self.size)
        guard size < wanted else { return 0 }
        guard let file = try? StoreFiles.create(self.paths.reserve) else { return wanted - size }
        guard posix_fallocate(file.number, 0, off_t(wanted)) == 0 else {
            // Some file systems leave what there was room for.
            _ = ftruncate(file.number, off_t(size))
            return max(1, wanted - size - StoreFiles.free(self.paths.database))
        }
        return 0
    }

    /// Gives the room to whatever is written next; returns whether there was any.
    func release() -> Bool {
        guard self.size > 0, let file = try? StoreFiles.create(self.paths.reserve) else { return false }
        return ftruncate(file.number, 0) == 0
    }

    func shrink() {
        let wanted = Self.size(self.paths.journal) + Self.margin
        guard self.size > wanted + Self.step, let file = try? StoreFiles.create(self.paths.reserve) else { return }
        _ = ftruncate(file.number, off_t(wanted))
    }
}
