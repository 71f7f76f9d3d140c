// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// What decides the walks with datagrams: an internet that answers, and tunnels through it.
@Suite(.needsNamespaces, .needsTunDevices)
struct DatagramLabTests {
    private static let patience: Duration = .seconds(60)
    /// Where nothing comes back: a datagram that does takes a millisecond.
    private static let moment: Duration = .milliseconds(300)

    private static func lab() throws -> (NetworkNamespace, LabInterface, MonitorProcess) {
        let lab = try NetworkNamespace()
        let router = try lab.startAnsweringRouter()
        let uplink = try lab.addUplink(
            "wan0",
            addresses: ["10.1.0.2/24", "2001:db8:1::2/64"],
            gateway: "10.1.0.1",
            hasLinkLocalAddress: true
        )
        try lab.addDefaultRoute(via: "2001:db8:1::1", through: uplink)
        return (lab, uplink, router)
    }

    @Test func everyAddressAnswersUntilTheCableIsOut() throws {
        let (lab, uplink, router) = try Self.lab()
        let everything = [NetworkNamespace.Family.allCases.flatMap(NetworkNamespace.internet) + ["10.1.0.77"]]
        #expect(try lab.answers(from: everything, within: Self.patience) == Set(everything[0]))
        try uplink.setPeerCarrier(false)
        #expect(try lab.answers(from: everything, within: Self.moment) == [])
        try uplink.setPeerCarrier(true)
        #expect(try lab.reachesInternet(within: Self.patience))
        #expect(try router.stop() != 0)
        #expect(try !lab.reachesInternet(within: Self.moment))
    }

    @Test func tunnelCarriesBothFamiliesToItsEndpoint() throws {
        let (lab, uplink, router) = try Self.lab()
        defer { withExtendedLifetime(router) {} }
        try lab.ip("route add 198.51.100.9 via 10.1.0.1")
        let outer = try lab.addDatagramTunnel("tun0", to: "198.51.100.9", addresses: ["10.9.0.2/32", "fd09::2/128"])
        // Nothing but the tunnel's own packets has another way.
        try lab.ip("route replace default dev tun0")
        try lab.ip("-6 route del default")
        try lab.ip("-6 route add default dev tun0")
        let everything = [NetworkNamespace.Family.allCases.flatMap(NetworkNamespace.internet)]
        #expect(try lab.answers(from: everything, within: Self.patience) == Set(everything[0]))
        let inner = try lab.addDatagramTunnel("tun1", to: "2a00:1::9", addresses: ["10.8.0.2/32"])
        try lab.ip("route add 9.0.0.0/8 dev tun1")
        #expect(try lab.answers(from: [["9.0.0.1"]], within: Self.patience) == ["9.0.0.1"])
        try inner.close()
        try lab.ip("route del 198.51.100.9")
        #expect(try lab.answers(from: everything, within: Self.moment) == [])
        try lab.ip("route add 198.51.100.9 via 10.1.0.1")
        #expect(try lab.reachesInternet(within: Self.patience))
        try uplink.setDown()
        #expect(try lab.answers(from: everything, within: Self.moment) == [])
        try outer.close()
    }

    @Test func marksAndDevicesSteerTheTunnelsOwnPackets() throws {
        let (lab, uplink, router) = try Self.lab()
        defer { withExtendedLifetime(router) {} }
        let marked = try lab.addDatagramTunnel(
            "tun0",
            to: "198.51.100.9",
            options: DatagramOptions(mark: 51_820),
            addresses: ["10.9.0.2/32"]
        )
        try lab.routeEverything(into: marked.interface)
        #expect(try lab.answers(from: [["9.0.0.1"]], within: Self.patience) == ["9.0.0.1"])
        try lab.ip("rule del fwmark 51820 table 51820 not")
        try marked.close()
        let bound = try lab.addDatagramTunnel(
            "tun0",
            to: "198.51.100.9",
            options: DatagramOptions(device: uplink.name),
            addresses: ["10.9.0.2/32"]
        )
        try lab.ip("route add 0.0.0.0/1 dev tun0")
        #expect(try lab.answers(from: [["9.0.0.1"]], within: Self.patience) == ["9.0.0.1"])
        try bound.close()
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs where tun devices can be made, and fails rather than skips in CI.
    static var needsTunDevices: Self {
        .enabled(
            if: TunDevice.isAvailable || NetworkNamespace.isRequired,
            "/dev/net/tun cannot be opened for reading and writing: nothing is carried through tunnels here"
        )
    }
}
