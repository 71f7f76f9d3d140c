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
    /// When the kernel added it (`struct ifa_cacheinfo`, which counts hundredths of a second in 32 bits).
    var createdAt: MonotonicTime
}

extension AddressUpdate {
    /// Reads RTM_NEWADDR or RTM_DELADDR; nil for families that are not the internet's.
    init?(_ message: NetlinkMessage) {
        // libnl's getters do not check what kind of object they are given.
        guard message.type == RTM_NEWADDR || message.type == RTM_DELADDR,
            let update = unsafe message.withObject({ unsafe AddressUpdate($0) }) ?? nil
        else { return nil }
        self = update
    }

    /// Completes the kernel's time by the present moment: its count begins anew after 497 days.
    mutating func completeTime(at now: MonotonicTime) {
        // A stamp may be ahead of the clock by a tick.
        let turns = (now + .seconds(1) - self.createdAt) / Self.turn
        if turns >= 1 { self.createdAt = self.createdAt + Self.turn * Int(turns) }
    }

    private static let turn: Duration = .milliseconds(10) * (1 << 32)

    private init?(_ object: OpaquePointer) {
        // IFA_LOCAL, not IFA_ADDRESS: on point-to-point links the latter is the peer.
        guard let address = unsafe Self.address(rtnl_addr_get_local(object)) else { return nil }
        let flags = unsafe rtnl_addr_get_flags(object)
        let length = Int(unsafe rtnl_addr_get_prefixlen(object))
        self.interfaceIndex = UInt32(clamping: unsafe rtnl_addr_get_ifindex(object))
        self.address = InterfaceAddress(
            AddressPrefix(address, length: min(max(length, 0), address.bitWidth)),
            scope: AddressScope(rawValue: UInt8(clamping: unsafe rtnl_addr_get_scope(object))),
            state: AddressState(kernelFlags: flags)
        )
        self.peer = unsafe Self.address(rtnl_addr_get_peer(object))
        self.isDynamic = flags & UInt32(IFA_F_PERMANENT) == 0
        self.createdAt = MonotonicTime(
            nanoseconds: Int64(unsafe rtnl_addr_get_create_time(object)) * 10_000_000
        )
    }

    private static func address(_ address: OpaquePointer?) -> InternetAddress? {
        guard let address = unsafe address, let bytes = unsafe nl_addr_get_binary_addr(address) else { return nil }
        let count = Int(unsafe nl_addr_get_len(address))
        return unsafe InternetAddress(networkOrder: UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
