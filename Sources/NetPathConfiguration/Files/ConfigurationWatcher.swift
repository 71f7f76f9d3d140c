// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

internal import NetPathSystem

/// Notices when a configuration file changes: written in place, replaced by a rename, removed and created again, or
/// reached through symbolic links that are switched, as Kubernetes does.
///
/// There is no thread and no timer in it: a program that waits for descriptors anyway (poll(2), a dispatch source) waits for
/// ``fileDescriptor`` too, and calls ``takeChanges()`` when it is readable. Thread-safe.
public final class ConfigurationWatcher: Sendable {
    /// Becomes readable when something on the way to the file changed; the same one for the watcher's lifetime.
    public var fileDescriptor: CInt { self.watcher.fileDescriptor }

    private let path: String
    private let watcher: FileWatcher

    /// Starts to watch a file, which need not exist, and the files that change it; nil when the system grants no watcher (inotify(7)).
    ///
    /// - Parameter path: The path; a relative one starts at the working directory of this moment.
    public init?(path: String) {
        let path = path.hasPrefix("/") ? path : ((try? FileAccess.absolute(".")) ?? "") + "/" + path
        guard let watcher = FileWatcher(paths: Self.watched(for: path)) else { return nil }
        self.path = path
        self.watcher = watcher
    }

    private static func watched(for path: String) -> [String] {
        [path, DropIns.folder(of: path) + "/"] + DropIns.files(of: path)
    }

    /// Takes what happened since the last call, without waiting.
    ///
    /// - Returns: Whether the file may read differently now. One change can be told several times: an editor renames,
    ///   creates and writes, so wait until it is quiet before reading.
    public func takeChanges() -> Bool {
        guard self.watcher.takeChanges() else { return false }
        // Others may have come into the folder.
        _ = self.watcher.watch(Self.watched(for: self.path))
        return true
    }
}
