// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc
import NetPath
import NetPathSystem

/// What the kernel chooses as source address for a program that connects.
enum SourceChoice: Hashable {
    case address(InternetAddress)
    /// None: it finds no way for datagrams.
    case none
    /// A policy of IPsec refuses the packets.
    case refused
    /// It does not say: EAGAIN while IPsec negotiates, EPERM where a sandbox forbids to connect.
    case unknown
    /// The kernel was not asked: connecting is switched off, or the process gets no such socket.
    case notAsked
}

/// A datagram socket as any program of this user and control group opens it (`udp(7)`).
struct DatagramSocket {
    private let descriptor: FileDescriptor

    /// Opens a socket; nil when the system refuses, as it does when it has none of the family.
    init?(_ family: AddressFamily, protocol number: Int32 = 0) {
        guard let descriptor = FileDescriptor(socketOf: family, protocol: number) else { return nil }
        self.descriptor = descriptor
    }

    /// The interface that fresh sockets are bound to, as `ip vrf exec` has it for all programs of a control group
    /// (SO_BINDTOIFINDEX, Linux 5.0); nil without one.
    var boundInterface: UInt32? { self.option(SO_BINDTOIFINDEX).flatMap { $0 > 0 ? UInt32($0) : nil } }

    /// The mark that fresh sockets carry (SO_MARK); nil without one.
    var mark: UInt32? { self.option(SO_MARK).flatMap { $0 != 0 ? UInt32(bitPattern: $0) : nil } }

    private func option(_ name: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(self.descriptor.number, SOL_SOCKET, name, &value, &size)
        return result == 0 ? value : nil
    }

    /// Connects a fresh socket, which sends nothing, and asks for the source address it got (`getsockname(2)`).
    ///
    /// - Parameters:
    ///   - destination: Where to connect to.
    ///   - interface: The interface the socket has to be bound to; nil to leave the choice to the kernel.
    ///   - port: The port to connect to.
    /// - Returns: What the kernel chose.
    static func source(to destination: InternetAddress, through interface: UInt32?, port: UInt16) -> SourceChoice {
        guard destination.family == .ipv6, let socket = Self(.ipv6), socket.isBound(to: interface) else {
            return .notAsked
        }
        func connect(_ socket: Self) -> Int32 {
            let scope = destination.isLinkLocal ? interface ?? 0 : 0
            return socket.descriptor.connect(to: destination, port: port, scope: scope)
        }
        let error = connect(socket)
        if error == EPERM, Self.isRefusedByPolicy(through: interface, connect) { return .refused }
        if error != 0 { return LookupFailure(KernelError(number: error)) == .cannotTell ? .unknown : .none }
        return socket.source.map { .address($0) } ?? .unknown
    }

    private func isBound(to interface: UInt32?) -> Bool {
        guard let interface, self.boundInterface != interface else { return true }
        var index = Int32(bitPattern: interface)
        return unsafe setsockopt(self.descriptor.number, SOL_SOCKET, SO_BINDTOIFINDEX, &index, 4) == 0
    }

    /// The address that it is connected from.
    private var source: InternetAddress? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getsockname(self.descriptor.number, address, &size)
            }
        }
        guard result == 0 else { return nil }
        return unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe InternetAddress(networkOrder: $0) }
    }

    // MARK: IPsec

    /// Whether EPERM comes from a policy of IPsec, and not only for one protocol: the kernel counts what its policies
    /// refuse, for everybody to read, while sandboxes and programs of control groups refuse without a trace.
    private static func isRefusedByPolicy(through interface: UInt32?, _ connect: (Self) -> Int32) -> Bool {
        [0, self.udpLite].allSatisfy { number in
            guard let socket = Self(.ipv6, protocol: number), socket.isBound(to: interface),
                let before = self.refusals()
            else { return false }
            return connect(socket) == EPERM && self.refusals().map { $0 > before } == true
        }
    }

    /// IPPROTO_UDPLITE, whose sockets send nothing either when they connect.
    private static let udpLite: Int32 = 136

    /// How many packets policies of IPsec have refused (XfrmOutPolBlock, kernel document `xfrm_proc.rst`); nil where the
    /// kernel does not count.
    private static func refusals() -> UInt64? {
        FileAccess.contents("/proc/net/xfrm_stat")?.split(separator: "\n").lazy.map { $0.split(separator: "\t") }
            .first { $0.first?.hasPrefix("XfrmOutPolBlock") == true }?.last.flatMap { UInt64($0) }
    }
}

extension Flow {
    /// A packet as the programs of this user and control group send it: TCP to the port of HTTPS, with what the system
    /// gives to fresh sockets.
    ///
    /// Read once: what is set for a control group holds for the sockets that are opened afterwards, and the monitor
    /// stays in its own.
    static func ofPrograms(to destination: InternetAddress) -> Flow {
        let socket = DatagramSocket(.ipv4) ?? DatagramSocket(.ipv6)
        var flow = Flow(to: destination)
        flow.interface = socket?.boundInterface
        flow.mark = socket?.mark
        // The owner of a socket is the effective user, while the kernel takes the real one for the one who asks.
        flow.userID = geteuid()
        flow.transport = Transport(protocolNumber: Transport.tcp, destinationPort: Transport.https)
        return flow
    }
}
