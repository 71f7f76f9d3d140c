// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// The address of a socket in the file system (unix(7)); a name that begins with a zero is an abstract one.
struct UnixAddress {
    /// As long as a name may be, its end included.
    static let limit = 108

    private let name: [UInt8]

    init(_ path: String) {
        self.name = Array(path.utf8)
    }

    init(name: [UInt8]) {
        self.name = name
    }

    /// Calls a function that takes an address; returns -1, with the reason in `errno`, where the name is too long.
    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
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

/// Who is at the other end of a socket.
enum PeerCredentials {
    // Not in Swift's Glibc module (asm-generic/socket.h).
    private static let credentials: Int32 = 17
    private static let groups: Int32 = 59
    private static let subordinates = SubordinateUsers("/etc/subuid")

    /// Who it is; root, the user of this process, and the members of its group are trusted.
    static func peer(of socket: FileDescriptor) -> ServiceSocket.Peer {
        // The process, the user and the group (struct ucred).
        guard let peer = self.option(Self.credentials, of: socket, count: 3), peer.count == 3 else {
            return ServiceSocket.Peer(user: .max, isTrusted: false)
        }
        let (user, group) = (peer[1], peer[2])
        let isTrusted =
            user == 0 || user == geteuid() || group == getegid()
            || self.option(Self.groups, of: socket, count: 1_024)?.contains(getegid()) == true
        return ServiceSocket.Peer(user: self.subordinates.representative(of: user), isTrusted: isTrusted)
    }

    /// The user of this process.
    static var ownUser: UInt32 { geteuid() }

    /// Which user it is, as the kernel says; of a client's socket the one that listens.
    static func user(of socket: FileDescriptor) -> UInt32? {
        self.option(Self.credentials, of: socket, count: 3).flatMap { $0.count == 3 ? $0[1] : nil }
    }

    private static func option(_ name: Int32, of socket: FileDescriptor, count: Int) -> [UInt32]? {
        var values = [UInt32](repeating: 0, count: count)
        var length = socklen_t(count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(socket.number, SOL_SOCKET, name, &values, &length) == 0 else { return nil }
        return Array(values.prefix(Int(length) / MemoryLayout<UInt32>.size))
    }
}

/// The kinds of sockets, which the C library has as an enumeration.
enum SocketType {
    static let datagram = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    static let blockingStream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
}
