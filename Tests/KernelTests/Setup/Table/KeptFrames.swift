// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Interfaces and ports that look well and keep frames back, or are said to and do not.
extension SetupTable {
    static let keptFrames = [lockedPort, quietPort, deafMacvlan, dormantLink]

    private static let cable = Uplink("enp1s0")

    /// A port that lets in only what an authenticator has entered, and learns nothing (`bridge-link(8)`).
    private static var lockedPort: Setup {
        bridge(
            "802.1X: the port of a bridge is locked",
            Step("the port is locked", "link set enp1s0 type bridge_slave locked on"),
            Step("the port is unlocked", "link set enp1s0 type bridge_slave locked off")
        )
    }

    private static var quietPort: Setup {
        bridge(
            "the port of a bridge neither learns nor floods",
            Step("the port is quiet", "link set enp1s0 type bridge_slave learning off flood off"),
            Step("the port floods", "link set enp1s0 type bridge_slave flood on")
        )
    }

    /// What a bridge learnt before still passes, until the cable was out.
    private static func bridge(_ title: String, _ restriction: Step, _ release: Step) -> Setup {
        let vmbr0 = Uplink.routed("vmbr0")
        let back = "enp1s0: the cable is plugged in"
        return Setup(
            title,
            uplinks: [cable],
            prepare: ["link add vmbr0 up type bridge", "link set enp1s0 master vmbr0"] + vmbr0.configure,
            steps: [restriction],
            cable.failures([.carrier]).untold("whether the bridge will know the gateway: a stated doubt", after: back),
            [release],
            cable.failures([.carrier])
        )
    }

    /// A macvlan that takes packets only of senders that are named to it.
    private static var deafMacvlan: Setup {
        let mv0 = Uplink.routed("mv0")
        return Setup(
            "a macvlan of mode source with no sender",
            uplinks: [cable],
            prepare: ["link add mv0 link enp1s0 up type macvlan mode source"] + mv0.configure,
            steps: [
                Step("its mode is bridge", "link set mv0 type macvlan mode bridge"),
                Step("its mode is source", "link set mv0 type macvlan mode source"),
            ]
        )
    }

    /// What says that an interface is not ready is believed, although the kernel sends all the same.
    private static var dormantLink: Setup {
        let eth0 = Uplink.routed("eth0")
        return Setup(
            "802.1X: an interface is left dormant",
            uplinks: [eth0],
            steps: [Step("its mode is dormant", "link set eth0 mode dormant")],
            eth0.failures([.interface]).untold(
                "a supplicant holds it, or has forgotten it",
                after: "eth0: the interface is set up and configured"
            ),
            [
                Step(
                    "its mode is ordinary",
                    ["link set eth0 mode default", "link set eth0 down", "link set eth0 up"] + eth0.configure
                )
            ]
        )
    }
}
