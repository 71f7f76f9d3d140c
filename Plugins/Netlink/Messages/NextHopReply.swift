// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What the kernel says of a next-hop object (`ip-nexthop(8)`).
struct NextHopReply: Hashable {
    var isBlackhole: Bool
    /// The hop, when the object is not a group.
    var nextHop: NextHop?
    /// The members of a group.
    var members: [Member]

    /// A member of a group, and its share.
    struct Member: Hashable {
        var id: UInt32
        var weight: UInt32?
    }

    /// The length of struct nhmsg.
    private static let headerLength = 8

    /// Reads RTM_NEWNEXTHOP.
    init?(_ message: NetlinkMessage) {
        guard let flags = message.field(at: 4, as: UInt32.self) else { return nil }
        func attribute(_ type: Int) -> NetlinkAttribute? {
            message.attribute(type, headerLength: Self.headerLength)
        }
        self.isBlackhole = attribute(NHA_BLACKHOLE) != nil
        self.nextHop = attribute(NHA_OIF)?.uint32.map { NextHop($0, attribute(NHA_GATEWAY)?.address, flags: flags) }
        self.members = []
        // struct nexthop_grp: id, weight less one (the low byte first), reserved; 8 bytes each.
        if let group = attribute(NHA_GROUP) {
            var offset = 0
            while let id: UInt32 = group.load(at: offset) {
                let weight: UInt16 = group.load(at: offset + 4) ?? 0
                self.members.append(Member(id: id, weight: UInt32(UInt16(littleEndian: weight)) + 1))
                offset += 8
            }
        }
    }
}
