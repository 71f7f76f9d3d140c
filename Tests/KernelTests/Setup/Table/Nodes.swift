// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Hosts of containers and virtual machines.
extension SetupTable {
    static let nodes = [
        dockerHost, lxdHost, calicoNode, ciliumNode, flannelNode, bridgedUplink, bridgeWithMachine,
        bridgeBehindBridge, bridgeWithoutPort, vxlanOverRoute, vxlanBound, vxlanOverBridge,
    ]

    private static var dockerHost: Setup {
        let eth0 = Uplink.routed("eth0")
        return Setup(
            "Docker: the host",
            uplinks: [eth0, Uplink("vetha"), Uplink("vethb")],
            prepare: [
                "link add docker0 up type bridge", "address add 172.17.0.1/16 dev docker0",
                "link set vetha master docker0",
            ],
            steps: eth0.failures(),
            [
                Step("a container starts", "link set vethb master docker0", steady: true),
                Step("a container ends", "link del vetha", steady: true),
                Step("the last container ends", "link del vethb", steady: true),
            ]
        )
    }

    private static var lxdHost: Setup {
        let eth0 = Uplink.routed("eth0")
        return Setup(
            "LXD: the host, its bridge has both families and no ports",
            uplinks: [eth0],
            prepare: [
                "link add lxdbr0 up type bridge", "address add 10.77.0.1/24 dev lxdbr0",
                "address add fd42:77::1/64 dev lxdbr0 nodad",
            ],
            steps: eth0.failures(),
            [Step("the bridge is removed", "link del lxdbr0", steady: true)]
        )
    }

    private static var calicoNode: Setup {
        let eth0 = Uplink.routed("eth0", 1, .ipv4)
        return Setup(
            "Calico: a node",
            uplinks: [eth0, Uplink("cali1"), Uplink("cali2")],
            prepare: [
                "route add 10.244.1.5 dev cali1", "route add 10.244.1.6 dev cali2",
                "route add blackhole 10.244.1.0/26 proto 80", "route add 10.244.2.0/26 via 192.168.1.77 proto 80",
            ],
            steps: eth0.failures([.carrier, .route, .address]),
            [Step("a pod ends", "link del cali1", steady: true)],
            eth0.failures([.removal])
        )
    }

    private static var ciliumNode: Setup {
        let eth0 = Uplink.routed("eth0", 1, .ipv4)
        return Setup(
            "Cilium: a node with its marks",
            uplinks: [eth0, Uplink("lxc1")],
            prepare: [
                "link add cilium_host up type veth peer name cilium_net", "link set cilium_net up",
                "link add cilium_vxlan up type vxlan external dstport 8472",
                "address add 10.0.1.1/32 dev cilium_host",
                "route add 10.0.1.1 dev cilium_host scope link",
                "route add 10.0.0.0/16 via 10.0.1.1 dev cilium_host src 10.0.1.1",
                "route add local default dev lo table 2004",
                "route add default via 10.0.1.1 dev cilium_host table 2005",
                "rule add fwmark 0x200/0xf00 lookup 2004 priority 9",
                "rule add fwmark 0xa00/0xf00 lookup 2005 priority 10",
            ],
            steps: eth0.failures(),
            [Step("a pod ends", "link del lxc1", steady: true)]
        )
    }

    private static var flannelNode: Setup {
        let eth0 = Uplink.routed("eth0", 1, .ipv4)
        return Setup(
            "Flannel: a node with a vxlan to the others",
            uplinks: [eth0],
            prepare: [
                "link add flannel.1 up type vxlan id 1 local 192.168.1.2 dev eth0 nolearning dstport 8472",
                "address add 10.244.1.0/32 dev flannel.1",
                "route add 10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink",
                "link add cni0 up type bridge", "address add 10.244.1.1/24 dev cni0",
            ],
            steps: eth0.failures([.carrier, .interface, .route, .address])
        )
    }

    private static var bridgedUplink: Setup {
        let vmbr0 = Uplink.routed("vmbr0")
        return Setup(
            "Proxmox: the uplink is a port of the bridge that has the address",
            uplinks: [Uplink("enp1s0"), Uplink("tap100")],
            prepare: [
                "link add vmbr0 up type bridge", "link set enp1s0 master vmbr0", "link set tap100 master vmbr0",
                .unplug("tap100"),
            ] + vmbr0.configure,
            steps: [
                Step("the cable is unplugged", .unplug("enp1s0")),
                Step("the cable is plugged in", .plugIn("enp1s0")),
                Step("the port leaves the bridge", "link set enp1s0 nomaster"),
                Step("the port joins the bridge", "link set enp1s0 master vmbr0"),
            ],
            vmbr0.failures([.interface, .route, .address])
        )
    }

    /// A virtual machine that is on keeps the bridge's carrier, whatever becomes of the cable.
    private static var bridgeWithMachine: Setup {
        let vmbr0 = Uplink.routed("vmbr0")
        return Setup(
            "Proxmox: a virtual machine keeps the carrier of the bridge while the cable is out",
            uplinks: [Uplink("enp1s0")],
            prepare: [
                "link add tap100 up type veth peer name vm100", "link set vm100 up",
                "link add vmbr0 up type bridge", "link set tap100 master vmbr0", "link set enp1s0 master vmbr0",
            ] + vmbr0.configure,
            steps: Uplink("enp1s0").failures([.carrier]),
            [
                Step("the port is set down", "link set enp1s0 down"),
                Step("the port is set up", "link set enp1s0 up"),
                Step("the virtual machine is off", "link set vm100 down", steady: true),
                Step("the virtual machine is on", "link set vm100 up", steady: true),
            ],
            vmbr0.failures([.interface, .route, .address])
        )
    }

    /// The host's bridge hangs at another one of the same host, as with a firewall for each machine.
    private static var bridgeBehindBridge: Setup {
        let vmbr0 = Uplink.routed("vmbr0")
        return Setup(
            "Proxmox: the cable is in another bridge, behind a pair of veths",
            uplinks: [Uplink("enp1s0")],
            prepare: [
                "link add br1 up type bridge", "link set enp1s0 master br1",
                "link add fwpr up type veth peer name fwln", "link set fwln up master br1",
                "link add vmbr0 up type bridge", "link set fwpr master vmbr0",
                "link add tap100 up type veth peer name vm100", "link set vm100 up", "link set tap100 master vmbr0",
                "link add tap101 up type veth peer name vm101", "link set vm101 up", "link set tap101 master br1",
            ] + vmbr0.configure,
            steps: Uplink("enp1s0").failures([.carrier])
        )
    }

    /// The bridge of a router in a virtual machine that is not there yet.
    private static var bridgeWithoutPort: Setup {
        let (eth0, br0) = (Uplink.routed("eth0", 1, .ipv4, metric: 600), Uplink.routed("br0", 2, .ipv4))
        return Setup(
            "a bridge without a port has the preferred default route",
            uplinks: [eth0],
            prepare: ["link add br0 up type bridge"] + br0.configure,
            steps: [
                Step("the bridge gets a port", .connect("vnet0"), "link set vnet0 master br0"),
                Step("the port leaves", "link set vnet0 nomaster"),
                Step("the bridge is removed", "link del br0"),
            ]
        )
    }

    private static func vxlan(_ title: String, _ options: String) -> Setup {
        let (wan0, wan1) = (Uplink.routed("wan0", 1, .ipv4), Uplink.routed("wan1", 2, .ipv4, metric: 600))
        let server: Command = "route replace 203.0.113.9 via 192.168.1.1 dev wan0"
        let vxlan: [Command] = [
            .host("link add vx0 up type vxlan id 42 remote 203.0.113.9 dstport 4789 \(options)"),
            "address add 10.42.0.2/24 dev vx0", "route add default via 10.42.0.1 dev vx0",
        ]
        return Setup(
            title,
            uplinks: [wan0, wan1],
            prepare: [server] + vxlan,
            steps: wan0.failures([.carrier, .interface, .address], then: [server]),
            wan1.failures([.carrier, .removal]),
            [
                Step("the vxlan is removed", "link del vx0"),
                Step("the vxlan is back", vxlan),
            ]
        )
    }

    /// The gateway towards the far end is behind the bridge's cable, and no default route says so.
    private static var vxlanOverBridge: Setup {
        Setup(
            "Proxmox: a vxlan over a bridge with a virtual machine",
            uplinks: [Uplink("enp1s0")],
            prepare: [
                "link add tap100 up type veth peer name vm100", "link set vm100 up",
                "link add vmbr0 up type bridge", "link set tap100 master vmbr0", "link set enp1s0 master vmbr0",
                "address add 192.168.1.2/24 dev vmbr0", "route add 203.0.113.9 via 192.168.1.1 dev vmbr0",
                "link add vx0 up type vxlan id 42 remote 203.0.113.9 dstport 4789",
                "address add 10.42.0.2/24 dev vx0", "route add default via 10.42.0.1 dev vx0",
                // The bridge learns where the gateway is.
                .shell("bash -c 'echo >/dev/udp/203.0.113.9/9'"),
            ],
            steps: Uplink("enp1s0").failures([.carrier])
        )
    }

    private static var vxlanOverRoute: Setup { vxlan("a default over a vxlan", "") }

    private static var vxlanBound: Setup { vxlan("a default over a vxlan with its device", "dev wan0") }
}
