// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Hears what other processes do to files, without asking again and again (`inotify(7)`).
final class FileWatch: Sendable {
    /// What is heard; a file that a process has open is not gone when it is removed: it has one name less.
    struct Event: Sendable {
        fileprivate let mask: Int

        /// A descriptor that could write was closed, by whatever end its process came to.
        static let closedAfterWriting = Event(mask: Int(IN_CLOSE_WRITE | IN_ATTRIB))
        /// Something was read.
        static let read = Event(mask: Int(IN_ACCESS | IN_ATTRIB))
        /// A name of it was removed, or it got another.
        static let removed = Event(mask: Int(IN_ATTRIB | IN_MOVE_SELF))
    }

    let descriptor: FileDescriptor

    init?() {
        guard let descriptor = FileDescriptor(inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))) else { return nil }
        self.descriptor = descriptor
    }

    /// Begins to watch a file.
    ///
    /// - Returns: Whether it can be.
    func add(_ path: String, _ event: Event) -> Bool {
        unsafe inotify_add_watch(self.descriptor.number, path, UInt32(event.mask)) >= 0
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
