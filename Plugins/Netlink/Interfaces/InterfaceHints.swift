// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// What sysfs says of an interface beyond what netlink tells (`Documentation/ABI/testing/sysfs-class-net`).
struct InterfaceHints: Hashable {
    /// The line DEVTYPE of `uevent`, such as `wlan` or `wwan`.
    var deviceType: String?
    /// Whether a wireless device stands behind it (`phy80211`).
    var isWireless = false
    /// Whether any device stands behind it (`device`).
    var hasDevice = false
    /// The name of the device's driver (`device/driver`).
    var driver: String?
    /// The names of the interfaces it is built on (`lower_*`).
    var lowers: [String] = []
    /// Whether a radio switch blocks it; nil when it has none.
    var isRadioBlocked: Bool?

    /// Whether they can change what an interface is taken for: a virtual one of a known kind names itself.
    static func areNeeded(kind: String?, isLoopback: Bool) -> Bool { kind == nil && !isLoopback }

    /// Reads the hints of an interface.
    ///
    /// - Returns: nil when sysfs is not there, shows another network namespace, or the interface was renamed or
    ///   removed meanwhile: the index has to agree before and after reading.
    static func read(name: String, index: UInt32, root: String) -> InterfaceHints? {
        // Names come from the kernel, which allows neither "/" nor ".." in them; be sure all the same.
        guard !name.contains("/"), name != "..", name != "." else { return nil }
        let directory = "\(root)/class/net/\(name)"
        func indexAgrees() -> Bool {
            FileAccess.contents("\(directory)/ifindex", limit: 32).map { $0.prefix { $0.isNumber } == "\(index)" }
                ?? false
        }
        guard indexAgrees() else { return nil }
        var hints = InterfaceHints()
        hints.deviceType = self.deviceType(name: name, root: root)
        hints.isWireless = FileAccess.exists("\(directory)/phy80211")
        hints.hasDevice = FileAccess.exists("\(directory)/device")
        hints.driver = FileAccess.linkTarget("\(directory)/device/driver")?.split(separator: "/").last.map(String.init)
        hints.lowers = FileAccess.names(in: directory).filter { $0.hasPrefix("lower_") }
            .map { String($0.dropFirst("lower_".count)) }
        if hints.isWireless { hints.isRadioBlocked = self.isRadioBlocked("\(directory)/phy80211") }
        return indexAgrees() ? hints : nil
    }

    /// Reads the line DEVTYPE of an interface.
    static func deviceType(name: String, root: String) -> String? {
        let lines = FileAccess.contents("\(root)/class/net/\(name)/uevent")?.split(separator: "\n")
        return lines?.last { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst("DEVTYPE=".count)) }
    }

    private static func isRadioBlocked(_ phy: String) -> Bool? {
        let switches = FileAccess.names(in: phy).filter { $0.hasPrefix("rfkill") }
        guard !switches.isEmpty else { return nil }
        return switches.contains { name in
            ["soft", "hard"].contains { FileAccess.contents("\(phy)/\(name)/\($0)", limit: 8)?.first == "1" }
        }
    }
}
