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

    /// Hands every complete message of a datagram to a function; an incomplete rest is ignored.
    static func forEach(in datagram: UnsafeRawBufferPointer, _ body: (NetlinkMessage) -> Void) {
        guard let start = datagram.baseAddress else { return }
        var remaining = Int32(clamping: datagram.count)
        var next: UnsafeMutablePointer<nlmsghdr>? = unsafe UnsafeMutableRawPointer(mutating: start)
            .assumingMemoryBound(to: nlmsghdr.self)
        while let header = unsafe next, unsafe nlmsg_ok(header, remaining) != 0 {
            unsafe body(NetlinkMessage(header: header))
            unsafe next = nlmsg_next(header, &remaining)
        }
    }

    /// Hands every complete message of recorded bytes to a function.
    static func forEach(in datagram: [UInt8], _ body: (NetlinkMessage) -> Void) {
        unsafe datagram.withUnsafeBytes { unsafe Self.forEach(in: $0, body) }
    }

    var type: Int { Int(unsafe self.header.pointee.nlmsg_type) }
    var flags: Int32 { Int32(unsafe self.header.pointee.nlmsg_flags) }
    var sequence: UInt32 { unsafe self.header.pointee.nlmsg_seq }

    /// The octets after the netlink header, family header included.
    private var payload: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: nlmsg_data(self.header), count: Int(nlmsg_datalen(self.header)))
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

    /// Hands every attribute behind a family header of the given length to a function, with its type.
    func forEachAttribute(headerLength: Int, _ body: (Int, NetlinkAttribute) -> Void) {
        guard unsafe nlmsg_valid_hdr(self.header, Int32(headerLength)) != 0 else { return }
        var remaining = unsafe nlmsg_attrlen(self.header, Int32(headerLength))
        var next: UnsafeMutablePointer<nlattr>? = unsafe nlmsg_attrdata(self.header, Int32(headerLength))
        while let attribute = unsafe next, unsafe nla_ok(attribute, remaining) != 0 {
            unsafe body(Int(nla_type(attribute)), NetlinkAttribute(attribute))
            unsafe next = nla_next(attribute, &remaining)
        }
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
    private let attribute: UnsafeMutablePointer<nlattr>

    fileprivate init(_ attribute: UnsafeMutablePointer<nlattr>) {
        unsafe self.attribute = attribute
    }

    private var payload: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: nla_data(self.attribute), count: Int(nla_len(self.attribute)))
    }

    /// The octets.
    var octets: [UInt8] { unsafe Array(self.payload) }
    /// The value as a number of 32 bits; nil when it is shorter.
    var uint32: UInt32? { self.load(at: 0) }
    /// The value as an address of 4 or 16 octets; nil for other lengths.
    var address: IPAddress? {
        let payload = unsafe self.payload
        return switch payload.count {
        case 4: unsafe IPAddress(ipv4: UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self)))
        case 16: unsafe IPAddress(ipv6: UInt128(bigEndian: payload.loadUnaligned(as: UInt128.self)))
        default: nil
        }
    }

    /// Reads a number inside the value; nil when it does not fit.
    func load<Value: BitwiseCopyable>(at offset: Int) -> Value? {
        let payload = unsafe self.payload
        guard offset >= 0, offset + MemoryLayout<Value>.size <= payload.count else { return nil }
        return unsafe payload.loadUnaligned(fromByteOffset: offset, as: Value.self)
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
