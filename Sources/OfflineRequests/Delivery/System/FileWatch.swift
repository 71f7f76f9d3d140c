// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Hears what other processes do to files, without asking again and again (`inotify(7)`).
final class FileWatch: Sendable {
    /// What is heard.
    enum Event: Sendable {
        /// A descriptor that could write was closed, by whatever end its process came to.
        case closedAfterWriting
        /// Something was read.
        case read
        /// Something was written.
        case written
        /// A name of it was removed, or it got another.
        case removed
    }

    let descriptor: FileDescriptor

    init?() {
        guard let descriptor = FileDescriptor(inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))) else { return nil }
        self.descriptor = descriptor
    }

    /// Begins to watch a file; nil when it cannot be.
    func add(_ path: String, _ event: Event) -> Int32? {
        let mask: Int32 =
            switch event {
            // A file that somebody has open is not gone yet: it has one name less.
            case .closedAfterWriting: Int32(IN_CLOSE_WRITE | IN_ATTRIB)
            case .read: Int32(IN_ACCESS | IN_ATTRIB)
            case .removed: Int32(IN_ATTRIB | IN_MOVE_SELF)
            case .written: Int32(IN_MODIFY)
            }
        let number = unsafe inotify_add_watch(self.descriptor.number, path, UInt32(mask))
        return number < 0 ? nil : number
    }

    /// Watches a file no more.
    func remove(_ watch: Int32) {
        _ = inotify_rm_watch(self.descriptor.number, watch)
    }

    /// Forgets what was heard: that there was something is all that counts.
    ///
    /// - Returns: Whether there was.
    @discardableResult
    func take() -> Bool {
        let size = 4096
        var buffer = [UInt8](repeating: 0, count: size)
        var count = unsafe read(self.descriptor.number, &buffer, size)
        let isHeard = count > 0
        while count == size { count = unsafe read(self.descriptor.number, &buffer, size) }
        return isHeard
    }
}
