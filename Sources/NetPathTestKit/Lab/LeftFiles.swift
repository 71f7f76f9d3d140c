// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Files in the places where programs leave some: the least growth over several batches, since other programs do too.
struct LeftFiles: Sendable {
    private static let folders = ["/", "/tmp", "/var/tmp", "/run", "/dev/shm", NSHomeDirectory()]

    private var known: Set<String>
    /// How many more there were after each batch, at least.
    private(set) var least = Int.max
    /// How many more there were after a time in which the program did not run, at most: those of other processes.
    private(set) var others = 0
    /// One of those that came last.
    private(set) var example = ""

    init() {
        self.known = Self.now()
    }

    /// Ends a batch.
    mutating func count() {
        let new = self.news()
        self.least = min(self.least, new.count)
        self.example = new.min() ?? self.example
    }

    /// Ends a time in which the program did not run.
    mutating func countOthers() { self.others = max(self.others, self.news().count) }

    private mutating func news() -> Set<String> {
        let now = Self.now()
        defer { self.known = now }
        return now.subtracting(self.known)
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
