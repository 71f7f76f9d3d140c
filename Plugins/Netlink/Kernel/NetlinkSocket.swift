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
    /// Room for datagrams; only the pages that one touched are real.
    private var buffer: UnsafeMutableRawBufferPointer
    private var datagrams = [netpath_datagram](repeating: netpath_datagram(), count: NetlinkSocket.batchSize)
    private var nextSequence: UInt32 = 1

    /// Opens and binds a socket.
    ///
    /// - Parameters:
    ///   - protocol: The family of netlink messages (`netlink(7)`).
    ///   - bufferSize: The room for datagrams; the kernel makes dumps of 32 KiB at most.
    /// - Throws: ``NetlinkError`` when the system refuses, as a sandbox without netlink does.
    init(protocol: Int32 = NETLINK_ROUTE, bufferSize: Int = 65_536) throws(NetlinkError) {
        guard let socket = unsafe nl_socket_alloc() else { throw NetlinkError("allocate a netlink socket", ENOMEM) }
        unsafe self.socket = unsafe socket
        unsafe self.buffer = .allocate(byteCount: bufferSize, alignment: Int(NLMSG_ALIGNTO))
        unsafe nl_socket_disable_auto_ack(socket)
        let result = unsafe nl_connect(socket, `protocol`)
        // libnl's own numbers leave out why: it has one for all reasons it does not expect, EMFILE among them.
        let error = errno
        // Throwing here runs deinit, which frees the socket.
        self.fileDescriptor = unsafe nl_socket_get_fd(socket)
        guard result == 0 else { throw NetlinkError(refusingSocket: error) }
    }

    deinit {
        unsafe nl_socket_free(self.socket)
        unsafe self.buffer.deallocate()
    }

    /// The room for datagrams, which grows with what comes.
    var bufferSize: Int { unsafe self.buffer.count }

    /// The descriptor, for polling.
    let fileDescriptor: Int32

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
    func attach(_ filter: EventFilter) -> Int32 {
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
    func join(_ group: some RawRepresentable<UInt32>) -> Int32 {
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

    /// Sends requests in one datagram; each is answered by itself, in order.
    ///
    /// - Returns: The sequence number that the first one's answers carry; the others count on.
    /// - Throws: ``NetlinkError`` when the kernel does not take them.
    func send(_ requests: [NetlinkRequest]) throws(NetlinkError) -> UInt32 {
        let first = self.nextSequence
        var datagram: [UInt8] = []
        datagram.reserveCapacity(requests.count * 64)
        for request in requests {
            request.append(to: &datagram, sequence: self.nextSequence)
            self.nextSequence &+= 1
        }
        let result = unsafe Glibc.send(self.fileDescriptor, datagram, datagram.count, 0)
        guard result >= 0 else { throw NetlinkError("send a netlink request", errno) }
        return first
    }

    /// What a read brought.
    enum Reception: Hashable {
        /// So many datagrams were read, and their messages handed to the body.
        case messages(Int)
        /// Nothing there.
        case empty
        /// Messages are lost, for want of room in the kernel (ENOBUFS) or here.
        case overrun
        /// The socket does not work any more; the error number.
        case failed(Int32)
    }

    /// How many datagrams are read at once; fewer than that were all there were.
    static let batchSize = Int(netpath_batch_size)

    /// Reads all datagrams there are, but not more than a limit, and hands their messages to a function.
    ///
    /// One system call instead of one for each, and another one to learn that there are no more. Not nl_recv: that looks at
    /// every datagram twice, to learn its size. One that is larger than its room, as of a link with hundreds of virtual
    /// functions, counts as lost, and the next one of that size fits. Any process may send to a netlink socket; only what
    /// comes from the kernel (port 0) is believed.
    func receive(upTo limit: Int = NetlinkSocket.batchSize, _ body: (NetlinkMessage) -> Void) -> Reception {
        // Messages are aligned to four bytes.
        let slot = unsafe (self.buffer.count / limit) & ~3
        let room = unsafe self.buffer.baseAddress
        let count = Int(unsafe netpath_receive(self.fileDescriptor, room, slot, Int32(limit), &self.datagrams))
        if count < 0 { return Self.reception(of: errno) }
        var longest = 0
        for position in 0..<count {
            let length = Int(self.datagrams[position].length)
            longest = max(longest, length)
            guard self.datagrams[position].port == 0, length <= slot else { continue }
            let start = position * slot
            let bytes = unsafe self.buffer[start..<(start + length)]
            unsafe NetlinkMessage.forEach(in: UnsafeRawBufferPointer(rebasing: bytes), body)
        }
        if longest <= slot { return .messages(count) }
        self.grow(to: ((longest + 3) & ~3) * limit)
        return .overrun
    }

    private static func reception(of error: Int32) -> Reception {
        switch error {
        case EAGAIN, EINTR: .empty
        case ENOBUFS: .overrun
        default: .failed(error)
        }
    }

    private func grow(to size: Int) {
        unsafe self.buffer.deallocate()
        unsafe self.buffer = .allocate(byteCount: size, alignment: Int(NLMSG_ALIGNTO))
    }
}
