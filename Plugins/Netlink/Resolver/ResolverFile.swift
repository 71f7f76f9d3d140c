// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The resolver's configuration file, watched; it need not exist, and may be replaced or be a symbolic link.
final class ResolverFile {
    private let path: String
    private let watcher: FileWatcher?

    /// Starts to watch a file.
    init(path: String) {
        self.path = path
        self.watcher = FileWatcher(paths: [path])
    }

    /// The descriptor to poll; nil when the system grants no watcher.
    var fileDescriptor: Int32? { self.watcher?.fileDescriptor }

    /// Reads the name servers; nil when the file cannot be read.
    func servers() -> [DNSServer]? {
        FileAccess.contents(self.path).map { DNSServer.parse(resolvConf: $0) }
    }

    /// Takes what the watcher reports.
    ///
    /// - Returns: Whether the file may have changed; it is watched anew then, before it is read.
    func drain() -> Bool { self.watcher?.takeChanges() ?? false }
}
