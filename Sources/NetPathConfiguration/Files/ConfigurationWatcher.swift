// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

internal import Glibc
internal import NetPath
internal import Synchronization

/// Notices when a configuration file changes: written in place, replaced by a rename, removed and created again, or
/// reached through symbolic links that are switched, as Kubernetes does.
///
/// There is no thread and no timer in it: whoever waits for descriptors anyway (poll(2), a dispatch source) waits for
/// ``fileDescriptor`` too, and calls ``takeChanges()`` when it is readable. Thread-safe.
public final class ConfigurationWatcher: Sendable {
    /// The file system, and one watcher.
    private struct System: FileTrailSystem {
        let watcher: CInt

        func linkTarget(_ path: String) -> String? {
            let octets = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
                let result = unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                    unsafe characters.baseAddress.map { unsafe readlink(path, $0, characters.count) } ?? -1
                }
                count = max(result, 0)
            }
            return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
        }

        func exists(_ path: String) -> Bool { ConfigurationFile.mayExist(path) }

        func watchDirectory(_ path: String) -> Int32? {
            let events = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
            return self.watch(path, UInt32(events) | UInt32(IN_ONLYDIR))
        }

        func watchFile(_ path: String) -> Int32? {
            // Not every single write (IN_MODIFY): a writer truncates first, and an empty file is no configuration.
            self.watch(path, UInt32(IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF))
        }

        private func watch(_ path: String, _ events: UInt32) -> Int32? {
            let number = unsafe inotify_add_watch(self.watcher, path, events)
            return number < 0 ? nil : number
        }
    }

    /// Becomes readable when something on the way to the file changed; the same one for the watcher's lifetime.
    public let fileDescriptor: CInt
    private let path: String
    private let trail: Mutex<FileTrail>

    /// Starts to watch a file, which need not exist; nil when the system grants no watcher (inotify(7)).
    ///
    /// - Parameter path: The path; a relative one starts at the working directory of this moment.
    public init?(path: String) {
        let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        self.fileDescriptor = descriptor
        self.path = path.hasPrefix("/") ? path : Self.workingDirectory + "/" + path
        self.trail = Mutex(FileTrail(to: self.path, in: System(watcher: descriptor)))
    }

    deinit {
        _ = close(self.fileDescriptor)
    }

    /// Takes what happened since the last call, without waiting.
    ///
    /// - Returns: Whether the file may read differently now. One change can be told several times: an editor renames,
    ///   creates and writes, so wait until it is quiet before reading.
    public func takeChanges() -> Bool {
        self.trail.withLock { trail in
            var isAffected = false
            while let events = self.nextEvents() { isAffected = trail.isAffected(by: events) || isAffected }
            if isAffected {
                for number in trail.watches { _ = inotify_rm_watch(self.fileDescriptor, number) }
                trail = FileTrail(to: self.path, in: System(watcher: self.fileDescriptor))
            }
            return isAffected
        }
    }

    private func nextEvents() -> [UInt8]? {
        let events = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(unsafe read(self.fileDescriptor, buffer.baseAddress, buffer.count), 0)
        }
        return events.isEmpty ? nil : events
    }

    private static var workingDirectory: String {
        guard let text = unsafe getcwd(nil, 0) else { return "" }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
