// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import Glibc

extension stat {
    /// Whether it is of a regular file.
    package var isFile: Bool { self.st_mode & S_IFMT == S_IFREG }
    /// Whether it is of a folder.
    package var isFolder: Bool { self.st_mode & S_IFMT == S_IFDIR }
}

extension FileDescriptor {
    /// What is open (`fstat(2)`); nil where the system does not say, errno tells why.
    package var status: stat? {
        var status = stat()
        return unsafe fstat(self.number, &status) == 0 ? status : nil
    }
}

extension FileAccess {
    /// What is under a path, a symbolic link itself unless it is followed (`stat(2)`); nil where the system does not say,
    /// errno tells why.
    package static func status(_ path: String, following: Bool = true) -> stat? {
        var status = stat()
        return unsafe fstatat(AT_FDCWD, path, &status, following ? 0 : AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }
}
