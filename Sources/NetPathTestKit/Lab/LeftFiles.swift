// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Files in the places where programs leave some: the least growth over several batches, since other programs do too.
struct LeftFiles: Sendable {
    private static let folders = ["/", "/tmp", "/var/tmp", "/run", "/dev/shm", NSHomeDirectory()]

    private var known: Set<String>
    /// How many more there were after each batch, at least.
    private(set) var least = Int.max
    /// One of those that came last.
    private(set) var example = ""

    init() {
        self.known = Self.now()
    }

    /// Ends a batch.
    mutating func count() {
        let now = Self.now()
        let new = now.subtracting(self.known)
        self.least = min(self.least, new.count)
        self.example = new.min() ?? self.example
        self.known = now
    }

    private static func now() -> Set<String> {
        Set(
            self.folders.flatMap { folder in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                return names.map { folder == "/" ? "/\($0)" : "\(folder)/\($0)" }
            }
        )
    }
}
