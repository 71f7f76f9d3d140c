// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import Glibc

/// The address of a socket in the file system (unix(7)); a name that begins with a zero is an abstract one.
package struct UnixAddress: Sendable {
    /// As long as a name may be, its end included.
    package static let limit = 108

    private let name: [UInt8]

    /// The address of a path.
    package init(_ path: String) {
        self.name = Array(path.utf8)
    }

    /// The address of a name in bytes.
    package init(name: [UInt8]) {
        self.name = name
    }

    /// Calls a function that takes an address; returns -1, with the reason in `errno`, where the name is too long.
    package func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        guard self.name.count < Self.limit else {
            errno = ENAMETOOLONG
            return -1
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: self.name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + self.name.count)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

/// The kinds of sockets, which the C library has as an enumeration.
package enum SocketType: Sendable {
    /// Datagrams.
    package static let datagram = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    /// A stream that makes no thread wait.
    package static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    /// A stream whose calls wait.
    package static let blockingStream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
}
