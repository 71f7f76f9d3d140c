// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What the kernel answers to a route lookup.
///
/// Read attribute by attribute: libnl's route objects know neither next-hop objects nor, in Debian's version, the
/// next hops of the other family.
struct RouteReply: Hashable {
    /// RTN_*, the route's type.
    var type: UInt8
    var legs: [RouteLeg]
    /// The next-hop object the route uses; its legs are not in the answer when net.ipv4.nexthop_compat_mode is 0.
    var nextHopID: UInt32?
    var source: IPAddress?
    var metric: UInt32
    var table: UInt32
    /// In how long the route ends, when it has a lifetime.
    var expiresIn: Duration?

    /// The length of struct rtmsg.
    private static let headerLength = 12

    /// Reads RTM_NEWROUTE; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        guard let family = message.field(at: 0, as: UInt8.self), family == AF_INET || family == AF_INET6,
            let table = message.field(at: 4, as: UInt8.self),
            let type = message.field(at: 7, as: UInt8.self),
            let flags = message.field(at: 8, as: UInt32.self)
        else { return nil }
        func attribute(_ type: rtattr_type_t) -> NetlinkAttribute? {
            message.attribute(Int(type.rawValue), headerLength: Self.headerLength)
        }
        self.type = type
        self.nextHopID = attribute(RTA_NH_ID)?.uint32
        self.source = attribute(RTA_PREFSRC)?.address
        self.metric = attribute(RTA_PRIORITY)?.uint32 ?? 0
        // The header's field has 8 bits; larger numbers stand in an attribute.
        self.table = attribute(RTA_TABLE)?.uint32 ?? UInt32(table)
        self.legs = []
        if let multipath = attribute(RTA_MULTIPATH) {
            self.legs = Self.legs(of: multipath)
        } else if let index = attribute(RTA_OIF)?.uint32 {
            let gateway = attribute(RTA_GATEWAY)?.address ?? attribute(RTA_VIA).flatMap(Self.via)
            self.legs = [RouteLeg(interfaceIndex: index, gateway: gateway, isDown: flags & Self.downFlags != 0)]
        }
        // struct rta_cacheinfo: clntref, lastuse, expires in hundredths of a second (USER_HZ).
        if let hundredths: Int32 = attribute(RTA_CACHEINFO)?.load(at: 8), hundredths > 0 {
            self.expiresIn = .milliseconds(Int64(hundredths) * 10)
        }
    }

    /// RTNH_F_DEAD and RTNH_F_LINKDOWN.
    private static let downFlags: UInt32 = 0x11

    /// Reads the list of struct rtnexthop (length, flags, hops, interface index), each followed by attributes.
    private static func legs(of multipath: NetlinkAttribute) -> [RouteLeg] {
        var legs: [RouteLeg] = []
        var offset = 0
        while let length: UInt16 = multipath.load(at: offset), length >= 8,
            let flags: UInt8 = multipath.load(at: offset + 2),
            let index: UInt32 = multipath.load(at: offset + 4)
        {
            let end = offset + Int(length)
            let gateway =
                multipath.nested(Int(RTA_GATEWAY.rawValue), from: offset + 8, to: end)?.address
                ?? multipath.nested(Int(RTA_VIA.rawValue), from: offset + 8, to: end).flatMap(Self.via)
            legs.append(
                RouteLeg(interfaceIndex: index, gateway: gateway, isDown: UInt32(flags) & Self.downFlags != 0)
            )
            offset += (Int(length) + 3) & ~3
        }
        return legs
    }

    /// Reads struct rtvia: a next hop of the other family.
    private static func via(_ attribute: NetlinkAttribute) -> IPAddress? {
        IPAddress(octets: attribute.octets.dropFirst(2))
    }
}
