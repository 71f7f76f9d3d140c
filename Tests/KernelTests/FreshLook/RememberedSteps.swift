// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// The steps of setups after which a program that starts then knows less than one that has watched.
///
/// Nowhere else in a setup may the two differ, and here they have to.
enum RememberedSteps {
    /// By the title of the setup, the titles of the steps.
    private typealias Steps = [String: Set<String>]

    private static let table: [MonitorMemory: Steps] = [
        // A veth that has neither route nor address could lead to a container as well.
        .tunnelCarrier: [
            "464XLAT on an IPv6-only network": everyLoss,
            "wg-quick for IPv4 over 464XLAT on an IPv6-only network": everyLoss,
            "OpenVPN: redirect-gateway def1": everyLoss,
            "OpenVPN: redirect-gateway, the default is replaced": [removal],
            "NetworkManager: a VPN with metric 50": everyLoss,
            "a VPN within a VPN": everyLoss,
            "kill switch: unreachable defaults behind the VPN": [removal],
        ],
        .formerPath: [
            "OpenWrt: an uplink beside a bridge of LAN ports": ["wan: the interface is set down"],
            "Tailscale without an exit node": [down],
            "a split VPN beside the default": [down],
            "Docker: a container in two networks": lossOfEth0,
            "LXD: the host, its bridge has both families and no ports": ["eth0: the interface is set down"],
            "Docker: the host": ["eth0: the interface is set down"],
            "Cilium: a node with its marks": lossOfEth0,
            "Flannel: a node with a vxlan to the others": lossOfEth0,
            "Proxmox: a virtual machine keeps the carrier of the bridge while the cable is out": [
                "vmbr0: the interface is set down"
            ],
        ],
        .gatewayPort: [
            "Proxmox: the cable is in another bridge, behind a pair of veths": ["enp1s0: the cable is unplugged"],
            "Proxmox: a vxlan over a bridge with a virtual machine": ["enp1s0: the cable is unplugged"],
            "Proxmox: a virtual machine keeps the carrier of the bridge while the cable is out": [
                "enp1s0: the cable is unplugged", "the port is set down",
            ],
        ],
    ]

    private static let removal = "wlan0: the interface is removed"
    private static let down = "wlan0: the interface is set down"
    private static let everyLoss: Set = [down, "wlan0: its addresses are removed", removal]
    private static let lossOfEth0: Set = ["eth0: the interface is set down", "eth0: its addresses are removed"]

    static func memory(of setup: Setup, after step: Step) -> MonitorMemory? {
        self.table.first { $0.value[setup.title]?.contains(step.title) == true }?.key
    }

    /// The kinds of memory that no step needs.
    static var unused: [MonitorMemory] { MonitorMemory.allCases.filter { self.table[$0]?.isEmpty != false } }

    /// What the table names and no setup has.
    static var misnamed: [String] {
        let steps = Dictionary(uniqueKeysWithValues: SetupTable.setups.map { ($0.title, Set($0.steps.map(\.title))) })
        return self.table.values.joined().flatMap { setup, titles in
            titles.subtracting(steps[setup] ?? []).map { "\(setup): \($0)" }
        }
    }
}
