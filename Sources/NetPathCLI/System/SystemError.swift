// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, for people, such as "cannot write to standard output".
    var action: String
    /// The error number.
    var errno: Int32

    /// Describes the failure of the call that was just made by this thread.
    static func last(_ action: String) -> SystemError {
        SystemError(action: action, errno: Glibc.errno)
    }

    /// Whether the reader of the output is gone: nothing to complain about.
    var isReaderGone: Bool { [EPIPE, ECONNRESET, ENXIO, EIO, EBADF].contains(self.errno) }

    package var description: String {
        "\(self.action): \(Self.message(of: self.errno)) (errno \(self.errno))"
    }

    /// The system's words for an error number.
    static func message(of errno: Int32) -> String {
        unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}
