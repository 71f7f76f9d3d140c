// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

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
