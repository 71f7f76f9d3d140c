// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension InterfaceNature {
    /// What an interface is, by itself or through what is below it; names are no evidence.
    enum Classification: Hashable {
        case type(InterfaceType)
        /// The type is that of the interface below; wired when there is none.
        case asLower
    }

    /// Classifies in the order that was checked against every kind of interface the kernel makes.
    func classification(isLoopback: Bool, isCellular: (String) -> Bool) -> Classification {
        if isLoopback { return .type(.loopback) }
        // Monitor interfaces carry no IP.
        if (801...803).contains(self.hardwareType) { return .type(.other) }
        if self.isWireless || self.deviceType == "wlan" { return .type(.wifi) }
        if self.deviceType == "wwan" || self.lowers.contains(where: isCellular) { return .type(.cellular) }
        switch self.kind {
        case "wwan", "rmnet": return .type(.cellular)
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "bridge": return .asLower
        case "veth": return .type(.wired)
        case .some: return .type(.other)
        case nil: break
        }
        // Bluetooth and the gadget side of a USB cable are ARPHRD 1 with a device, and name themselves.
        return .type(self.hardwareType == 1 && self.hasDevice == true && self.deviceType == nil ? .wired : .other)
    }

    /// The kernel's kind of a virtual interface (IFLA_INFO_KIND) that sysfs does not show: the driver says it, mostly
    /// in the same word, and DEVTYPE where there is one.
    ///
    /// Of modems only those of the wwan subsystem have a kind; DEVTYPE is the same word for those at USB.
    static func kind(driver: String?, deviceType: String?, subsystem: String?, hardwareType: UInt16) -> String? {
        switch deviceType {
        case "bridge", "bond", "vlan", "vxlan", "geneve", "wireguard", "macsec", "ppp": return deviceType
        case "wwan": return subsystem == "wwan" ? deviceType : nil
        default: break
        }
        switch driver {
        case "bonding": return "bond"
        case "802.1Q VLAN Support": return "vlan"
        case "bridge", "dummy", "geneve", "gre", "gretap", "ifb", "ip6gre", "ip6tnl", "ipip", "ipvlan", "ipvtap",
            "macsec", "macvlan", "macvtap", "nlmon", "rmnet", "sit", "team", "tun", "vcan", "veth", "vrf", "vti",
            "vti6", "vxlan", "wireguard", "xfrm":
            return driver
        default: break
        }
        return hardwareType == 512 ? "ppp" : nil
    }
}
