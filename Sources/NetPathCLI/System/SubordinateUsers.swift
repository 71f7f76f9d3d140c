// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Synchronization

/// The users that a user may take in namespaces of users (subuid(5)): as many as it wants, so that each range is one user.
final class SubordinateUsers: Sendable {
    /// Users below are accounts, and those of services.
    private static let first: UInt32 = 65_536

    private let path: String
    private let kept = Mutex<(stamp: [Int], ranges: [Range<UInt32>])>(([], []))

    /// Reads a file when it is first needed, and again when it is another one.
    init(_ path: String) {
        self.path = path
    }

    /// The first user of the range that a user is in; itself in none.
    func representative(of user: UInt32) -> UInt32 {
        guard user >= Self.first, let status = FileAccess.status(self.path) else { return user }
        let stamp = [
            Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec), Int(status.st_size),
            Int(bitPattern: status.st_ino),
        ]
        return self.kept.withLock { kept in
            if kept.stamp != stamp {
                kept = (stamp, Self.ranges(FileAccess.contents(self.path, limit: 1 << 20) ?? ""))
            }
            return kept.ranges.first { $0.contains(user) }?.lowerBound ?? user
        }
    }

    /// The ranges of lines as `user:100000:65536`; others are passed over.
    static func ranges(_ text: String) -> [Range<UInt32>] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 3, let start = UInt32(fields[1]), let count = UInt32(fields[2]), start >= Self.first
            else { return nil }
            let (end, isOutOfRange) = start.addingReportingOverflow(count)
            return start..<(isOutOfRange ? .max : end)
        }
    }
}
