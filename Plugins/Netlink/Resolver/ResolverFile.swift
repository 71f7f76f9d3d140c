// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The resolver's configuration file, watched; it need not exist, and may be replaced or be a symbolic link.
final class ResolverFile {
    /// The file system, and one watcher.
    private struct System: FileTrailSystem {
        let watcher: FileDescriptor

        func linkTarget(_ path: String) -> String? { FileAccess.linkTarget(path) }
        func exists(_ path: String) -> Bool { FileAccess.exists(path) }
        func watchDirectory(_ path: String) -> Int32? { FileAccess.watchDirectory(path, with: self.watcher) }
        func watchFile(_ path: String) -> Int32? { FileAccess.watchFile(path, with: self.watcher) }
    }

    private let path: String
    private var watcher: FileDescriptor?
    private var trail = FileTrail()

    /// Starts to watch a file.
    init(path: String) {
        self.path = path
        self.arm()
    }

    /// The descriptor to poll; nil when the system grants no watcher.
    var fileDescriptor: Int32? { self.watcher?.number }

    /// Reads the name servers; nil when the file cannot be read.
    func servers() -> [DNSServer]? {
        FileAccess.contents(self.path).map { DNSServer.parse(resolvConf: $0) }
    }

    /// Takes what the watcher reports.
    ///
    /// - Returns: Whether the file may have changed; the watches are armed anew then, before it is read.
    func drain() -> Bool {
        guard let watcher else { return false }
        var isAffected = false
        while let events = watcher.read(limit: 4096), !events.isEmpty {
            isAffected = self.trail.isAffected(by: events) || isAffected
        }
        if isAffected { self.arm() }
        return isAffected
    }

    private func arm() {
        // Given back first: the system grants a user only so many.
        self.watcher = nil
        self.watcher = SystemCalls.fileWatcher()
        self.trail = self.watcher.map { FileTrail(to: self.path, in: System(watcher: $0)) } ?? FileTrail()
    }
}
