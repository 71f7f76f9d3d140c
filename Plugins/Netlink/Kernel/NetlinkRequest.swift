// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// A request to the kernel, before it is sent.
struct NetlinkRequest {
    struct Attribute {
        let type: UInt16
        let payload: [UInt8]
    }

    let type: UInt16
    let flags: UInt16
    let header: [UInt8]
    var attributes: [Attribute] = []

    /// Writes the message (struct nlmsghdr, the family's header, attributes), each part padded to four octets.
    func append(to datagram: inout [UInt8], sequence: UInt32) {
        let length = self.attributes.reduce(16 + self.header.count) { $0 + 4 + ($1.payload.count + 3) & ~3 }
        datagram.appendNative(UInt32(length))
        datagram.appendNative(self.type)
        datagram.appendNative(self.flags)
        datagram.appendNative(sequence)
        datagram.appendNative(UInt32(0))
        datagram += self.header
        for attribute in self.attributes {
            datagram.appendNative(UInt16(4 + attribute.payload.count))
            datagram.appendNative(attribute.type)
            datagram += attribute.payload
            while datagram.count % 4 != 0 { datagram.append(0) }
        }
    }

    private init(_ type: Int, flags: Int32, header: [UInt8]) {
        self.type = UInt16(type)
        self.flags = UInt16(NLM_F_REQUEST | flags)
        self.header = header
    }

    mutating func append(_ type: Int, _ value: UInt32) {
        self.attributes.append(Attribute(type: UInt16(type), payload: value.nativeOctets))
    }

    /// Asks for all links, without their counters: walking them costs the kernel more than everything else.
    static func dumpLinks() -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETLINK, flags: NLM_F_DUMP, header: interfaceHeader(index: 0))
        request.append(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
        return request
    }

    /// Asks for one link.
    static func link(_ index: UInt32) -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETLINK, flags: 0, header: interfaceHeader(index: index))
        request.append(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
        return request
    }

    /// Asks for all addresses of both families.
    static func dumpAddresses() -> NetlinkRequest {
        NetlinkRequest(RTM_GETADDR, flags: NLM_F_DUMP, header: [UInt8](repeating: 0, count: 8))
    }

    /// Asks for a next-hop object.
    static func nextHop(_ id: UInt32) -> NetlinkRequest {
        var request = NetlinkRequest(RTM_GETNEXTHOP, flags: 0, header: [UInt8](repeating: 0, count: 8))
        request.append(NHA_ID, id)
        return request
    }

    /// Asks what the kernel would do with a packet.
    ///
    /// - Parameters:
    ///   - destination: Where it goes.
    ///   - interface: The interface it has to leave through; nil leaves the choice to the kernel.
    ///   - matchesTable: Whether the answer shall be the route as it stands in the table; else it is the route as
    ///     applied to this packet, which alone carries the source address.
    /// - Returns: The request.
    static func route(to destination: IPAddress, through interface: UInt32?, matchesTable: Bool) -> NetlinkRequest {
        // With FIB_MATCH alone IPv4 reports table 254 for routes of other tables; IPv6 answers both flags together
        // with EINVAL under strict checking, which looks like a blackhole.
        var flags: Int32 = 0
        if matchesTable { flags |= RTM_F_FIB_MATCH }
        if matchesTable, destination.family == .ipv4 { flags |= RTM_F_LOOKUP_TABLE }
        let header: [UInt8] =
            [UInt8(destination.family == .ipv4 ? AF_INET : AF_INET6), UInt8(destination.bitWidth), 0, 0, 0, 0, 0, 0]
            + UInt32(flags).nativeOctets
        var request = NetlinkRequest(RTM_GETROUTE, flags: 0, header: header)
        request.attributes.append(Attribute(type: UInt16(RTA_DST.rawValue), payload: destination.octets))
        if let interface { request.append(Int(RTA_OIF.rawValue), interface) }
        return request
    }

    /// struct ifinfomsg (`rtnetlink(7)`): family, padding, type, index, flags, change mask.
    private static func interfaceHeader(index: UInt32) -> [UInt8] {
        [0, 0, 0, 0] + index.nativeOctets + [UInt8](repeating: 0, count: 8)
    }
}

extension [UInt8] {
    /// Appends the octets of a number in the machine's own order, as netlink wants them.
    fileprivate mutating func appendNative(_ value: some FixedWidthInteger) {
        // Swapped on big-endian machines: least significant octet first is the native order on both then.
        let value = value.littleEndian
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            self.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

extension UInt32 {
    fileprivate var nativeOctets: [UInt8] {
        var octets: [UInt8] = []
        octets.appendNative(self)
        return octets
    }
}
