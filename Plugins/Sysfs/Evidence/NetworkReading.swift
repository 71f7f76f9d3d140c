// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What one pass read of one interface.
struct InterfaceReading: Hashable {
    var index: UInt32
    var name: String
    /// The lower 16 bits of the flags.
    var flags: UInt32
    var nature: InterfaceNature
    var operationalState: OperationalState?
    var hasCarrier: Bool?
    /// How often the carrier came (`carrier_up_count`): tells of a loss between two passes.
    var carrierGains: UInt32?
    var controllerIndex: UInt32?
    /// The member of a bond that carries its traffic.
    var activeMember: String?
    var isRadioBlocked: Bool?

    var isUp: Bool { self.flags & 0x1 != 0 }
    var isLoopback: Bool { self.flags & 0x8 != 0 || self.nature.hardwareType == 772 }
    /// IFF_RUNNING: the operational state is up or unknown.
    var isRunning: Bool { self.flags & 0x40 != 0 }
}

/// What an interface is, which seldom changes.
struct InterfaceNature: Hashable {
    /// ARPHRD_*, the link-layer type.
    var hardwareType: UInt16 = 0
    var hardwareAddress: [UInt8]?
    /// The line DEVTYPE of `uevent`, such as `wlan` or `bridge`.
    var deviceType: String?
    /// The kernel's kind of a virtual interface, as far as its driver tells.
    var kind: String?
    /// The driver of the hardware.
    var driver: String?
    /// Whether a wireless device stands behind it (`phy80211`).
    var isWireless = false
    /// Whether any device stands behind it; nil when sysfs does not tell.
    var hasDevice: Bool?
    /// The index of `iflink`: the interface below, the other end of a veth pair, or the interface itself.
    var linkIndex: UInt32?
    /// The names of the interfaces it is built on (`lower_*`).
    var lowers: [String] = []

    /// The kernel's kind of a virtual interface (IFLA_INFO_KIND) that sysfs does not show: the driver says it, mostly
    /// in the same word, and DEVTYPE where there is one.
    ///
    /// Of modems only those of the wwan subsystem have a kind; DEVTYPE is the same word for those at USB.
    static func kind(driver: String?, deviceType: String?, subsystem: String?, hardwareType: UInt16) -> String? {
        switch deviceType {
        case "bridge", "bond", "vlan", "vxlan", "geneve", "wireguard", "macsec", "ppp", "l2tpeth": return deviceType
        case "wwan": return subsystem == "wwan" ? deviceType : nil
        default: break
        }
        switch driver {
        case "bonding": return "bond"
        case "802.1Q VLAN Support": return "vlan"
        case "bridge", "dummy", "geneve", "gre", "gretap", "ifb", "ip6gre", "ip6tnl", "ipip", "ipvlan", "ipvtap",
            "macsec", "macvlan", "macvtap", "netkit", "nlmon", "rmnet", "sit", "team", "tun", "vcan", "veth", "vrf",
            "vti",
            "vti6", "vxlan", "wireguard", "xfrm":
            return driver
        default: break
        }
        return hardwareType == 512 ? "ppp" : nil
    }
}

/// What one pass read of everything.
struct NetworkReading: Hashable {
    /// Sorted by index.
    var interfaces: [InterfaceReading] = []
    /// By interface; nil when those of the family cannot be read.
    var addresses: [AddressFamily: [UInt32: [InterfaceAddress]]] = [:]
    /// The IPv6 addresses with a lifetime, as router advertisements and DHCPv6 give them, by interface.
    var dynamicAddresses: [UInt32: Set<AddressPrefix>] = [:]
    /// nil when the table of the family cannot be read, or not in time.
    var routes: [AddressFamily: RouteTable] = [:]
    /// What becomes of packets whose route refuses them, where a program was told so that connects.
    var refusals: [InternetAddress: RouteLookupResult] = [:]
    /// Interfaces whose routes the kernel ignores while they have no carrier (`ignore_routes_with_linkdown`).
    var ignoredWithoutCarrier: [AddressFamily: Set<String>] = [:]
    var sessions = PPPoESessions()
    var dnsServers: [DNSServer]?
    var limitations: [String] = []

    func interface(_ index: UInt32) -> InterfaceReading? { self.interfaces.first { $0.index == index } }
}

extension NetworkReading {
    /// Tells whether an IPv6 route leads to the network of an address of the interface it goes through; nil where there
    /// is no such address.
    ///
    /// Those of a VRF do not count: their routes are in its table.
    var recognizesOwnNetworks: ((RouteEntry) -> Bool)? {
        guard let addresses = self.addresses[.ipv6] else { return nil }
        var indices: [String: UInt32] = [:]
        for interface in self.interfaces
        where addresses[interface.index] != nil && !interface.isLoopback && interface.controllerIndex == nil
            && interface.nature.kind != "vrf"
        { indices[interface.name] = interface.index }
        guard !indices.isEmpty else { return nil }
        return { entry in
            guard entry.gateway == nil, let index = entry.interface.flatMap({ indices[$0] }) else { return false }
            return addresses[index]?.contains { address in
                address.prefix.length == entry.destination.length && address.prefix.contains(entry.destination.address)
            } ?? false
        }
    }
}
