// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc
import NetPath

/// One message of the kernel, valid while the function it is handed to runs.
///
/// All reading goes through here and is bounded by the lengths that libnl checked: whatever the bytes are, an
/// attribute that does not fit is absent.
@safe
struct NetlinkMessage {
    private let header: UnsafeMutablePointer<nlmsghdr>

    /// The length of struct nlmsghdr.
    private static let headerLength = 16

    /// Hands every complete message of a datagram to a function; an incomplete rest is ignored.
    static func forEach(in datagram: UnsafeRawBufferPointer, _ body: (NetlinkMessage) -> Void) {
        guard let start = datagram.baseAddress else { return }
        var remaining = Int32(clamping: datagram.count)
        var next: UnsafeMutablePointer<nlmsghdr>? = unsafe UnsafeMutableRawPointer(mutating: start)
            .assumingMemoryBound(to: nlmsghdr.self)
        while let header = unsafe next, unsafe netpath_message_fits(header, remaining) {
            unsafe body(NetlinkMessage(header: header))
            unsafe next = netpath_next_message(header, &remaining)
        }
    }

    /// Hands every complete message of recorded bytes to a function.
    static func forEach(in datagram: [UInt8], _ body: (NetlinkMessage) -> Void) {
        unsafe datagram.withUnsafeBytes { unsafe Self.forEach(in: $0, body) }
    }

    var type: Int { Int(unsafe self.header.pointee.nlmsg_type) }
    var flags: Int32 { Int32(unsafe self.header.pointee.nlmsg_flags) }
    var sequence: UInt32 { unsafe self.header.pointee.nlmsg_seq }

    /// The bytes after the netlink header, family header included.
    private var payload: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(self.header) + Self.headerLength,
            count: Int(self.header.pointee.nlmsg_len) - Self.headerLength
        )
    }

    /// The error number of an acknowledgement, or of the end of a dump: 0 or positive; nil in other messages.
    var error: Int32? {
        switch self.type {
        case Int(NLMSG_ERROR), Int(NLMSG_DONE):
            // NLMSG_DONE carries the error a dump ended with (netlink(7) does not say so, the kernel does).
            unsafe self.payload.count >= 4 ? 0 &- (unsafe self.payload.loadUnaligned(as: Int32.self)) : 0
        default: nil
        }
    }

    /// The family of addresses (AF_*), which the family headers of rtnetlink begin with.
    var family: Int32? { self.field(at: 0, as: UInt8.self).map(Int32.init) }

    /// Reads a field of the family header; nil when the message is too short.
    func field<Value: BitwiseCopyable>(at offset: Int, as _: Value.Type) -> Value? {
        let payload = unsafe self.payload
        guard offset + MemoryLayout<Value>.size <= payload.count else { return nil }
        return unsafe payload.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }

    /// Finds an attribute behind a family header of the given length.
    func attribute(_ type: Int, headerLength: Int) -> NetlinkAttribute? {
        guard unsafe nlmsg_valid_hdr(self.header, Int32(headerLength)) != 0 else { return nil }
        return unsafe nlmsg_find_attr(self.header, Int32(headerLength), Int32(type)).map { unsafe NetlinkAttribute($0) }
    }

    /// Finds an attribute of a message about a neighbour or an entry of a bridge (NDA_*), behind struct ndmsg.
    func neighbourAttribute(_ type: Int) -> NetlinkAttribute? { self.attribute(type, headerLength: 12) }

    /// Hands every attribute behind a family header of the given length to a function, with its type.
    func forEachAttribute(headerLength: Int, _ body: (Int, NetlinkAttribute) -> Void) {
        let payload = unsafe self.payload
        unsafe NetlinkAttribute.forEach(in: UnsafeRawBufferPointer(rebasing: payload.dropFirst(headerLength)), body)
    }

    /// Lets libnl-route make an object of the message; nil when it is not one it can read.
    ///
    /// The object is valid while the body runs.
    func withObject<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let copy = unsafe nlmsg_convert(self.header) else { return nil }
        defer { unsafe nlmsg_free(copy) }
        unsafe nlmsg_set_proto(copy, NETLINK_ROUTE)
        var object: OpaquePointer?
        let status = unsafe withUnsafeMutablePointer(to: &object) { slot in
            unsafe nl_msg_parse(
                copy,
                { parsed, slot in
                    unsafe nl_object_get(parsed)
                    unsafe slot?.assumingMemoryBound(to: OpaquePointer?.self).pointee = parsed
                },
                slot
            )
        }
        guard let object = unsafe object else { return nil }
        defer { unsafe nl_object_put(object) }
        return status >= 0 ? unsafe body(object) : nil
    }
}

/// One attribute of a message, valid as long as the message.
@safe
struct NetlinkAttribute {
    private let attribute: UnsafeMutablePointer<rtattr>

    fileprivate init(_ attribute: UnsafeMutablePointer<rtattr>) {
        unsafe self.attribute = attribute
    }

    /// Takes what libnl found: its own name for the same structure.
    fileprivate init(_ found: UnsafeMutablePointer<nlattr>) {
        unsafe self.init(UnsafeMutableRawPointer(found).assumingMemoryBound(to: rtattr.self))
    }

    /// The length of struct rtattr.
    private static let headerLength = 4

    /// The number, without the flags NLA_F_NESTED and NLA_F_NET_BYTEORDER.
    fileprivate var type: Int { Int(unsafe self.attribute.pointee.rta_type & 0x3FFF) }

    private var payload: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(self.attribute) + Self.headerLength,
            count: Int(self.attribute.pointee.rta_len) - Self.headerLength
        )
    }

    /// The bytes.
    var bytes: [UInt8] { unsafe Array(self.payload) }
    /// The value as a number of 32 bits; nil when it is shorter.
    var uint32: UInt32? { self.load(at: 0) }
    /// The value as an address of 4 or 16 bytes; nil for other lengths.
    var address: InternetAddress? { unsafe InternetAddress(networkOrder: self.payload) }

    /// Reads a number inside the value; nil when it does not fit.
    func load<Value: BitwiseCopyable>(at offset: Int) -> Value? {
        let payload = unsafe self.payload
        guard offset >= 0, offset + MemoryLayout<Value>.size <= payload.count else { return nil }
        return unsafe payload.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }

    /// Hands every attribute nested in this one to a function, with its type.
    func forEachNested(_ body: (Int, NetlinkAttribute) -> Void) { unsafe Self.forEach(in: self.payload, body) }

    /// Hands every attribute in some bytes to a function, with its type.
    fileprivate static func forEach(in bytes: UnsafeRawBufferPointer, _ body: (Int, NetlinkAttribute) -> Void) {
        guard let start = bytes.baseAddress else { return }
        var remaining = Int32(clamping: bytes.count)
        var next = unsafe UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: rtattr.self)
        while unsafe netpath_attribute_fits(next, remaining) {
            let attribute = unsafe NetlinkAttribute(next)
            body(attribute.type, attribute)
            unsafe next = netpath_next_attribute(next, &remaining)
        }
    }

    /// Finds an attribute nested in this one, behind an optional header and up to an optional end.
    func nested(_ type: Int, from start: Int = 0, to end: Int? = nil) -> NetlinkAttribute? {
        let payload = unsafe self.payload
        let end = min(end ?? payload.count, payload.count)
        guard start < end, let base = payload.baseAddress else { return nil }
        let first = unsafe UnsafeMutableRawPointer(mutating: base + start).assumingMemoryBound(to: nlattr.self)
        return unsafe nla_find(first, Int32(end - start), Int32(type)).map { unsafe NetlinkAttribute($0) }
    }
}

extension InternetAddress {
    /// Reads an address of 4 or 16 bytes; nil for other lengths.
    ///
    /// Not byte by byte: every event has several.
    init?(networkOrder bytes: UnsafeRawBufferPointer) {
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(bigEndian: unsafe bytes.loadUnaligned(as: UInt32.self)))
        case 16: self.init(ipv6: UInt128(bigEndian: unsafe bytes.loadUnaligned(as: UInt128.self)))
        default: return nil
        }
    }
}
