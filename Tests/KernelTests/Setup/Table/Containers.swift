// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a program in a container or a rootless sandbox sees.
extension SetupTable {
    static let containers = [
        calicoPod, dockerContainer, lxdInstance, slirp, slirpBesidePods, pasta, wireGuardFromElsewhere,
    ]

    private static var calicoPod: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 10.244.1.5/32 dev eth0",
            "address replace fe80::2/64 dev eth0 nodad",
            "address replace fd00:244::5/128 dev eth0 nodad",
            "route replace 169.254.1.1 dev eth0 scope link",
            "route replace default via 169.254.1.1 dev eth0",
            "route replace default via fe80::ecee:eeff:feee:eeee dev eth0"
        )
        return Setup("Calico: a pod", uplinks: [eth0], steps: eth0.failures())
    }

    private static var dockerContainer: Setup {
        let (eth0, eth1) = (Uplink.routed("eth0", 1, .ipv4), Uplink("eth1", "address replace 172.19.0.2/16 dev eth1"))
        return Setup(
            "Docker: a container in two networks",
            uplinks: [eth0, eth1],
            steps: eth0.failures(),
            eth1.failures([.removal])
        )
    }

    private static var lxdInstance: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 10.77.0.5/24 dev eth0",
            "route replace default via 10.77.0.1 dev eth0 proto dhcp metric 1024",
            "address replace fe80::2/64 dev eth0 nodad",
            "address replace fd42:77::5/64 dev eth0 nodad",
            "route replace default via fe80::1 dev eth0 proto ra metric 1024 expires 1800"
        )
        return Setup("LXD: an instance at the bridge", uplinks: [eth0], steps: eth0.failures())
    }

    /// A tunnel whose program has its socket in another namespace, where there is an uplink.
    private static func moved(_ title: String, _ name: String, _ configuration: String...) -> Setup {
        let device = Tunnel(name, configuration)
        return Setup(
            title,
            prepare: [.startElsewhere(device)],
            steps: [
                Step("the address is removed", .host(configuration[0].replacing("address add", with: "address del"))),
                Step("the address is back", configuration.map { .host($0) }),
                Step("the interface is set down", .host("link set \(name) down")),
                Step(
                    "the interface is set up",
                    [.host("link set \(name) up")] + configuration.dropFirst().map { .host($0) }
                ),
                Step("the program ends", .stop(name)),
                Step("the program starts", .startElsewhere(device)),
            ]
        )
    }

    private static var slirp: Setup {
        moved(
            "slirp4netns: a tap device and nothing else",
            "tap0",
            "address add 10.0.2.100/24 dev tap0",
            "route add default via 10.0.2.2 dev tap0"
        )
    }

    private static var slirpBesidePods: Setup {
        let tap0 = Tunnel("tap0", "address add 10.0.2.100/24 dev tap0", "route add default via 10.0.2.2 dev tap0")
        return Setup(
            "slirp4netns: a tap device beside links that lead nowhere",
            rules: Uplink.isHardware("lan0"),
            prepare: [.startElsewhere(tap0)],
            steps: [
                Step("a card without a cable is there", "link add lan0 up type veth peer name cable0", steady: true),
                Step("a pod's link is there", .connect("ve-pod"), "address add 10.7.0.1/28 dev ve-pod", steady: true),
                Step("the pod's end is down", .unplug("ve-pod"), steady: true),
                Step("a bridge without ports is there", "link add br0 up type bridge", steady: true),
                Step("the program ends", .stop("tap0")),
                Step("the program starts", .startElsewhere(tap0)),
            ]
        )
    }

    private static var pasta: Setup {
        moved(
            "pasta: a tap device with the host's name and address",
            "eth0",
            "address add 192.168.1.2/24 dev eth0",
            "route add default via 192.168.1.1 dev eth0"
        )
    }

    private static var wireGuardFromElsewhere: Setup {
        moved(
            "WireGuard moved into a container, its socket stays behind",
            "wg0",
            "address add 10.9.0.2/32 dev wg0",
            "route add default dev wg0"
        )
    }
}
