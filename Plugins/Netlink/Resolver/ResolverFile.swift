// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The resolver's configuration file, watched.
///
/// The file may be written in place, replaced, be a symbolic link that is pointed elsewhere, or point to nothing yet.
/// So every directory that holds a link on the way, the last name or a missing one is watched for that name, and the
/// file itself for being written. All watches are made anew after each change: few, and never stale. A file system
/// that is mounted over the file goes unnoticed, because the kernel tells nobody.
final class ResolverFile {
    private let path: String
    private var watcher: FileDescriptor?
    /// The names of interest for each watched directory.
    private var names: [Int32: Set<String>] = [:]

    /// Starts to watch a file, which need not exist.
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
            isAffected = self.affects(events) || isAffected
        }
        if isAffected { self.arm() }
        return isAffected
    }

    /// Reads a list of struct inotify_event: watch, mask, cookie, length of the name, name.
    private func affects(_ events: [UInt8]) -> Bool {
        var offset = 0
        var isAffected = false
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
            let end = min(offset + 16 + Int(number(at: 12)), events.count)
            let name = String(decoding: events[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
            // Without a name: the file itself, a directory's own end, or a queue that overflowed and lost who knows what.
            if name.isEmpty || self.names[watch]?.contains(name) == true { isAffected = true }
            offset = end
        }
        return isAffected
    }

    private func arm() {
        // Given back first: the system grants a user only so many.
        self.watcher = nil
        self.watcher = SystemCalls.fileWatcher()
        self.names = [:]
        var remaining = self.path.split(separator: "/").map(String.init)
        var directory = ""
        // The kernel follows 40 links at most.
        var links = 0
        while let name = remaining.first {
            let child = "\(directory)/\(name)"
            let isLast = remaining.count == 1
            if let target = FileAccess.linkTarget(child), links < 40 {
                links += 1
                self.watch(directory, for: name)
                let parts = target.split(separator: "/").map(String.init)
                remaining = parts + remaining.dropFirst()
                if target.hasPrefix("/") { directory = "" }
                continue
            }
            if isLast || !FileAccess.exists(child) {
                self.watch(directory, for: name)
                if isLast, let watcher { FileAccess.watchFile(child, with: watcher) }
                return
            }
            remaining.removeFirst()
            directory = name == ".." ? Self.parent(of: directory) : name == "." ? directory : child
        }
    }

    private static func parent(of directory: String) -> String {
        directory.lastIndex(of: "/").map { String(directory[..<$0]) } ?? ""
    }

    private func watch(_ directory: String, for name: String) {
        guard let watcher,
            let number = FileAccess.watchDirectory(directory.isEmpty ? "/" : directory, with: watcher)
        else { return }
        self.names[number, default: []].insert(name)
    }
}
