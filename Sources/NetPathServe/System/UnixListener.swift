// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A socket in the file system that those may open who own it and their group.
enum UnixListener: Sendable {
    /// Opens one, in place of one that no process listens to any more.
    ///
    /// - Returns: Its descriptor, bound.
    /// - Throws: `SystemError`; EADDRINUSE when a process listens there.
    static func open(_ path: String) throws(SystemError) -> Int32 {
        let action = "cannot open the socket \(path)"
        guard path.utf8.count < UnixAddress.limit else { throw SystemError(action: action, errno: ENAMETOOLONG) }
        if self.isAlive(path) { throw SystemError(action: action, errno: EADDRINUSE) }
        let descriptor = socket(AF_UNIX, SocketType.blockingStream, 0)
        guard descriptor >= 0 else { throw .last(action) }
        // Never a file of another kind that has the name.
        let status = FileAccess.status(path, following: false)
        if let status, status.st_mode & S_IFMT == S_IFSOCK { _ = unsafe unlink(path) }
        // No other user can open it even before its mode could be changed.
        let mask = umask(0o117)
        let result = unsafe UnixAddress(path).with { unsafe bind(descriptor, $0, $1) }
        let error = errno
        _ = umask(mask)
        guard result == 0 else {
            _ = close(descriptor)
            throw SystemError(action: action, errno: error)
        }
        return descriptor
    }

    /// Removes it.
    static func remove(_ path: String) { _ = unsafe unlink(path) }

    private static func isAlive(_ path: String) -> Bool {
        guard let probe = FileDescriptor(socket(AF_UNIX, SocketType.blockingStream, 0)) else { return false }
        return unsafe UnixAddress(path).with { unsafe connect(probe.number, $0, $1) } == 0
    }
}
