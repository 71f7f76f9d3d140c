// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Where a bridge has its gateway, by what the kernel tells while ports come, go and are restricted.
@Suite(.needsNamespaces)
struct BridgeTests {
    private let lab: NetworkNamespace
    private let ports: [LabInterface]

    init() throws {
        self.lab = try NetworkNamespace()
        self.ports = [try self.lab.addUplink("eth0"), try self.lab.addUplink("vnet0")]
        let bridge = try self.lab.addBridge("br0", ports: self.ports)
        try bridge.addAddress("192.0.2.2/24")
        try self.lab.ip("route add default via 192.0.2.1 dev br0")
        // Each port leads to a host of its own.
        try self.lab.runOnFarSide("echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore")
        try self.lab.runOnFarSide("ip link set \(self.peer(0)) address 02:00:00:00:00:01")
        try self.lab.addFarAddress("192.0.2.1/24", behind: self.ports[0])
    }

    private func peer(_ port: Int) throws -> String { try #require(self.ports[port].peerName) }

    private func isDoubtful(_ path: JSONValue) -> Bool {
        path["reason"]?["message"]?.string?.contains("unknown whether the gateway 192.0.2.1 is behind") == true
    }

    private func fresh() throws -> JSONValue { try JSONValue(json: self.lab.run("\(Watched.program) --json")) }

    /// A router that takes over from another one, with a hardware address of its own.
    @Test func aGatewayThatMovesBehindAnotherPortIsFound() throws {
        let watched = try Watched(self.lab)
        try watched.expect("satisfied", "routed")
        try self.lab.keepSending(to: "9.0.0.1")
        try watched.monitor.next { $0["gateways"]?.elements.first?["answers"] == true }
        try watched.expect("unsatisfied", "noCarrier") { try self.ports[0].setPeerCarrier(false) }
        // Before the kernel gives up the former address, which is heard of anyway.
        try watched.expect("satisfied", "routed") {
            try self.lab.runOnFarSide(
                """
                ip address del 192.0.2.1/24 dev \(self.peer(0))
                ip address add 192.0.2.1/24 dev \(self.peer(1))
                echo 1 >/proc/sys/net/ipv4/conf/\(self.peer(1))/arp_notify
                ip link set \(self.peer(1)) address 02:00:00:00:00:99
                """
            )
        }
    }

    /// A bridge that is reached through a pair of veths, of which one end has the default route and the other is a port.
    @Test func aBridgeBehindAPairOfVethsIsAsked() throws {
        for line in [
            "address flush dev br0", "link add v0 up type veth peer name v1", "link set v1 up",
            "link set v1 master br0",
            "address add 192.0.2.2/24 dev v0", "route replace default via 192.0.2.1 dev v0",
        ] { try self.lab.ip(line) }
        let watched = try Watched(self.lab)
        try self.lab.keepSending(to: "9.0.0.1")
        let isPlain = { (line: JSONLine) in line["status"] == "satisfied" && !self.isDoubtful(line.value) }
        try watched.monitor.next { isPlain($0) && $0["gateways"]?.elements.first?["answers"] == true }
        for (loss, recovery) in [
            ("bridge link set dev v1 state 0", "bridge link set dev v1 state 3"),
            ("ip link set br0 down", "ip link set br0 up"), ("ip link set eth0 down", "ip link set eth0 up"),
            ("ip link set eth0 nomaster", "ip link set eth0 master br0"),
        ] {
            try self.lab.run(loss)
            try watched.monitor.next { !isPlain($0) }
            try self.lab.run(recovery)
            try watched.monitor.next { isPlain($0) }
        }
    }

    /// The kernel uses a backup port while the other one has no carrier, and where that leads the frames go.
    @Test func aBackupPortStandsInForOneWithoutACarrier() throws {
        try self.lab.run("bridge fdb replace 02:00:00:00:00:01 dev eth0 master static sticky")
        try self.lab.run("bridge link set dev eth0 backup_port vnet0")
        let watched = try Watched(self.lab)
        try self.lab.keepSending(to: "9.0.0.1")
        try watched.monitor.next { $0["gateways"]?.elements.first?["answers"] == true }
        // With its carrier.
        try watched.expect("unsatisfied", "noCarrier") { try self.lab.run("bridge link set dev eth0 state 0") }
        try watched.expect("satisfied", "routed") { try self.ports[0].setPeerCarrier(false) }
        for line in [
            "link add v0 up type veth peer name v1", "link add br1 up type bridge", "link set v1 up master br1",
            "link set v0 master br0",
        ] { try self.lab.ip(line) }
        try self.lab.run("bridge link set dev eth0 backup_port v0")
        try watched.monitor.next { self.isDoubtful($0.value) || $0["status"] == "unsatisfied" }
    }

    /// A pair of veths whose other end is no port any more leads nowhere, whatever was learnt behind it.
    @Test func aLooseEndIsADoubt() throws {
        for line in [
            "link set eth0 nomaster", "link set vnet0 nomaster", "link add v0 up type veth peer name v1",
            "link set v1 up", "link set v0 master br0", "link add br1 up type bridge", "link set v1 master br1",
            "link set eth0 master br1", "neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev br0",
        ] { try self.lab.ip(line) }
        try self.lab.run(
            "bridge fdb add 02:00:00:00:00:01 dev v0 master static; bridge fdb add 02:00:00:00:00:01 dev eth0 master static"
        )
        let watched = try Watched(self.lab)
        try watched.monitor.next { $0["status"] == "satisfied" && !self.isDoubtful($0.value) }
        try self.lab.ip("link set v1 nomaster")
        try watched.monitor.next { self.isDoubtful($0.value) }
        #expect(self.isDoubtful(try self.fresh()))
    }

    /// A port that lets in only what was entered: watch and a fresh look are in doubt alike, until it is entered.
    @Test(arguments: ["ip link set eth0 type bridge_slave", "bridge link set dev eth0"])
    func aLockedPortIsADoubt(command: String) throws {
        try self.lab.ip("link set vnet0 nomaster")
        let watched = try Watched(self.lab)
        try self.lab.keepSending(to: "9.0.0.1")
        try watched.monitor.next { $0["gateways"]?.elements.first?["answers"] == true && !self.isDoubtful($0.value) }
        try self.lab.run("\(command) locked on; ip neigh flush dev br0; bridge fdb flush dev br0 dynamic")
        let line = try watched.monitor.next { self.isDoubtful($0.value) }
        #expect(line["status"] == "satisfied")
        #expect(self.isDoubtful(try self.fresh()))
        try self.lab.run("bridge fdb add 02:00:00:00:00:01 dev eth0 master static")
        try watched.monitor.next { $0["status"] == "satisfied" && !self.isDoubtful($0.value) }
        // The kernel has to find the gateway's address anew before a fresh look can know it.
        let end = ContinuousClock.now + .seconds(60)
        while self.isDoubtful(try self.fresh()), ContinuousClock.now < end {}
        #expect(!self.isDoubtful(try self.fresh()))
    }
}
