// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// VPNs that take the default route, with a route to the server past them.
extension SetupTable {
    static let fullTunnels = [
        openVPNHalves, openVPNReplacement, openVPNKnownServer, networkManager, split, serverOnLink,
        serverInPrivateRange,
        tunnelInTunnel, boundToDevice, boundToDeviceKnown,
    ]

    private static let halves = ["0.0.0.0/1", "128.0.0.0/1", "2000::/4", "3000::/4"]

    private static func tun0(_ routes: [String], to endpoint: String = "203.0.113.9", device: String? = nil) -> Tunnel {
        Tunnel(
            "tun0",
            to: endpoint,
            device: device,
            ["address add 10.8.0.2/24 dev tun0", "address add fd08::2/64 dev tun0 nodad"] + routes
        )
    }

    private static let serverRoute: Command = "route replace 203.0.113.9 via 192.168.1.1 dev wlan0"
    private static let known = "{match: {name: tun0}, tunnelEndpoint: [203.0.113.9]}"

    private static func openVPNHalves(_ title: String, rules: String = "") -> Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv4)
        let tun0 = tun0(halves.map { "route add \($0) dev tun0" })
        return Setup(
            title,
            uplinks: [wlan0],
            rules: rules,
            prepare: [serverRoute, .start(tun0)],
            steps: wlan0.failures(then: [serverRoute]),
            tun0.restart(ending: ["route del 203.0.113.9"], starting: [serverRoute])
        )
    }

    private static var openVPNHalves: Setup { openVPNHalves("OpenVPN: redirect-gateway def1") }

    private static var openVPNKnownServer: Setup {
        openVPNHalves("OpenVPN: redirect-gateway def1, its server in the configuration", rules: known)
    }

    private static var openVPNReplacement: Setup {
        let wlan0 = Uplink("wlan0", "address replace 192.168.1.2/24 dev wlan0")
        let tun0 = tun0(["route replace default dev tun0", "route replace ::/0 dev tun0"])
        return Setup(
            "OpenVPN: redirect-gateway, the default is replaced",
            uplinks: [wlan0],
            rules: Uplink.isHardware("wlan0"),
            prepare: [serverRoute, .start(tun0)],
            steps: wlan0.failures([.carrier, .interface, .address, .removal], then: [serverRoute]),
            tun0.restart(
                ending: ["route replace default via 192.168.1.1 dev wlan0"],
                starting: ["route replace default dev tun0"]
            ),
            // Long after the tunnel came, and much came in through it.
            wlan0.failures([.carrier], then: [serverRoute])
        )
    }

    private static var networkManager: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, metric: 600)
        let tun0 = tun0(["route add default dev tun0 metric 50", "route add ::/0 dev tun0 metric 50"])
        let server: Command = "route replace 203.0.113.9 via 192.168.1.1 dev wlan0 proto static metric 600"
        return Setup(
            "NetworkManager: a VPN with metric 50",
            uplinks: [wlan0],
            prepare: [server, .start(tun0)],
            steps: wlan0.failures(then: [server]),
            tun0.restart()
        )
    }

    private static var split: Setup {
        let wlan0 = Uplink.routed("wlan0")
        let tun0 = tun0(["route add 10.0.0.0/8 dev tun0", "route add 172.16.0.0/12 dev tun0"])
        return Setup(
            "a split VPN beside the default",
            uplinks: [wlan0],
            prepare: [.start(tun0)],
            steps: wlan0.failures(),
            tun0.restart()
        )
    }

    private static var serverOnLink: Setup {
        let wlan0 = Uplink("wlan0", "address replace 192.168.1.2/24 dev wlan0")
        let tun0 = tun0(["route add default dev tun0"], to: "192.168.1.9")
        return Setup(
            "a VPN whose server is on the link, without any other default",
            uplinks: [wlan0],
            rules: "{match: {name: tun0}, tunnelEndpoint: [192.168.1.9]}",
            prepare: [.start(tun0)],
            steps: wlan0.failures([.carrier, .interface, .address, .removal]),
            tun0.restart()
        )
    }

    private static var serverInPrivateRange: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 10.1.0.2/24 dev eth0",
            "route replace 10.0.0.0/8 via 10.1.0.1 dev eth0"
        )
        let tun0 = tun0(["route add default dev tun0"], to: "10.200.0.9")
        return Setup(
            "a VPN whose server is in 10.0.0.0/8, without any other default",
            uplinks: [eth0],
            rules: "{match: {name: tun0}, tunnelEndpoint: [10.200.0.9]}",
            prepare: [.start(tun0)],
            steps: eth0.failures(),
            tun0.restart()
        )
    }

    private static var tunnelInTunnel: Setup {
        let wlan0 = Uplink.routed("wlan0", 1, .ipv4, metric: 600)
        let tun0 = tun0(["route add default dev tun0 metric 50"])
        let tun1 = Tunnel(
            "tun1",
            to: "198.51.100.99",
            ["address add 10.7.0.2/24 dev tun1", "route add 198.51.100.99 dev tun0"]
                + halves.map { "route add \($0) dev tun1" } + ["address add fd07::2/64 dev tun1 nodad"]
        )
        return Setup(
            "a VPN within a VPN",
            uplinks: [wlan0],
            prepare: [serverRoute, .start(tun0), .start(tun1)],
            steps: wlan0.failures(then: [serverRoute]),
            tun1.restart(ending: ["route del 198.51.100.99"]),
            [
                Step("tun0: the outer program ends", .stop("tun0"), untold: serverIsUnknown),
                Step("both programs start again", .stop("tun1"), .start(tun0), .start(tun1)),
            ]
        )
    }

    private static func boundToDevice(_ title: String, rules: String = "") -> Setup {
        // Another interface is whole, and the client keeps to itself where its socket is bound to.
        let untold = rules.isEmpty ? serverIsUnknown : nil
        let eth0 = Uplink.routed("eth0", 1, .ipv4, metric: 100)
        let wwan0 = Uplink.routed("wwan0", 2, .ipv4, metric: 700)
        let tun0 = tun0(halves.map { "route add \($0) dev tun0" }, device: "wwan0")
        return Setup(
            title,
            uplinks: [eth0, wwan0],
            rules: rules,
            prepare: [.start(tun0)],
            steps: eth0.failures([.carrier, .route, .removal]),
            [
                Step("wwan0: the interface is removed", ["link del wwan0"], untold: untold),
                Step("wwan0: the interface is there and configured again", [.connect("wwan0")] + wwan0.configure),
            ],
            tun0.restart()
        )
    }

    private static var boundToDevice: Setup {
        boundToDevice("a VPN client bound to the less preferred interface")
    }

    private static var boundToDeviceKnown: Setup {
        boundToDevice(
            "a VPN client bound to the less preferred interface, which the configuration says",
            rules: "{match: {name: tun0}, tunnelEndpoint: [\"203.0.113.9%wwan0\"]}"
        )
    }
}
