// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, for people, such as "cannot write to standard output".
    package var action: String
    /// The error number.
    package var errno: Int32

    /// Describes a failure.
    package init(action: String, errno: Int32) {
        self.action = action
        self.errno = errno
    }

    /// Describes the failure of the call that was just made by this thread.
    package static func last(_ action: String) -> SystemError {
        SystemError(action: action, errno: Glibc.errno)
    }

    /// Whether the reader of what was written is gone: nothing to complain about.
    package var isReaderGone: Bool { [EPIPE, ECONNRESET, ENXIO, EIO, EBADF].contains(self.errno) }

    /// Whether another socket has the address already.
    package var isAddressInUse: Bool { self.errno == EADDRINUSE }

    /// Whether another process holds the lock that was tried.
    package var isHeldElsewhere: Bool { self.errno == EWOULDBLOCK }

    /// What was tried, and the system's words for what came of it.
    package var description: String { "\(self.action): \(SystemReason.text(self.errno)) (errno \(self.errno))" }
}
