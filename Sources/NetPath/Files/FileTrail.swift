// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a ``FileTrail`` needs of the system: file names, and a watcher as inotify(7) is one.
package protocol FileTrailSystem {
    /// Where a symbolic link points; nil when the path is none.
    func linkTarget(_ path: String) -> String?
    /// Whether something is at a path; a symbolic link counts by itself.
    func exists(_ path: String) -> Bool
    /// Watches a directory for names that appear and vanish, and its own end; the number that events carry.
    func watchDirectory(_ path: String) -> Int32?
    /// Watches a file for being written, and its own end; the number that events carry.
    func watchFile(_ path: String) -> Int32?
}

/// Everything on the way to a file that can change what is read there.
///
/// The file may be written in place, replaced, be a symbolic link that is pointed elsewhere, or point to nothing yet.
/// So every directory that holds a link on the way, the last name or a missing one is watched for that name, and the
/// file itself for being written. After a change the trail is made anew: few watches, and never stale. A file system
/// that is mounted over the file goes unnoticed, because the kernel tells nobody.
package struct FileTrail: Hashable, Sendable {
    /// inotify tells with this that a watch was removed, which its owner knows.
    private static let ignored: UInt32 = 0x8000
    /// The kernel follows 40 links at most.
    private static let linkLimit = 40

    /// The names of interest for each watched directory.
    private var names: [Int32: Set<String>] = [:]
    private var file: Int32?

    /// Everything that is watched.
    package var watches: Set<Int32> { Set(self.names.keys).union(self.file.map { [$0] } ?? []) }

    /// Watches nothing.
    package init() {}

    /// Follows an absolute path and watches what lies on the way; read the file after that, not before.
    package init(to path: String, in system: some FileTrailSystem) {
        var remaining = path.split(separator: "/").map(String.init)
        var directory = ""
        var links = 0
        while let name = remaining.first {
            let child = "\(directory)/\(name)"
            let isLast = remaining.count == 1
            if isLast || system.linkTarget(child) != nil || !system.exists(child) {
                // First watched and then looked at, or a change in between would be noticed by nobody.
                if let number = system.watchDirectory(directory.isEmpty ? "/" : directory) {
                    self.names[number, default: []].insert(name)
                }
                if let target = system.linkTarget(child), links < Self.linkLimit {
                    links += 1
                    remaining = target.split(separator: "/").map(String.init) + remaining.dropFirst()
                    if target.hasPrefix("/") { directory = "" }
                    continue
                }
                if isLast { self.file = system.watchFile(child) }
                if isLast || !system.exists(child) { return }
            }
            remaining.removeFirst()
            directory = name == ".." ? Self.parent(of: directory) : name == "." ? directory : child
        }
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
                let octets = (0..<4).map { UInt32(events[offset + position + $0]) }
                #if _endian(little)
                return octets.reversed().reduce(0) { $0 << 8 | $1 }
                #else
                return octets.reduce(0) { $0 << 8 | $1 }
                #endif
            }
            let watch = Int32(bitPattern: number(at: 0))
            let mask = number(at: 4)
            let end = min(offset + 16 + Int(number(at: 12)), events.count)
            let name = String(decoding: events[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
            // The number -1 stands for a queue that overflowed and lost who knows what.
            if watch == -1 { return true }
            // Without a name: the file itself, or a directory's own end.
            let isOurs = watch == self.file || (self.names[watch].map { name.isEmpty || $0.contains(name) } ?? false)
            if isOurs, mask & Self.ignored == 0 { return true }
            offset = end
        }
        return false
    }
}
