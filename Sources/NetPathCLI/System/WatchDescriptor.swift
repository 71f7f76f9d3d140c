// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Standard output for a writer that must never be held up by the reader.
struct WatchDescriptor: Sendable {
    private enum Kind: Sendable {
        /// Opened anew and non-blocking.
        case ownDescription
        /// Shared with other processes: written to only when it reports room, and then no more than a pipe with room
        /// takes (PIPE_BUF, pipe(7)).
        case shared
        case socket
        /// Never makes a writer wait.
        case file
    }

    let rawValue: Int32
    private let kind: Kind

    /// Whether it makes sense to ask whether there is room, or whether the reader is there.
    var isPollable: Bool { self.kind != .file }

    /// Looks at standard output, or another descriptor, and opens it anew when it is a pipe or a terminal.
    ///
    /// O_NONBLOCK belongs to the open file description, which the shell and other processes share: setting it there
    /// would make *their* writes fail.
    ///
    /// - Throws: `SystemError` when there is no reader (any more).
    init(_ descriptor: Int32 = STDOUT_FILENO) throws(SystemError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY
        else { throw SystemError(action: "cannot use standard output", errno: EBADF) }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: self.init(descriptor, .socket)
        case S_IFIFO, S_IFCHR:
            let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
            let own = unsafe open("/proc/self/fd/\(descriptor)", flags)
            if own == -1, errno == ENXIO { throw SystemError.last("cannot use standard output") }
            // Another user's terminal (su, sudo) or a system without /proc cannot be opened.
            self.init(own == -1 ? descriptor : own, own == -1 ? .shared : .ownDescription)
        default: self.init(descriptor, .file)
        }
    }

    /// Looks at standard output as ``init(_:)`` does; nil when its reader is gone, which is no error.
    ///
    /// - Throws: `SystemError` when it cannot be used for another reason.
    static func ofReader() throws(SystemError) -> WatchDescriptor? {
        do throws(SystemError) {
            return try WatchDescriptor()
        } catch {
            if error.isReaderGone { return nil }
            throw error
        }
    }

    private init(_ rawValue: Int32, _ kind: Kind) {
        self.rawValue = rawValue
        self.kind = kind
    }

    /// Writes as much as goes without waiting.
    ///
    /// - Returns: The number of bytes written; zero when there is no room.
    /// - Throws: `SystemError`; ``SystemError/isReaderGone`` tells a vanished reader from a full disk.
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                switch self.kind {
                case .ownDescription, .file:
                    return unsafe Glibc.write(self.rawValue, buffer.baseAddress, buffer.count)
                case .shared:
                    var entry = pollfd(fd: self.rawValue, events: Int16(POLLOUT), revents: 0)
                    guard unsafe poll(&entry, 1, 0) == 1 else { return 0 }
                    return unsafe Glibc.write(self.rawValue, buffer.baseAddress, min(buffer.count, 4_096))
                case .socket:
                    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
                    return unsafe send(self.rawValue, buffer.baseAddress, buffer.count, flags)
                }
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw SystemError.last("cannot write to standard output") }
        }
    }
}
