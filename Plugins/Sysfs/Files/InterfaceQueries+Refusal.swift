// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

extension InterfaceQueries {
    /// Connects a datagram socket, which sends nothing (`udp(7)`), and takes the answer from what the program is told.
    func refusal(of destination: InternetAddress) -> RouteLookupResult {
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let family = destination.family == .ipv4 ? AF_INET : AF_INET6
        guard let socket = FileDescriptor(Glibc.socket(family, type, 0)) else { return .unknown }
        return RouteLookupResult(refusal: Self.connect(socket, to: destination))
    }

    /// The port of HTTPS, which policy rules may go by.
    private static let port = UInt16(443).bigEndian

    /// - Returns: 0, or the error number (`errno(3)`).
    private static func connect(_ socket: FileDescriptor, to destination: InternetAddress) -> Int32 {
        switch destination.family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = Self.port
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: destination.bytes) }
            return unsafe Self.connect(socket, &address)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = Self.port
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: destination.bytes) }
            return unsafe Self.connect(socket, &address)
        }
    }

    private static func connect<Address>(_ socket: FileDescriptor, _ address: UnsafePointer<Address>) -> Int32 {
        let size = socklen_t(MemoryLayout<Address>.size)
        let result = unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe Glibc.connect(socket.number, $0, size)
        }
        return result == 0 ? 0 : errno
    }
}

extension RouteLookupResult {
    /// What becomes of packets that a route of the main table refuses, by the error a program gets that connects:
    /// `fib_props` (net/ipv4/fib_semantics.c), `ip6_rt_type_to_error` (net/ipv6/route.c).
    init(refusal error: Int32) {
        self =
            switch error {
            case EINVAL: .rejected(.blackhole)
            case EHOSTUNREACH: .rejected(.unreachable)
            case EACCES: .rejected(.prohibit)
            // The route is a throw, and no other table has one; or there is nothing at all to send from.
            case ENETUNREACH, EADDRNOTAVAIL: .noRoute
            // A table that does not show has a route, or a sandbox forbids to connect.
            default: .unknown
            }
    }
}
