// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// What an interface is, by itself or through what is below it; names are no evidence.
package enum InterfaceClassification: Hashable {
    /// The type is known.
    case type(InterfaceType)
    /// The type is that of the interface below; wired when there is none.
    case asLower

    /// Classifies by what the kernel and its device say of an interface.
    ///
    /// The order of the tests was checked against every kind of interface the kernel makes. ARPHRD alone never decides:
    /// Wi-Fi, cellular, bridges, bonds and taps are all 1.
    ///
    /// - Parameters:
    ///   - hardwareType: The link-layer type (ARPHRD).
    ///   - isLoopback: Whether the kernel calls it a loopback.
    ///   - kind: The kind of a virtual interface (IFLA_INFO_KIND).
    ///   - deviceType: DEVTYPE, such as `wlan`.
    ///   - isWireless: Whether a wireless device stands behind it.
    ///   - hasDevice: Whether any device stands behind it.
    ///   - lowers: The names of the interfaces that it is built on.
    ///   - isCellular: Whether one of those is a modem's.
    /// - Returns: What it is.
    package static func classify(
        hardwareType: UInt16,
        isLoopback: Bool,
        kind: String?,
        deviceType: String?,
        isWireless: Bool,
        hasDevice: Bool,
        lowers: [String],
        isCellular: (String) -> Bool
    ) -> InterfaceClassification {
        if isLoopback || hardwareType == 772 { return .type(.loopback) }
        // 801 to 803 are monitor interfaces, which carry no IP.
        if (801...803).contains(hardwareType) { return .type(.other) }
        if isWireless || deviceType == "wlan" { return .type(.wifi) }
        // A multiplexed modem channel (qmimux0) has neither a device type nor a kind, only a lower.
        if deviceType == "wwan" || lowers.contains(where: isCellular) { return .type(.cellular) }
        switch kind {
        case "wwan", "rmnet": return .type(.cellular)
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "bridge": return .asLower
        case "veth", "netkit", "dsa": return .type(.wired)
        case .some: return .type(.other)
        case nil: break
        }
        // Bluetooth and the gadget side of a USB cable are ARPHRD 1 with a device, and name themselves.
        // So do the ports of a switch (DSA), which had no kind before Linux 6.1.
        let isWired = hasDevice && deviceType == nil || deviceType == "dsa"
        return .type(hardwareType == 1 && isWired ? .wired : .other)
    }
}
