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
    var nextHops: [NextHop]
    /// The next-hop object the route uses; its next hops are not in the answer when net.ipv4.nexthop_compat_mode is 0.
    var nextHopID: UInt32?
    var source: InternetAddress?
    var metric: UInt32
    var table: UInt32
    /// In how long the route has certainly ended, when it has a lifetime; nil in the last hundredth of a second too.
    var expiresIn: Duration?
    /// LWTUNNEL_ENCAP_*, what packets are put into (RTA_ENCAP_TYPE).
    var encapsulation: UInt16?
}

extension RouteReply {
    /// The length of struct rtmsg.
    private static let headerLength = 12

    /// What a lifetime may be longer than its number says: the rounding, and two ticks of a kernel with HZ=100.
    private static let roundedOff: Duration = .milliseconds(30)

    /// Reads RTM_NEWROUTE; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        guard message.family == AF_INET || message.family == AF_INET6,
            let table = message.field(at: 4, as: UInt8.self),
            let type = message.field(at: 7, as: UInt8.self),
            let flags = message.field(at: 8, as: UInt32.self)
        else { return nil }
        self.type = type
        self.nextHops = []
        self.metric = 0
        self.table = UInt32(table)
        var index: UInt32?
        var gateway: InternetAddress?
        var isMultipath = false
        // Once through them all: every event reads several answers.
        message.forEachAttribute(headerLength: Self.headerLength) { type, attribute in
            switch rtattr_type_t(UInt32(type)) {
            case RTA_NH_ID: self.nextHopID = attribute.uint32
            case RTA_PREFSRC: self.source = attribute.address
            case RTA_PRIORITY: self.metric = attribute.uint32 ?? 0
            // The header's field has 8 bits; larger numbers stand in an attribute.
            case RTA_TABLE: self.table = attribute.uint32 ?? UInt32(table)
            case RTA_OIF: index = attribute.uint32
            case RTA_GATEWAY: gateway = attribute.address
            case RTA_ENCAP_TYPE: self.encapsulation = attribute.load(at: 0)
            case RTA_VIA: gateway = gateway ?? Self.via(attribute)
            case RTA_MULTIPATH:
                isMultipath = true
                self.readNextHops(attribute)
            case RTA_CACHEINFO:
                // struct rta_cacheinfo: clntref, lastuse, expires in hundredths of a second (USER_HZ), rounded down; 0
                // means none.
                if let hundredths: Int32 = attribute.load(at: 8), hundredths > 0 {
                    self.expiresIn = .milliseconds(Int64(hundredths) * 10) + Self.roundedOff
                }
            default: break
            }
        }
        if let index, !isMultipath {
            self.nextHops = [NextHop(index, gateway, flags: flags)]
        }
    }

    /// The interface through which a router advertisement came that made a route; nil for other messages.
    static func advertiser(_ message: NetlinkMessage) -> UInt32? {
        guard message.type == RTM_NEWROUTE, message.field(at: 5, as: UInt8.self) == UInt8(RTPROT_RA) else { return nil }
        return message.attribute(Int(RTA_OIF.rawValue), headerLength: Self.headerLength)?.uint32
    }

    /// Reads the list of struct rtnexthop (length, flags, hops, interface index), each followed by attributes.
    private mutating func readNextHops(_ multipath: NetlinkAttribute) {
        var offset = 0
        while let length: UInt16 = multipath.load(at: offset), length >= 8,
            let flags: UInt8 = multipath.load(at: offset + 2),
            let weight: UInt8 = multipath.load(at: offset + 3), let index: UInt32 = multipath.load(at: offset + 4)
        {
            func attribute(_ type: rtattr_type_t) -> NetlinkAttribute? {
                multipath.nested(Int(type.rawValue), from: offset + 8, to: offset + Int(length))
            }
            let gateway = attribute(RTA_GATEWAY)?.address ?? attribute(RTA_VIA).flatMap(Self.via)
            var nextHop = NextHop(index, gateway, flags: UInt32(flags))
            // One less than what `ip route` shows.
            nextHop.weight = UInt32(weight) + 1
            self.nextHops.append(nextHop)
            self.encapsulation = attribute(RTA_ENCAP_TYPE)?.load(at: 0) ?? self.encapsulation
            offset += (Int(length) + 3) & ~3
        }
    }

    /// Reads struct rtvia: a next hop of the other family.
    private static func via(_ attribute: NetlinkAttribute) -> InternetAddress? {
        InternetAddress(bytes: attribute.bytes.dropFirst(2))
    }
}

extension NextHop {
    /// Reads the flags of a next hop: RTNH_F_DEAD and RTNH_F_LINKDOWN.
    init(_ interface: UInt32, _ gateway: InternetAddress?, flags: UInt32) {
        let isDown = flags & 0x11 != 0
        self.init(interfaceIndex: interface, gateway: gateway, isDown: isDown, isPassedOver: flags & 0x1 != 0)
    }
}
