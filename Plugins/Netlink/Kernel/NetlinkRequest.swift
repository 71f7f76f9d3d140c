// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// A request to the kernel: the bytes of its message, which are the same each time but for the sequence number.
struct NetlinkRequest {
    /// struct nlmsghdr, the family's header, attributes, each padded to four bytes.
    private var message: [UInt8] = []

    /// Adds the message to a datagram.
    func append(to datagram: inout [UInt8], sequence: UInt32) {
        let start = datagram.count
        datagram += self.message
        datagram.setNative(sequence, at: start + 8)
    }

    /// The same request about another interface; for one whose last attribute names an interface.
    func asking(about interface: UInt32) -> NetlinkRequest {
        var request = self
        request.message.setNative(interface, at: request.message.count - 4)
        return request
    }

    /// Begins a message: type, flags, and a header of that many bytes, which begins with the family (AF_*) and is empty.
    init(_ type: Int, flags: Int32 = 0, headerLength: Int, family: Int32 = 0) {
        self.message.reserveCapacity(64)
        self.message.append(contentsOf: repeatElement(0, count: 16 + headerLength))
        if family != 0 { self.message[16] = UInt8(family) }
        self.message.setNative(UInt16(type), at: 4)
        self.message.setNative(UInt16(NLM_F_REQUEST | flags), at: 6)
        self.noteLength()
    }

    /// Adds an attribute with a number.
    mutating func append(_ type: Int, _ value: some FixedWidthInteger) {
        let start = self.appendAttribute(type, length: value.bitWidth / 8)
        self.message.setNative(value, at: start)
    }

    /// Adds an attribute of some bytes.
    mutating func append(_ type: Int, bytes: [UInt8]) {
        let start = self.appendAttribute(type, length: bytes.count)
        self.message.replaceSubrange(start..<(start + bytes.count), with: bytes)
    }

    /// Sets a field of the family header.
    mutating func set(_ value: some FixedWidthInteger, at offset: Int) {
        self.message.setNative(value, at: 16 + offset)
    }

    /// Adds an attribute of zeros, and tells where its value begins.
    private mutating func appendAttribute(_ type: Int, length: Int) -> Int {
        let start = self.message.count
        // Attributes begin at multiples of four bytes; the padding does not count to their length.
        self.message.append(contentsOf: repeatElement(0, count: 4 + ((length + 3) & ~3)))
        self.message.setNative(UInt16(4 + length), at: start)
        self.message.setNative(UInt16(type), at: start + 2)
        self.noteLength()
        return start + 4
    }

    private mutating func noteLength() {
        self.message.setNative(UInt32(self.message.count), at: 0)
    }

    /// Asks for all links, without their counters: walking them costs the kernel more than everything else.
    static func dumpLinks() -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETLINK, flags: NLM_F_DUMP, headerLength: 16)
        request.append(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
        return request
    }

    /// Asks for one link, without its counters unless they are wanted.
    static func link(_ index: UInt32, withCounters: Bool = false) -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETLINK, headerLength: 16)
        // struct ifinfomsg (`rtnetlink(7)`): family, padding, type, index, flags, change mask.
        request.set(index, at: 4)
        if !withCounters { request.append(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS)) }
        return request
    }

    /// Asks for all addresses of both families, or for those of an interface and a family (AF_*).
    static func dumpAddresses(of interface: UInt32 = 0, _ family: Int32 = 0) -> NetlinkRequest {
        // struct ifaddrmsg: family, length of the prefix, flags, scope, index.
        var request = NetlinkRequest(RTM_GETADDR, flags: NLM_F_DUMP, headerLength: 8, family: family)
        request.set(interface, at: 4)
        return request
    }

    /// Asks for a next-hop object.
    static func nextHop(_ id: UInt32) -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETNEXTHOP, headerLength: 8)
        request.append(NHA_ID, id)
        return request
    }

    /// Asks for an entry of the neighbour table.
    static func neighbour(_ neighbour: Neighbour) -> NetlinkRequest {
        // struct ndmsg: family, padding, index, state, flags, type.
        var request = NetlinkRequest(RTM_GETNEIGH, headerLength: 12, family: neighbour.address.family.number)
        request.set(neighbour.interfaceIndex, at: 4)
        request.append(NDA_DST, bytes: neighbour.address.bytes)
        return request
    }

    /// Asks what the kernel would do with a packet.
    ///
    /// - Parameters:
    ///   - flow: The packet.
    ///   - matchesTable: Whether the answer shall be the route as it stands in the table; else it is the route as
    ///     applied to this packet, which alone carries the source address.
    /// - Returns: The request; its last attribute names the interface, where there is one.
    static func route(_ flow: Flow, matchesTable: Bool) -> NetlinkRequest {
        // With FIB_MATCH alone IPv4 reports table 254 for routes of other tables; IPv6 answers both flags together
        // with EINVAL under strict checking, which looks like a blackhole.
        var flags: Int32 = 0
        if matchesTable { flags |= RTM_F_FIB_MATCH }
        if matchesTable, flow.destination.family == .ipv4 { flags |= RTM_F_LOOKUP_TABLE }
        // struct rtmsg: family, lengths of destination and source, and others; flags.
        var request = NetlinkRequest(RTM_GETROUTE, headerLength: 12, family: flow.destination.family.number)
        request.set(UInt8(flow.destination.bitWidth), at: 1)
        request.set(UInt32(flags), at: 8)
        request.append(Int(RTA_DST.rawValue), bytes: flow.destination.bytes)
        if let source = flow.source {
            request.set(UInt8(source.bitWidth), at: 2)
            request.append(Int(RTA_SRC.rawValue), bytes: source.bytes)
        }
        if let mark = flow.mark { request.append(Int(RTA_MARK.rawValue), mark) }
        if let userID = flow.userID { request.append(Int(RTA_UID.rawValue), userID) }
        if let transport = flow.transport {
            request.append(Int(RTA_IP_PROTO.rawValue), transport.protocolNumber)
            // Ports are in network order.
            if let port = transport.sourcePort { request.append(Int(RTA_SPORT.rawValue), port.bigEndian) }
            if let port = transport.destinationPort { request.append(Int(RTA_DPORT.rawValue), port.bigEndian) }
        }
        if let interface = flow.interface { request.append(Int(RTA_OIF.rawValue), interface) }
        return request
    }
}

extension AddressFamily {
    /// The number that the system has for the family (AF_*).
    var number: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
}

extension [UInt8] {
    /// Puts a number in the machine's own order, as netlink wants it.
    fileprivate mutating func setNative(_ value: some FixedWidthInteger, at offset: Int) {
        // Swapped on big-endian machines: least significant byte first is the native order on both then.
        let value = value.littleEndian
        var bytes = self.mutableSpan
        for position in 0..<(value.bitWidth / 8) {
            bytes[offset + position] = UInt8(truncatingIfNeeded: value >> (8 * position))
        }
    }
}
