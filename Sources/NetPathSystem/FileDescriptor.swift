// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// A file descriptor that is closed with its last reference.
///
/// That of swift-system has to be closed by hand, and knows neither poll(2) nor inotify(7); it would add 300 kB to a
/// program, and 0.03 ms to its start.
package final class FileDescriptor: Sendable {
    /// The number, for system calls; valid as long as this object is.
    package let number: Int32

    /// Takes over a descriptor that a system call returned; nil when the call failed.
    package init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        _ = close(self.number)
    }

    /// Reads what is there, at most `limit` bytes; nil on an error, errno tells which.
    package func read(limit: Int) -> [UInt8]? {
        var failed = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = unsafe Glibc.read(self.number, buffer.baseAddress, limit)
            failed = result < 0
            count = max(result, 0)
        }
        return failed ? nil : bytes
    }

    /// Writes all of some bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - action: What fails when this does, for people.
    /// - Throws: `SystemError`; some of the bytes may be written then.
    package func writeAll(_ bytes: [UInt8], or action: @autoclosure () -> String) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(self.number, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw .last(action()) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Waits until one of the first descriptors is readable or one of the second is writable, one has failed, or a
    /// timeout has passed; negative numbers are passed over.
    ///
    /// - Returns: Which ones are, the first before the second.
    package static func poll(readable: [Int32], writable: [Int32] = [], timeout: Duration?) -> [Bool] {
        var entries =
            readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            + writable.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        // Rounded up: waking before a deadline would only mean to wait once more.
        let milliseconds = timeout.map { Int32(clamping: Int((max(.zero, $0) / .milliseconds(1)).rounded(.up))) } ?? -1
        _ = unsafe Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
        return entries.map { $0.revents != 0 }
    }
}
