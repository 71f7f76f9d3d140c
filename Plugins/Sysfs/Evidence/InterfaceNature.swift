// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension InterfaceNature {
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
