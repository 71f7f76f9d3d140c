// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A directory that files are named relative to, which is faster than naming them from the root.
final class Directory {
    let descriptor: FileDescriptor

    /// Opens a directory; nil when there is none.
    init?(_ path: String) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        guard let descriptor = FileDescriptor(unsafe open(path, flags)) else { return nil }
        self.descriptor = descriptor
    }

    /// Opens a directory below this one, for naming files relative to it only; nil when there is none.
    init?(_ path: String, in parent: Directory) {
        // O_PATH, which the C library's headers show to GNU sources only: less work for the kernel, and no reading.
        let flags = O_DIRECTORY | O_CLOEXEC | 0x20_0000
        guard let descriptor = FileDescriptor(unsafe openat(parent.descriptor.number, path, flags)) else { return nil }
        self.descriptor = descriptor
    }

    /// What tells an entry from any that has its name later; nil when there is none.
    ///
    /// The kernel gives every file of sysfs a number of its own, and never the same one soon again.
    func identity(of name: String) -> EntryIdentity? {
        var status = stat()
        guard unsafe fstatat(self.descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return EntryIdentity(
            device: UInt64(status.st_dev),
            number: UInt64(status.st_ino),
            changed: status.st_ctim.tv_sec,
            nanoseconds: status.st_ctim.tv_nsec
        )
    }

    /// The names in the directory, unsorted.
    func names(in path: String = ".") -> [String] { FileAccess.unsortedNames(in: path, of: self.descriptor) ?? [] }

    /// Whether something exists at a path; a symbolic link counts by itself.
    func contains(_ path: String) -> Bool {
        unsafe faccessat(self.descriptor.number, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// The last part of the path a symbolic link points to; nil when there is no link.
    func linkedName(_ path: String) -> String? {
        FileAccess.linkTarget(path, at: self.descriptor.number)?.split(separator: "/").last.map(String.init)
    }
}

/// Which file a name stands for.
struct EntryIdentity: Hashable {
    var device: UInt64
    var number: UInt64
    var changed: Int
    var nanoseconds: Int
}
