// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Standard output or standard error.
package enum StandardStream: Sendable {
    case output
    case error

    /// The number of the descriptor.
    package var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }

    /// Whether it is a terminal on which a line can be erased and written anew, as the variable `TERM` says.
    package var isTerminal: Bool {
        guard isatty(self.descriptor) == 1, let term = unsafe getenv("TERM") else { return false }
        return unsafe !["", "dumb"].contains(String(cString: term))
    }

    /// Writes all of a text, however long its reader takes.
    ///
    /// - Throws: `SystemError`; a vanished reader is one only where SIGPIPE is ignored.
    package func write(_ text: String) throws(SystemError) { try self.write(Array(text.utf8)) }

    /// Writes all of some bytes, likewise.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(self.descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // The process that started this one may have made the shared description non-blocking.
                self.hasRoom(waiting: -1)
            } else if errno != EINTR {
                throw SystemError.last("cannot write to standard \(self)")
            }
        }
    }

    /// Whether a write would not block; waits for that at most so many milliseconds, -1 for ever.
    @discardableResult
    package func hasRoom(waiting milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) == 1
    }
}
