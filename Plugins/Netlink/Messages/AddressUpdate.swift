// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What an address message says.
struct AddressUpdate: Hashable {
    var interfaceIndex: UInt32
    var address: InterfaceAddress
    /// The address at the other end of a point-to-point link (IFA_ADDRESS); nil where it is the interface's own.
    var peer: InternetAddress? = nil
    /// Whether the address has a lifetime, as those of DHCP and router advertisements have.
    var isDynamic: Bool
    /// When the kernel added it (`struct ifa_cacheinfo`), in hundredths of a second since boot.
    var createdAt: MonotonicTime
}

extension AddressUpdate {
    /// Reads RTM_NEWADDR or RTM_DELADDR; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        // struct ifaddrmsg: family, length of the prefix, flags, scope, index.
        guard message.type == RTM_NEWADDR || message.type == RTM_DELADDR,
            let family = message.field(at: 0, as: UInt8.self), family == AF_INET || family == AF_INET6,
            let length = message.field(at: 1, as: UInt8.self), let octet = message.field(at: 2, as: UInt8.self),
            let scope = message.field(at: 3, as: UInt8.self), let index = message.field(at: 4, as: UInt32.self)
        else { return nil }
        var local: InternetAddress?
        var other: InternetAddress?
        // The header's field has 8 bits; further flags stand in an attribute.
        var flags = UInt32(octet)
        var stamp: UInt32?
        message.forEachAttribute(headerLength: 8) { type, attribute in
            switch type {
            case Int(IFA_LOCAL): local = attribute.address
            case Int(IFA_ADDRESS): other = attribute.address
            case Int(IFA_FLAGS): flags = attribute.uint32 ?? flags
            // struct ifa_cacheinfo: two lifetimes, then when it was added and changed.
            case Int(IFA_CACHEINFO): stamp = attribute.load(at: 8)
            default: break
            }
        }
        // On point-to-point links IFA_ADDRESS is the peer; IPv6 has no IFA_LOCAL on others.
        guard let address = local ?? other else { return nil }
        self.interfaceIndex = index
        self.address = InterfaceAddress(
            AddressPrefix(address, length: min(Int(length), address.bitWidth)),
            scope: AddressScope(rawValue: scope),
            state: AddressState(kernelFlags: flags)
        )
        self.peer = other == address ? nil : other
        self.isDynamic = flags & UInt32(IFA_F_PERMANENT) == 0
        self.createdAt = MonotonicTime(nanoseconds: Int64(stamp ?? 0) * 10_000_000)
    }
}
