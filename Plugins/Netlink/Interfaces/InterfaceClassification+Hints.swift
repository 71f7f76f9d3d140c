// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension InterfaceClassification {
    /// Classifies by what netlink and sysfs say; `hints` is nil when sysfs does not help.
    static func classify(
        hardwareType: UInt16,
        isLoopback: Bool,
        kind: String?,
        hasParentDevice: Bool,
        hints: InterfaceHints?,
        isCellular: (String) -> Bool
    ) -> InterfaceClassification {
        self.classify(
            hardwareType: hardwareType,
            isLoopback: isLoopback,
            kind: kind,
            deviceType: hints?.deviceType,
            isWireless: hints?.isWireless == true,
            hasDevice: hints?.hasDevice == true || hasParentDevice,
            lowers: hints?.lowers ?? [],
            isCellular: isCellular
        )
    }

    /// Whether sysfs can change the answer: a virtual interface of a known kind names itself.
    static func needsHints(kind: String?, isLoopback: Bool) -> Bool {
        kind == nil && !isLoopback
    }
}
