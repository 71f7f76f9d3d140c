// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Interfaces that a machine may have beside those that carry its path, and that carry nothing.
///
/// A path that is there stays, without a word in between. Every setup is played with them once, where it first has a path;
/// with NETPATH_SPARES they are there from the start.
struct Spares {
    static let areAlwaysThere = ProcessInfo.processInfo.environment["NETPATH_SPARES"] != nil

    /// No namespace has hardware: what the kernel shows of a network card a rule says of these.
    static let rule = "{match: {name: \"spare*\"}, type: wired, uplink: true, expectsAddress: true}"

    /// A card that once had a cable may have carried a tunnel of layer 3 that is alone, as far as the kernel can tell.
    private static let areAlone: Set = [
        "WireGuard moved into a container, its socket stays behind", "slirp4netns: a tap device and nothing else",
        "slirp4netns: a tap device beside links that lead nowhere",
        "pasta: a tap device with the host's name and address",
    ]

    let appear: [Command]
    let disappear: [Command]

    init(beside setup: Setup) {
        let spares: [(name: String, making: [Command])] = [
            // A card that never had a cable, and one that had one.
            ("spare0", [.add("spare0")]),
            ("spare1", [.connect("spare1"), .unplug("spare1")]),
            // A container that has not started, and a pair without one.
            ("ve-pod0", [.add("ve-pod0")]),
            ("ve-pod1", ["link add ve-pod1 up type veth peer name ve-pod2"]),
            ("br-spare0", ["link add br-spare0 up type bridge"]),
            ("br-spare1", ["link add br-spare1 up type bridge", "address add 172.31.255.1/24 dev br-spare1"]),
            // Where a host of containers has its resolver; ifb swallows as much, where the kernel has no dummy.
            (
                "dm-spare",
                [
                    .shell("ip link add dm-spare up type dummy 2>/dev/null || ip link add dm-spare up type ifb"),
                    "address add 169.254.20.10/32 dev dm-spare",
                ]
            ),
        ]
        let possible = spares.filter { $0.name != "spare1" || !Self.areAlone.contains(setup.title) }
        self.appear = possible.flatMap(\.making)
        self.disappear = possible.map { .host("link del \($0.name)") }
    }
}
