// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPath

extension FileDescriptor {
    /// Opens a socket for datagrams or a stream, which does not block; nil when the system refuses, errno tells why.
    package convenience init?(socketOf family: AddressFamily, isStream: Bool = false, protocol number: Int32 = 0) {
        let type = isStream ? SOCK_STREAM : SOCK_DGRAM
        let flags = Int32(type.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        self.init(socket(family == .ipv4 ? AF_INET : AF_INET6, flags, number))
    }

    /// Makes two connected sockets of a stream, whose calls wait; nil when the system refuses, errno tells why.
    package static func socketPair() -> (FileDescriptor, FileDescriptor)? {
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, SocketType.blockingStream, 0, &pair) == 0, let first = FileDescriptor(pair[0]),
            let second = FileDescriptor(pair[1])
        else { return nil }
        return (first, second)
    }

    /// Sends through a socket what goes at once, without a signal where the other end is gone (`send(2)`).
    ///
    /// - Returns: How many bytes went; -1 on an error, errno tells which.
    package func send(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(self.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Connects a socket of the address's family (`connect(2)`).
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - port: The port.
    ///   - scope: The index of the interface that a link-local address is valid on; 0 for others.
    /// - Returns: 0, or the error number.
    package func connect(to address: InternetAddress, port: UInt16, scope: UInt32 = 0) -> Int32 {
        switch address.family {
        case .ipv4:
            var socket = sockaddr_in()
            socket.sin_family = sa_family_t(AF_INET)
            socket.sin_port = port.bigEndian
            socket.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.bits).bigEndian
            return self.connect(socket)
        case .ipv6:
            var socket = sockaddr_in6()
            socket.sin6_family = sa_family_t(AF_INET6)
            socket.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &socket.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
            socket.sin6_scope_id = scope
            return self.connect(socket)
        }
    }

    private func connect(_ address: some Any) -> Int32 {
        let result = unsafe withUnsafeBytes(of: address) { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            let address = unsafe base.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.connect(self.number, address, socklen_t(bytes.count))
        }
        return result == 0 ? 0 : errno
    }
}
