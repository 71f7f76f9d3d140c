// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Decides what an interface is from what the kernel says of it; names are no evidence.
///
/// The order of the tests was checked against every kind of interface the kernel makes. ARPHRD alone never decides:
/// Wi-Fi, cellular, bridges, bonds and taps are all 1.
enum Classification: Hashable {
    /// The type is known.
    case type(InterfaceType)
    /// The type is that of the interface below; wired when there is none.
    case asLower

    /// Classifies by link-layer type, kind and sysfs; `hints` is nil when sysfs does not help.
    static func classify(
        hardwareType: UInt16,
        isLoopback: Bool,
        kind: String?,
        hasParentDevice: Bool,
        hints: InterfaceHints?,
        isCellular: (String) -> Bool
    ) -> Classification {
        if isLoopback || hardwareType == 772 { return .type(.loopback) }
        // 801 to 803 are monitor interfaces, which carry no IP.
        if (801...803).contains(hardwareType) { return .type(.other) }
        if let hints {
            if hints.isWireless || hints.deviceType == "wlan" { return .type(.wifi) }
            // A multiplexed modem channel (qmimux0) has neither a device type nor a kind, only a lower.
            if hints.deviceType == "wwan" || hints.lowers.contains(where: isCellular) { return .type(.cellular) }
        }
        switch kind {
        case "wwan", "rmnet": return .type(.cellular)
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "bridge": return .asLower
        case "veth": return .type(.wired)
        case .some: return .type(.other)
        case nil: break
        }
        let hasDevice = hints?.hasDevice == true || hasParentDevice
        // Bluetooth and the gadget side of a USB cable are ARPHRD 1 with a device, and name themselves.
        let isNamedOtherwise = hints?.deviceType != nil
        return .type(hardwareType == 1 && hasDevice && !isNamedOtherwise ? .wired : .other)
    }

    /// Whether sysfs can change the answer: a virtual interface of a known kind names itself.
    static func needsHints(kind: String?, isLoopback: Bool) -> Bool {
        kind == nil && !isLoopback
    }
}
