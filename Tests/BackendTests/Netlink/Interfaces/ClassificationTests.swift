// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Testing

@testable import NetPathNetlink

/// Every kind of interface the kernel makes, as it showed itself on a real one.
@Suite struct ClassificationTests {
    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let hardwareType: UInt16
        let kind: String?
        /// What sysfs says; nil where it is not asked.
        let hints: InterfaceHints?
        let expected: InterfaceClassification
        var isLoopback = false

        init(
            _ description: String,
            _ hardwareType: UInt16,
            kind: String? = nil,
            hints: InterfaceHints? = nil,
            is expected: InterfaceClassification
        ) {
            self.description = description
            self.hardwareType = hardwareType
            self.kind = kind
            self.hints = hints
            self.expected = expected
        }
    }

    private static func device(_ deviceType: String? = nil, isWireless: Bool = false) -> InterfaceHints {
        InterfaceHints(deviceType: deviceType, isWireless: isWireless, hasDevice: true)
    }

    static let rows: [Row] = [
        Row("lo", 772, is: .type(.loopback)),
        Row("virtio_net, e1000", 1, hints: device(), is: .type(.wired)),
        Row("Wi-Fi station, access point, mesh", 1, hints: device("wlan", isWireless: true), is: .type(.wifi)),
        Row("Wi-Fi whose phy80211 is not there yet", 1, hints: device("wlan"), is: .type(.wifi)),
        Row("Wi-Fi of a driver without DEVTYPE", 1, hints: device(isWireless: true), is: .type(.wifi)),
        Row("Wi-Fi monitor", 803, hints: device("wlan", isWireless: true), is: .type(.other)),
        Row("hwsim0", 803, hints: InterfaceHints(), is: .type(.other)),
        Row("USB CDC-ECM, RNDIS, generic CDC-NCM", 1, hints: device(), is: .type(.wired)),
        Row("USB CDC-NCM modem", 1, hints: device("wwan"), is: .type(.cellular)),
        Row("qmi_wwan, Ethernet framing", 1, hints: device("wwan"), is: .type(.cellular)),
        Row("qmi_wwan, raw IP", 65534, hints: device("wwan"), is: .type(.cellular)),
        Row("qmimux0", 65534, hints: InterfaceHints(lowers: ["wwan1"]), is: .type(.cellular)),
        Row("a multiplexer over Ethernet", 65534, hints: InterfaceHints(lowers: ["eth0"]), is: .type(.other)),
        Row("wwan subsystem", 65534, kind: "wwan", is: .type(.cellular)),
        Row("rmnet", 519, kind: "rmnet", is: .type(.cellular)),
        Row("bnep0", 1, hints: device("bluetooth"), is: .type(.other)),
        Row("usb0, gadget side", 1, hints: device("gadget"), is: .type(.other)),
        Row("dummy", 1, kind: "dummy", is: .type(.other)),
        Row("veth", 1, kind: "veth", is: .type(.wired)),
        Row("netkit", 1, kind: "netkit", is: .type(.wired)),
        Row("port of a switch (DSA)", 1, kind: "dsa", is: .type(.wired)),
        Row("port of a switch before Linux 6.1", 1, hints: device("dsa"), is: .type(.wired)),
        Row("bridge", 1, kind: "bridge", is: .asLower),
        Row("bond", 1, kind: "bond", is: .asLower),
        Row("team", 1, kind: "team", is: .asLower),
        Row("vlan", 1, kind: "vlan", is: .asLower),
        Row("macvlan", 1, kind: "macvlan", is: .asLower),
        Row("macvtap", 1, kind: "macvtap", is: .asLower),
        Row("ipvlan", 1, kind: "ipvlan", is: .asLower),
        Row("macsec", 1, kind: "macsec", is: .type(.other)),
        Row("vrf", 1, kind: "vrf", is: .type(.other)),
        Row("vxlan", 1, kind: "vxlan", is: .type(.other)),
        Row("geneve", 1, kind: "geneve", is: .type(.other)),
        Row("gretap", 1, kind: "gretap", is: .type(.other)),
        Row("erspan", 1, kind: "erspan", is: .type(.other)),
        Row("gre", 778, kind: "gre", is: .type(.other)),
        Row("ipip, vti", 768, kind: "ipip", is: .type(.other)),
        Row("sit", 776, kind: "sit", is: .type(.other)),
        Row("ip6tnl", 769, kind: "ip6tnl", is: .type(.other)),
        Row("xfrm", 65534, kind: "xfrm", is: .type(.other)),
        Row("wireguard", 65534, kind: "wireguard", is: .type(.other)),
        Row("tun", 65534, kind: "tun", is: .type(.other)),
        Row("tap", 1, kind: "tun", is: .type(.other)),
        Row("ppp", 512, kind: "ppp", is: .type(.other)),
        Row("ifb", 1, kind: "ifb", is: .type(.other)),
        Row("nlmon", 824, kind: "nlmon", is: .type(.other)),
        Row("vcan", 280, kind: "vcan", is: .type(.other)),
        Row("netdevsim", 1, hints: device(), is: .type(.wired)),
        Row("a kind of the future", 1, kind: "teleport", is: .type(.other)),
        Row("a virtual one without a kind", 1, hints: InterfaceHints(), is: .type(.other)),
    ]

    private func classify(_ row: Row, hints: InterfaceHints?, hasParentDevice: Bool) -> InterfaceClassification {
        InterfaceClassification.classify(
            hardwareType: row.hardwareType,
            isLoopback: row.isLoopback,
            kind: row.kind,
            deviceType: hints?.deviceType,
            isWireless: hints?.isWireless == true,
            hasDevice: hints?.hasDevice == true || hasParentDevice,
            lowers: hints?.lowers ?? [],
            isCellular: { $0.hasPrefix("wwan") }
        )
    }

    @Test(arguments: Self.rows)
    func kernelInterface(row: Row) {
        #expect(self.classify(row, hints: row.hints, hasParentDevice: row.hints?.hasDevice == true) == row.expected)
        // Netlink does not name the parent of every device.
        #expect(self.classify(row, hints: row.hints, hasParentDevice: false) == row.expected)
        // Nothing is decided by hints that are not read.
        #expect(InterfaceHints.areNeeded(kind: row.kind, isLoopback: row.isLoopback) || row.hints == nil)
    }

    @Test func withoutSysfsHardwareCountsAsWired() {
        let card = Row("e1000", 1, is: .type(.wired))
        #expect(self.classify(card, hints: nil, hasParentDevice: true) == .type(.wired))
        #expect(self.classify(card, hints: nil, hasParentDevice: false) == .type(.other))
        let modem = Row("raw IP", 65534, is: .type(.other))
        #expect(self.classify(modem, hints: nil, hasParentDevice: true) == .type(.other))
    }

    @Test func loopbackFlagAloneSuffices() {
        var row = Row("lo", 1, hints: .hardware, is: .type(.loopback))
        row.isLoopback = true
        #expect(self.classify(row, hints: row.hints, hasParentDevice: true) == .type(.loopback))
        #expect(!InterfaceHints.areNeeded(kind: nil, isLoopback: true))
    }
}
