// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc

/// A route netlink socket (`rtnetlink(7)`), opened through libnl.
///
/// Used by one thread at a time; closed when the last reference is gone.
@safe
final class NetlinkSocket {
    private let socket: OpaquePointer

    /// Opens and binds a socket.
    ///
    /// - Throws: ``NetlinkError`` when the system refuses, as a sandbox without netlink does.
    init() throws(NetlinkError) {
        guard let socket = unsafe nl_socket_alloc() else { throw NetlinkError("allocate a netlink socket", ENOMEM) }
        unsafe self.socket = unsafe socket
        unsafe nl_socket_disable_auto_ack(socket)
        let result = unsafe nl_connect(socket, NETLINK_ROUTE)
        // Throwing here runs deinit, which frees the socket.
        guard result == 0 else { throw NetlinkError("open a netlink socket", libnl: result) }
    }

    deinit {
        unsafe nl_socket_free(self.socket)
    }

    /// The descriptor, for polling.
    var fileDescriptor: Int32 { unsafe nl_socket_get_fd(self.socket) }

    // MARK: Options

    /// Makes reads return at once when nothing is there.
    func setNonBlocking() {
        _ = unsafe nl_socket_set_nonblocking(self.socket)
    }

    /// Bounds how long a read waits for an answer the kernel owes us.
    func setReceiveTimeout(seconds: Int) {
        _ = self.setOption(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: seconds, tv_usec: 0))
    }

    /// Asks the kernel to check requests strictly, so that it honours what they filter for (Linux 4.20).
    ///
    /// Older kernels refuse, and ignore the filters instead.
    func requestStrictChecking() {
        _ = self.setOption(SOL_NETLINK, NETLINK_GET_STRICT_CHK, Int32(1))
    }

    /// Asks for room for that many bytes of events.
    ///
    /// The privileged way ignores the administrator's limit net.core.rmem_max; without the privilege the kernel
    /// silently caps the size, which is fine: a lost event is found out and made good.
    func setReceiveBuffer(bytes: Int) {
        if self.setOption(SOL_SOCKET, SO_RCVBUFFORCE, Int32(clamping: bytes)) != 0 {
            _ = self.setOption(SOL_SOCKET, SO_RCVBUF, Int32(clamping: bytes))
        }
    }

    /// Replaces the kernel-side filter; atomic, no event slips through in between.
    ///
    /// - Returns: 0, or the error number.
    func attach(_ filter: RouteFilter) -> Int32 {
        var instructions = filter.instructions.map {
            sock_filter(code: $0.code, jt: $0.jumpTrue, jf: $0.jumpFalse, k: $0.operand)
        }
        return unsafe instructions.withUnsafeMutableBufferPointer { buffer in
            let program = unsafe sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
            return unsafe self.setOption(SOL_SOCKET, SO_ATTACH_FILTER, program)
        }
    }

    /// Removes the filter, so that every event passes.
    func detachFilter() {
        _ = self.setOption(SOL_SOCKET, SO_DETACH_FILTER, Int32(0))
    }

    /// Subscribes to a group of events.
    ///
    /// - Returns: 0, or libnl's error number.
    func join(_ group: rtnetlink_groups) -> Int32 {
        unsafe nl_socket_add_membership(self.socket, Int32(group.rawValue))
    }

    private func setOption(_ level: Int32, _ name: Int32, _ value: some Any) -> Int32 {
        let size = socklen_t(MemoryLayout.size(ofValue: value))
        let result = unsafe withUnsafePointer(to: value) {
            unsafe setsockopt(self.fileDescriptor, level, name, $0, size)
        }
        return result == 0 ? 0 : errno
    }

    // MARK: Messages

    /// Sends a request.
    ///
    /// - Returns: The sequence number that its answers carry.
    /// - Throws: ``NetlinkError`` when the kernel does not take it.
    func send(_ request: NetlinkRequest) throws(NetlinkError) -> UInt32 {
        guard
            let message = unsafe nlmsg_alloc_size(512),
            unsafe nlmsg_put(message, 0, 0, Int32(request.type), 0, Int32(request.flags)) != nil
        else { throw NetlinkError("build a netlink request", ENOMEM) }
        defer { unsafe nlmsg_free(message) }
        var failed = unsafe request.header.withUnsafeBytes { header in
            unsafe nlmsg_append(
                message,
                UnsafeMutableRawPointer(mutating: header.baseAddress),
                header.count,
                Int32(NLMSG_ALIGNTO)
            )
        }
        for attribute in request.attributes {
            failed |= unsafe attribute.payload.withUnsafeBytes { payload in
                unsafe nla_put(message, Int32(attribute.type), Int32(payload.count), payload.baseAddress)
            }
        }
        guard failed == 0 else { throw NetlinkError("build a netlink request", EMSGSIZE) }
        let result = unsafe nl_send_auto(self.socket, message)
        guard result >= 0 else { throw NetlinkError("send a netlink request", libnl: result) }
        return unsafe nlmsg_hdr(message).pointee.nlmsg_seq
    }

    /// What a read brought.
    enum Reception: Hashable {
        /// Messages were handed to the body.
        case messages
        /// Nothing there.
        case empty
        /// The kernel dropped messages for want of room (ENOBUFS, which libnl reports as NLE_NOMEM).
        case overrun
        /// The socket does not work any more; libnl's error number.
        case failed(Int32)
    }

    /// Reads one datagram and hands its messages to a function.
    ///
    /// libnl looks at the size first and grows its buffer, so that a link with hundreds of virtual functions is never
    /// cut off. Any process may send to a netlink socket; only what comes from the kernel (port 0) is believed.
    func receive(_ body: (NetlinkMessage) -> Void) -> Reception {
        var sender = sockaddr_nl()
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = unsafe nl_recv(self.socket, &sender, &buffer, nil)
        defer { unsafe free(buffer) }
        if count == -NLE_AGAIN || count == -NLE_INTR { return .empty }
        if count == -NLE_NOMEM { return .overrun }
        if count < 0 { return .failed(count) }
        if sender.nl_pid == 0, let buffer = unsafe buffer {
            unsafe NetlinkMessage.forEach(in: UnsafeRawBufferPointer(start: buffer, count: Int(count)), body)
        }
        return .messages
    }
}
