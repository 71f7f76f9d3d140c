// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Everything on the way to a file that can change what is read there.
///
/// The file may be written in place, replaced, be a symbolic link that is pointed elsewhere, or point to nothing yet.
/// So every directory that holds a link on the way, the last name or a missing one is watched for that name, and the
/// file itself for being written. After a change the trail is made anew: few watches, and never stale. A file system
/// that is mounted over the file goes unnoticed, because inotify does not tell of mounts.
package struct FileTrail: Hashable, Sendable {
    /// inotify tells with this that a watch was removed, which its owner knows.
    private static let ignored = UInt32(IN_IGNORED)
    /// The kernel follows 40 links at most.
    private static let linkLimit = 40

    /// The names of interest for each watched directory.
    private var names: [Int32: Set<String>] = [:]
    private var file: Int32?
    /// A directory of which every name is of interest.
    private var folder: Int32?

    /// Everything that is watched.
    package var watches: Set<Int32> { Set(self.names.keys).union([self.file, self.folder].compactMap(\.self)) }

    /// Follows an absolute path, of a directory where it ends with a slash, and has an inotify(7) instance watch what lies on the way; read the file after that, not
    /// before.
    package init(to path: String, watcher: Int32) {
        var remaining = path.split(separator: "/").map(String.init)
        var directory = ""
        var links = 0
        while let name = remaining.first {
            let child = "\(directory)/\(name)"
            let isLast = remaining.count == 1
            if isLast || FileAccess.linkTarget(child) != nil || !FileAccess.exists(child) {
                // First watched and then read, or a change in between would be missed.
                if let number = Self.watch(directory.isEmpty ? "/" : directory, for: Self.folderEvents, watcher) {
                    self.names[number, default: []].insert(name)
                }
                if let target = FileAccess.linkTarget(child), links < Self.linkLimit {
                    links += 1
                    remaining = target.split(separator: "/").map(String.init) + remaining.dropFirst()
                    if target.hasPrefix("/") { directory = "" }
                    continue
                }
                if isLast, path.hasSuffix("/") {
                    self.folder = Self.watch(child, for: Self.folderEvents, watcher)
                } else if isLast {
                    self.file = Self.watch(child, for: Self.fileEvents, watcher)
                }
                if isLast || !FileAccess.exists(child) { return }
            }
            remaining.removeFirst()
            directory = name == ".." ? Self.parent(of: directory) : name == "." ? directory : child
        }
    }

    /// What happens to names in a folder.
    private static let folderEvents = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE) | UInt32(IN_ONLYDIR)
    /// What happens to what a file holds.
    // Not every single write (IN_MODIFY): a writer truncates first, and an empty file is no news.
    private static let fileEvents = UInt32(IN_CLOSE_WRITE | IN_ATTRIB)

    private static func watch(_ path: String, for events: UInt32, _ watcher: Int32) -> Int32? {
        let number = unsafe inotify_add_watch(watcher, path, events | UInt32(IN_DELETE_SELF | IN_MOVE_SELF))
        return number < 0 ? nil : number
    }

    private static func parent(of directory: String) -> String {
        directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
    }

    /// Whether events mean that what is read at the path may have changed.
    ///
    /// - Parameter events: A list of struct inotify_event: watch, mask, cookie, length of the name, name.
    /// - Returns: Whether to make the trail anew and read the file.
    package func isAffected(by events: [UInt8]) -> Bool {
        var offset = 0
        while offset + 16 <= events.count {
            func number(at position: Int) -> UInt32 {
                unsafe events.withUnsafeBytes { events in
                    unsafe events.loadUnaligned(fromByteOffset: offset + position, as: UInt32.self)
                }
            }
            let watch = Int32(bitPattern: number(at: 0))
            let mask = number(at: 4)
            let end = min(offset + 16 + Int(number(at: 12)), events.count)
            let name = String(decoding: events[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
            // The number -1 stands for a queue that overflowed and lost who knows what.
            if watch == -1 { return true }
            // Without a name: the file itself, or a directory's own end.
            let isOurs =
                watch == self.file || watch == self.folder
                || (self.names[watch].map { name.isEmpty || $0.contains(name) } ?? false)
            if isOurs, mask & Self.ignored == 0 { return true }
            offset = end
        }
        return false
    }
}
