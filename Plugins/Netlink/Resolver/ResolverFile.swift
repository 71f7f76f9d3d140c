// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The resolver's configuration file, watched together with those it refers to; it need not exist, and may be replaced
/// or be a symbolic link.
final class ResolverFile {
    private let path: String
    private let runtime: String
    private let watcher: FileWatcher?
    /// Whether the latest look lacked descriptors or memory: then nothing is known of the servers, and no event comes.
    private(set) var lacksResources = false

    /// Names a file, and starts to watch it.
    ///
    /// - Parameters:
    ///   - path: The resolver's configuration file.
    ///   - runtime: The folder in which running programs keep their files.
    ///   - isWatched: Whether anybody wants to hear of changes.
    init(path: String, runtime: String, isWatched: Bool = true) {
        self.path = path
        self.runtime = runtime
        self.watcher = isWatched ? FileWatcher(paths: [path]) : nil
    }

    /// The descriptor to poll; nil when the file is not watched, or the system grants no watcher.
    var fileDescriptor: Int32? { self.watcher?.fileDescriptor }

    /// Reads the name servers; nil when the file cannot be read.
    func servers() -> [DNSServer]? {
        var configuration = self.read()
        // Which files it takes may be another matter at each look; who rewrites them all the time is heard of again.
        for _ in 0..<3 where self.watcher?.watch(configuration.paths) == true { configuration = self.read() }
        return configuration.servers
    }

    private func read() -> ResolverConfiguration {
        self.lacksResources = false
        return ResolverConfiguration(path: self.path, runtime: self.runtime) { path in
            let text = FileAccess.contents(path)
            if text == nil, FileAccess.lackedResources { self.lacksResources = true }
            return text
        }
    }

    /// Takes what the watcher reports.
    ///
    /// - Returns: Whether a file may have changed; it is watched anew then, before it is read.
    func drain() -> Bool { self.watcher?.takeChanges() ?? false }
}
