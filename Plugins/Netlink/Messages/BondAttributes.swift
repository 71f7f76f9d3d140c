// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// What a bond says of its members in the message about its link (IFLA_INFO_DATA, kernel document `bonding.rst`).
struct BondAttributes: Hashable {
    /// The member that carries its traffic.
    var activeMember: UInt32?
    /// Whether it stays with the active member whatever becomes of that one's link: one member carries everything, and
    /// neither `miimon` nor `arp_interval` watches it.
    var isUnwatched = false
    /// How many members with a link it needs (`min_links`).
    var leastLinks: UInt32 = 0
}

extension BondAttributes {
    /// BOND_MODE_ACTIVEBACKUP of `if_bonding.h`.
    private static let activeBackup: UInt8 = 1

    /// Reads the attributes; what is missing or cut short is not known, and changes nothing.
    init(_ data: NetlinkAttribute) {
        self.activeMember = data.nested(IFLA_BOND_ACTIVE_SLAVE)?.uint32
        let mode: UInt8? = data.nested(IFLA_BOND_MODE)?.load(at: 0)
        self.isUnwatched =
            mode == Self.activeBackup && data.nested(IFLA_BOND_MIIMON)?.uint32 == 0
            && data.nested(IFLA_BOND_ARP_INTERVAL)?.uint32 == 0
        self.leastLinks = data.nested(IFLA_BOND_MIN_LINKS)?.uint32 ?? 0
    }
}
