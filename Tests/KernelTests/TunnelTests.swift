// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Tunnels on a real kernel, their packets carried in datagrams: a tunnel with nothing under it is no path.
@Suite(
    .needsNamespaces,
    .enabled(if: TunDevice.isAvailable || Watched.isRequired, "this user may not open /dev/net/tun")
)
struct TunnelTests {
    private let lab: NetworkNamespace
    private let wan: LabInterface
    private let internet: MonitorProcess

    init() throws {
        self.lab = try NetworkNamespace()
        self.wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        self.internet = try self.lab.startAnsweringRouter()
    }

    /// A VPN program with the far end beyond the gateway.
    private func tunnel(_ name: String = "tun0", mark: Int? = nil) throws -> DatagramTunnel {
        try self.lab.addDatagramTunnel(
            name,
            to: "203.0.113.9",
            options: DatagramOptions(mark: mark),
            addresses: ["10.9.0.2/32"]
        )
    }

    /// Takes both halves of the internet, and leaves the way to the far end as it was (OpenVPN's `redirect-gateway def1`).
    private func takeHalves(_ name: String = "tun0") throws {
        try self.lab.ip("route add 203.0.113.9 via 192.0.2.1")
        try self.lab.ip("route add 0.0.0.0/1 dev \(name)")
        try self.lab.ip("route add 128.0.0.0/1 dev \(name)")
    }

    private func restore() throws {
        try self.lab.ip("route replace default via 192.0.2.1 dev wan0")
        try self.lab.ip("route replace 203.0.113.9 via 192.0.2.1")
    }

    /// Configures the backend and what is known of the tunnel.
    private func configuration(_ rule: String) -> String {
        "backends: [{type: netlink}]\ninterfaces: [{match: {name: tun0}, \(rule)}]\n"
    }

    private func isReached(within bound: Duration = .seconds(60)) throws -> Bool {
        try self.lab.reachesInternet(within: bound)
    }

    /// Takes away what the tunnel travels on in every way there is, and gives it back.
    private func loseAndRestore(_ watched: Watched, from line: JSONLine) throws {
        #expect(line["carriedBy"] == line.interface(named: "wan0")?["index"])
        #expect(try self.isReached())
        let lost = try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
        #expect(lost["reason"]?["message"] == "wan0 has no carrier; nothing carries tun0")
        #expect(try !self.isReached(within: .milliseconds(700)))
        try watched.expect("satisfied", "routed") { try self.wan.setPeerCarrier(true) }
        try watched.expect("unsatisfied", "interfaceDown") { try self.wan.setDown() }
        #expect(try !self.isReached(within: .milliseconds(700)))
        try watched.expect("satisfied", "routed") {
            try self.wan.setUp()
            try self.restore()
        }
        #expect(try self.isReached())
        try watched.expect("unsatisfied", "noAddress") { try self.wan.removeAddress("192.0.2.2/24") }
        #expect(try !self.isReached(within: .milliseconds(700)))
        try watched.expect("satisfied", "routed") {
            try self.wan.addAddress("192.0.2.2/24")
            try self.restore()
        }
        try watched.expect("unsatisfied", "noInterface") { try self.wan.delete() }
        #expect(try !self.isReached(within: .milliseconds(700)))
    }

    /// The address of the machine is on loopback (BGP unnumbered): the route beside the tunnel is a way, and the program may be
    /// bound to it.
    @Test func anUplinkWithoutAnAddressMayCarryATunnel() throws {
        let rule = "interfaces: [{match: {name: wan0}, uplink: true}]"
        try self.wan.removeAddress("192.0.2.2/24")
        try self.lab.ip("address add 198.51.100.77/32 dev lo")
        try self.lab.ip("route add default via 169.254.1.1 dev wan0 onlink metric 100")
        let watched = try Watched(self.lab, configuration: rule)
        try watched.expect("satisfied", "routed")
        let tunnel = try self.tunnel()
        try self.lab.ip("route add default dev tun0 metric 50")
        let line = try watched.monitor.next { line in
            #expect(line["status"] == "satisfied")
            return line["reason"]?["message"]?.string?.contains("unknown whether anything carries tun0") == true
        }
        #expect(line["carriedBy"] == .null)
        try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
        withExtendedLifetime(tunnel) {}
    }

    @Test func farEndNamedByARule() throws {
        let vpn = try self.tunnel()
        try self.takeHalves()
        let watched = try Watched(self.lab, configuration: self.configuration("tunnelEndpoint: [203.0.113.9]"))
        try watched.expect("satisfied", "routed")
        // The host route is heard of although it is not about the internet.
        try self.lab.ip("route del default")
        let lost = try watched.expect("unsatisfied", "noRoute") { try self.lab.ip("route del 203.0.113.9") }
        #expect(lost["reason"]?["message"]?.string?.hasSuffix("; nothing carries tun0") == true)
        #expect(try !self.isReached(within: .milliseconds(700)))
        try watched.expect("satisfied", "routed") { try self.restore() }
        try watched.expect("unsatisfied", "routeRejects") {
            try self.lab.ip("route replace blackhole 203.0.113.9")
        }
        let line = try watched.expect("satisfied", "routed") {
            try self.lab.ip("route del blackhole 203.0.113.9")
            try self.restore()
        }
        try self.loseAndRestore(watched, from: line)
        _ = vpn
    }

    @Test func nothingIsKnownOfTheFarEnd() throws {
        let vpn = try self.tunnel()
        try self.takeHalves()
        let watched = try Watched(self.lab)
        try self.loseAndRestore(watched, from: watched.expect("satisfied", "routed"))
        _ = vpn
    }

    @Test func rulesOfWireGuardQuick() throws {
        let vpn = try self.tunnel(mark: 51_820)
        try self.lab.routeEverything(into: vpn.interface)
        let watched = try Watched(self.lab)
        try self.loseAndRestore(watched, from: watched.expect("satisfied", "routed"))
    }

    @Test func rulesOfTailscale() throws {
        let vpn = try self.tunnel(mark: 0x80000)
        try self.lab.addDefaultRoute(through: vpn.interface, family: .ipv4, options: "table 52")
        for rule in [
            "fwmark 0x80000/0xff0000 lookup main priority 5210", "fwmark 0x80000/0xff0000 lookup default priority 5230",
            "fwmark 0x80000/0xff0000 unreachable priority 5250", "lookup 52 priority 5270",
        ] { try self.lab.ip("rule add \(rule)") }
        let watched = try Watched(self.lab)
        try watched.expect("satisfied", "routed")
        try self.lab.ip("route del default")
        // The far end may be on the link.
        try watched.monitor.next { $0["reason"]?["message"]?.string?.hasSuffix("anything carries tun0") == true }
        try watched.expect("unsatisfied", "noAddress") { try self.wan.removeAddress("192.0.2.2/24") }
        #expect(try !self.isReached(within: .milliseconds(700)))
        try watched.expect("satisfied", "routed") {
            try self.wan.addAddress("192.0.2.2/24")
            try self.restore()
        }
    }

    @Test func marksOfOthersBesideAHealthyTunnel() throws {
        let vpn = try self.tunnel()
        try self.takeHalves()
        for rule in [
            "fwmark 0x1 lookup 100 priority 50", "fwmark 0x200/0xf00 lookup 2004 priority 9",
            "fwmark 0x3d00/0x3f00 unreachable priority 2254",
        ] { try self.lab.ip("rule add \(rule)") }
        let line = try Watched(self.lab).expect("satisfied", "routed")
        #expect(line["carriedBy"] == line.interface(named: "wan0")?["index"])
        _ = vpn
    }

    @Test func roamingFromOneUplinkToAnotherUnderTheTunnel() throws {
        let vpn = try self.tunnel(mark: 7)
        try self.lab.addUplink("wlan0", addresses: ["198.51.100.2/24"], gateway: "198.51.100.1", metric: 600)
        try self.lab.routeEverything(into: vpn.interface, table: 7)
        let watched = try Watched(self.lab)
        let before = try watched.expect("satisfied", "routed")
        #expect(before["carriedBy"] == before.interface(named: "wan0")?["index"])
        // What a network manager does when the cable is pulled.
        try self.lab.ip("route del default via 192.0.2.1")
        try self.wan.setDown()
        let line = try watched.monitor.next { line in
            #expect(line["status"] == "satisfied", "no moment without a path")
            return line["carriedBy"] != .null && line["carriedBy"] == line.interface(named: "wlan0")?["index"]
        }
        #expect(line.interfaceNames.first == "tun0")
        #expect(try self.isReached())
    }

    /// A VPN that was dialled over Wi-Fi, beside a cable that came later and has the better route.
    @Test func theServersOwnRouteLeadsIntoALinkThatIsLost() throws {
        let vpn = try self.tunnel()
        let wlan0 = try self.lab.addUplink(
            "wlan0",
            addresses: ["198.51.100.2/24"],
            gateway: "198.51.100.1",
            metric: 600
        )
        try self.takeHalves()
        try self.lab.ip("route replace 203.0.113.9 via 198.51.100.1")
        let watched = try Watched(self.lab)
        let line = try watched.expect("satisfied", "routed")
        let (wan, wlan) = (line.interface(named: "wan0")?["index"], line.interface(named: "wlan0")?["index"])
        #expect(line["carriedBy"] == wlan)
        func expect(_ index: JSONValue?) throws {
            let line = try watched.monitor.next { $0["carriedBy"] == index ?? .null }
            #expect(line["status"] == "satisfied")
            #expect(line["reason"]?["message"]?.string?.contains("it is unknown whether") == (index == nil))
        }
        try wlan0.setPeerCarrier(false)
        try expect(nil)
        #expect(try !self.isReached(within: .milliseconds(700)))
        // The program dials again over the cable.
        try self.lab.ip("route replace 203.0.113.9 via 192.0.2.1")
        try expect(wan)
        #expect(try self.isReached())
        try self.lab.ip("route replace 203.0.113.9 via 198.51.100.1")
        try expect(nil)
        try wlan0.setPeerCarrier(true)
        try expect(wlan)
        // Its own packets go into the tunnel.
        try self.lab.ip("route del 203.0.113.9")
        try expect(nil)
        #expect(try !self.isReached(within: .milliseconds(700)))
        // A way to a host of IPv6 past the tunnel is none to the server.
        try self.lab.ip("-6 route add 2001:db8:99::1 via fe80::1 dev wan0")
        #expect(try JSONValue(json: self.lab.run("\(Watched.program) --json"))["carriedBy"] == .null)
        _ = vpn
    }

    @Test func tunnelInATunnel() throws {
        let outer = try self.lab.addDatagramTunnel(
            "tun1",
            to: "203.0.113.9",
            options: DatagramOptions(mark: 7),
            addresses: ["10.8.0.2/32"]
        )
        try self.lab.routeEverything(into: outer.interface, table: 7)
        let inner = try self.lab.addDatagramTunnel(
            "tun0",
            to: "198.51.100.9",
            options: DatagramOptions(mark: 8),
            addresses: ["10.9.0.2/32"]
        )
        try self.lab.addDefaultRoute(through: inner.interface, family: .ipv4, options: "table 8")
        try self.lab.ip("rule add not fwmark 8 lookup 8 priority 100")
        // The outer tunnel's own packets must not go into the inner one.
        try self.lab.ip("rule add fwmark 7 lookup main priority 90")
        let watched = try Watched(self.lab)
        let line = try watched.expect("satisfied", "routed")
        #expect(line.interfaceNames.first == "tun0")
        #expect(line["carriedBy"] == line.interface(named: "wan0")?["index"])
        #expect(try self.isReached())
        try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
    }

    @Test func theTunnelIsAllThereIs() throws {
        // As slirp4netns and pasta leave it.
        try self.wan.delete()
        let vpn = try self.tunnel()
        try self.lab.addDefaultRoute(through: vpn.interface)
        let line = try Watched(self.lab).expect("satisfied", "routed")
        #expect(line["carriedBy"] == .null)
    }

    @Test func multipathBelowTheTunnel() throws {
        let other = try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("route replace default nexthop via 192.0.2.1 nexthop via 198.51.100.1")
        let vpn = try self.tunnel(mark: 7)
        try self.lab.routeEverything(into: vpn.interface, table: 7)
        let rules = "backends: [{type: netlink}]\ninterfaces: [{match: {name: wan1}, expensive: true}]\n"
        let watched = try Watched(self.lab, configuration: rules)
        let both = try watched.expect("satisfied", "routed")
        #expect(both["carriedBy"] == .null)
        #expect(both["isExpensive"] == true)
        try other.setPeerCarrier(false)
        let one = try watched.monitor.next { self.carrier($0) == "wan0" }
        #expect(one["reason"]?["message"]?.string?.hasSuffix("; what tun0 sends through wan1 is lost") == true)
        #expect(one["isExpensive"] == false)
        try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
        try self.wan.setPeerCarrier(true)
        try other.setPeerCarrier(true)
        try watched.monitor.next { $0["status"] == "satisfied" && $0["carriedBy"] == .null }
    }

    // MARK: Tunnels beside the path

    @Test func aSplitTunnelIsJudgedWhereHostsAndNameServersAreBehindIt() throws {
        let vpn = try self.tunnel()
        try self.lab.ip("route add 10.8.0.0/16 dev tun0")
        let resolver = "\(self.lab.directory)/resolv.conf"
        try "nameserver 10.8.0.53\n".write(toFile: resolver, atomically: true, encoding: .utf8)
        let configuration = "backends: [{type: netlink, resolvConf: \(resolver)}]\n"
        let watched = try Watched(self.lab, configuration: configuration)
        let file = try Watched.write(configuration, in: self.lab)
        let host = try self.lab.start(Watched.program, ["reach", "10.8.0.53", "--watch", "--json", "--config", file])
        func isReached(_ isExpected: Bool) throws {
            let word = isExpected ? "reachable" : "unreachable"
            try host.next { $0["status"]?.string == word }
            let line = try self.lab.run("\(Watched.program) reach 10.8.0.53 --json --config \(file) || true")
            #expect(try JSONValue(json: line)["status"]?.string == word)
        }
        #expect(try watched.expect("satisfied", "routed")["supportsDNS"] == true)
        try isReached(true)
        try self.wan.setPeerCarrier(false)
        try isReached(false)
        try self.wan.setPeerCarrier(true)
        try isReached(true)
        // The route to the server goes through another uplink, which is lost.
        let wlan0 = try self.lab.addUplink("wlan0", addresses: ["198.51.100.2/24"])
        try self.lab.ip("route add 203.0.113.9 via 198.51.100.1")
        try wlan0.setPeerCarrier(false)
        for host in ["10.8.0.53", "10.8.0.9"] {
            let text = try self.lab.run("\(Watched.program) reach \(host) --config \(file)")
            #expect(text.contains("tun0, VPN; it is unknown whether anything carries it"))
        }
        #expect(try host.stop() == 0)
        _ = vpn
    }

    // MARK: VXLAN, which says where its packets go

    private func vxlan(_ options: String) throws -> Watched {
        try self.lab.ip("link add tun0 up type vxlan id 7 dstport 4789 \(options)")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("route add 0.0.0.0/1 dev tun0")
        try self.lab.ip("route add 128.0.0.0/1 dev tun0")
        return try Watched(self.lab)
    }

    private func carrier(_ line: JSONLine) -> String? {
        line["interfaces"]?.elements.first { $0["index"] == line["carriedBy"] }?["name"]?.string
    }

    @Test func remoteOnTheLinkOfAnotherUplink() throws {
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        let watched = try self.vxlan("remote 198.51.100.9")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan1")
        // It says so itself when that changes.
        try self.lab.ip("link set tun0 type vxlan id 7 remote 192.0.2.9")
        try watched.monitor.next { self.carrier($0) == "wan0" }
    }

    @Test func remoteBehindAHostRoute() throws {
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("route add 203.0.113.9 via 198.51.100.1")
        let watched = try self.vxlan("remote 203.0.113.9")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan1")
        // Without it the tunnel takes its own packets.
        let lost = try watched.expect("unsatisfied", "noRoute") { try self.lab.ip("route del 203.0.113.9") }
        #expect(lost["reason"]?["message"]?.string?.contains("leads into the tunnel itself") == true)
        try self.lab.ip("route add 203.0.113.9 via 192.0.2.1")
        try watched.monitor.next { self.carrier($0) == "wan0" }
    }

    /// As EVPN has them: by the thousand, and netpath listens to none of them, so they decide nothing.
    @Test func farEndsByHardwareAddressAreInDoubt() throws {
        let watched = try self.vxlan("")
        for _ in 0..<2 {
            let line = try watched.expect("satisfied", "routed")
            #expect(line["carriedBy"] == .null)
            #expect(line["reason"]?["message"]?.string?.contains("it is unknown whether") == true)
            try self.lab.run("bridge fdb append 02:00:00:00:00:09 dev tun0 dst 203.0.113.9")
            try self.wan.setPeerCarrier(false)
            try watched.expect("unsatisfied", "noCarrier")
            try self.wan.setPeerCarrier(true)
        }
    }

    @Test func boundToAnUplink() throws {
        let other = try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        let watched = try self.vxlan("remote 198.51.100.9 dev wan1")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan1")
        let lost = try watched.expect("unsatisfied", "noCarrier") { try other.setPeerCarrier(false) }
        #expect(lost["reason"]?["message"] == "wan1 has no carrier; nothing carries tun0")
    }

    @Test func remoteInTheForwardingDatabase() throws {
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("link add tun0 type vxlan id 7 dstport 4789")
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 198.51.100.9")
        try self.lab.ip("link set tun0 up")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("route add 0.0.0.0/1 dev tun0")
        try self.lab.ip("route add 128.0.0.0/1 dev tun0")
        let watched = try Watched(self.lab)
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan1")
        // Nothing but the entry changes.
        try watched.expect("unsatisfied", "noRoute") {
            try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.9")
            try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 198.51.100.9")
        }
        // Behind which of two the gateway is is not asked.
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 192.0.2.9")
        try watched.monitor.next { self.isInDoubt($0) }
        try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 203.0.113.9")
        try watched.monitor.next { self.carrier($0) == "wan0" }
        // Without any it sends to what it learns.
        try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 192.0.2.9")
        try watched.monitor.next { self.isInDoubt($0) }
    }

    /// What it learns of the far end has no interface: only frames for all leave through the one it is bound to.
    @Test func learningFreesFromTheUplink() throws {
        let wan1 = try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("route add 203.0.113.9 via 192.0.2.1")
        try self.lab.ip("route add 203.0.113.9 via 198.51.100.1 metric 100")
        let watched = try self.vxlan("remote 203.0.113.9 dev wan1")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        // What is learnt lasts, and nothing more is learnt.
        try wan1.setPeerCarrier(false)
        try watched.monitor.next { self.isInDoubt($0) }
        try watched.expect("unsatisfied", "noCarrier") { try self.lab.ip("route del 203.0.113.9 via 192.0.2.1") }
        try self.lab.ip("route add 203.0.113.9 via 192.0.2.1")
        try wan1.setPeerCarrier(true)
        try watched.monitor.next { self.carrier($0) == "wan0" }
        try self.lab.ip("link set tun0 type vxlan id 7 nolearning")
        try watched.monitor.next { self.carrier($0) == "wan1" }
        try self.lab.ip("link set tun0 type vxlan id 7 learning")
        try watched.monitor.next { self.carrier($0) == "wan0" }
        try watched.expect("unsatisfied", "routeRejects") { try self.lab.ip("route replace blackhole 203.0.113.9") }
    }

    /// A port that stands on a tunnel is one.
    @Test func aBridgeOverWhatStandsOnATunnel() throws {
        for line in [
            "link add vx0 up type vxlan id 7 remote 203.0.113.9 dstport 4789",
            "link add mac0 link vx0 up type macvlan mode passthru", "link add br0 up type bridge",
            "link set mac0 master br0",
            "address add 10.9.0.2/24 dev br0", "route add 203.0.113.9 via 192.0.2.1",
            "route replace default via 10.9.0.1 dev br0",
        ] { try self.lab.ip(line) }
        let watched = try Watched(self.lab)
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        let lost = try watched.expect("unsatisfied", "noCarrier") { try self.wan.setPeerCarrier(false) }
        #expect(lost["reason"]?["message"] == "wan0 has no carrier; nothing carries br0")
        try watched.expect("satisfied", "routed") { try self.wan.setPeerCarrier(true) }
        // Where a macvlan passes everything through, it keeps its carrier.
        try self.lab.ip("link set vx0 down")
        try watched.monitor.next { $0["status"] == "unsatisfied" }
    }

    /// Its own remote is the first of them, and may be removed.
    @Test func entriesOfTheForwardingDatabaseDecide() throws {
        try self.lab.ip("route add 203.0.113.8/31 via 192.0.2.1")
        let watched = try self.vxlan("remote 203.0.113.8 nolearning")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.9 port 4790")
        try self.lab.ip("route add blackhole 203.0.113.8")
        // Each has a port of its own.
        try watched.expect("unsatisfied", "routeRejects") {
            try self.lab.ip("rule add ipproto udp dport 4790 blackhole priority 10")
        }
        // Behind which of them the gateway is is not asked.
        try self.lab.ip("rule del priority 10")
        try watched.monitor.next { self.isInDoubt($0) }
        try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 203.0.113.8")
        try watched.monitor.next { self.carrier($0) == "wan0" }
        try watched.expect("unsatisfied", "routeRejects") {
            try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.8")
            try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 203.0.113.9 port 4790")
        }
    }

    /// What was learnt lasts for a while, whatever the device is told.
    @Test func aFarEndThatWasLearntIsADoubt() throws {
        try self.lab.ip("route add 203.0.113.8/31 via 192.0.2.1")
        let watched = try self.vxlan("remote 203.0.113.8")
        // As if a packet had come from there.
        try self.lab.run("bridge fdb add 02:00:00:00:00:09 dev tun0 dst 203.0.113.9 self dynamic")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        try self.lab.ip("route add blackhole 203.0.113.8")
        try watched.monitor.next { self.isInDoubt($0) }
        try watched.expect("unsatisfied", "routeRejects") { try self.lab.ip("route add blackhole 203.0.113.9") }
    }

    @Test func moreFarEndsThanAreAskedAbout() throws {
        try self.lab.ip("route add blackhole 198.18.0.0/16")
        try self.lab.ip("route add 203.0.113.9 via 192.0.2.1")
        let watched = try self.vxlan("nolearning")
        for number in 1...17 {
            try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 198.18.0.\(number)")
        }
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.9")
        try watched.monitor.next { self.isInDoubt($0) }
        for number in 1...17 {
            try self.lab.run("bridge fdb del 00:00:00:00:00:00 dev tun0 dst 198.18.0.\(number)")
        }
        try watched.monitor.next { self.carrier($0) == "wan0" }
    }

    /// Which of them it sends through depends on the packet.
    @Test func aBridgeOfTwoTunnels() throws {
        for line in [
            "link add vx0 up type vxlan id 7 remote 203.0.113.8 dstport 4789",
            "link add vx1 up type vxlan id 8 remote 203.0.113.9 dstport 4789", "link add br0 up type bridge",
            "link set vx0 master br0", "link set vx1 master br0", "address add 10.9.0.2/24 dev br0",
            "route add 203.0.113.8/31 via 192.0.2.1", "route replace default via 10.9.0.1 dev br0",
        ] { try self.lab.ip(line) }
        let watched = try Watched(self.lab)
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        try self.lab.ip("route add blackhole 203.0.113.8")
        try watched.monitor.next { self.isInDoubt($0) }
        try watched.expect("unsatisfied", "noRoute") { try self.lab.ip("route add blackhole 203.0.113.9") }
    }

    /// The gateway may be behind the tunnel or behind another port, also of the next bridge.
    @Test(arguments: ["br0", "br1"])
    func aBridgeOfATunnelAndOtherPorts(bridge: String) throws {
        for line in [
            "link add vx0 up type vxlan id 7 remote 203.0.113.9 dstport 4789", "link add br0 up type bridge",
            "link add br1 up type bridge", "link add v0 up type veth peer name v1", "link set v1 up",
            "link set v0 master br0", "link set v1 master br1", "link set vx0 master \(bridge)",
            "address add 10.9.0.2/24 dev br0", "route add 203.0.113.9 via 192.0.2.1",
            "neighbour add 10.9.0.1 lladdr 02:00:00:00:00:01 dev br0", "route replace default via 10.9.0.1 dev br0",
        ] { try self.lab.ip(line) }
        // As if a packet had come from the gateway.
        if bridge == "br1" { try self.lab.run("bridge fdb add 02:00:00:00:00:01 dev v0 master static") }
        try self.lab.run("bridge fdb add 02:00:00:00:00:01 dev vx0 master static")
        let watched = try Watched(self.lab)
        try watched.monitor.next { $0["status"] == "satisfied" && !self.isInDoubt($0) }
        try self.lab.ip("route replace blackhole 203.0.113.9")
        try watched.monitor.next { self.isInDoubt($0) }
        try self.lab.ip("route replace 203.0.113.9 via 192.0.2.1")
        try watched.monitor.next { $0["status"] == "satisfied" && !self.isInDoubt($0) }
        let entry = "00:00:00:00:00:00 dev vx0 dst 203.0.113.9"
        for (loss, recovery) in [
            // Its own packets go into the bridge that it is a port of.
            ("ip route del 203.0.113.9", "ip route add 203.0.113.9 via 192.0.2.1"),
            ("bridge fdb del \(entry)", "bridge fdb append \(entry)"),
        ] {
            try self.lab.run(loss)
            try watched.monitor.next { self.isInDoubt($0) }
            try self.lab.run(recovery)
            try watched.monitor.next { $0["status"] == "satisfied" && !self.isInDoubt($0) }
        }
        // The bridge knows behind which port the gateway is.
        try watched.expect("unsatisfied", "noCarrier") { try self.lab.ip("link set vx0 down") }
    }

    /// The gateway may be a virtual machine behind the tap, of which no far end is known.
    @Test func aBridgeOfATunnelAndATap() throws {
        // TUNSETIFF: IFF_TAP and IFF_NO_PI.
        let hold =
            #"$r = pack "a16sx22", "t0", 0x1002; open F, "+<", "/dev/net/tun" and ioctl F, 0x400454ca, $r and sleep"#
        let tap = try self.lab.start("perl", ["-e", hold])
        try self.lab.run("until ip link show t0 >/dev/null 2>&1; do :; done")
        for line in [
            "link set t0 up", "link add vx0 up type vxlan id 7 remote 203.0.113.9 dstport 4789",
            "link add br0 up type bridge", "link set t0 master br0", "link set vx0 master br0",
            "address add 10.9.0.2/24 dev br0", "route add 203.0.113.9 via 192.0.2.1",
            "route replace default via 10.9.0.1 dev br0",
        ] { try self.lab.ip(line) }
        let watched = try Watched(self.lab)
        try watched.monitor.next { self.isInDoubt($0) }
        try self.lab.ip("link set vx0 down")
        try self.lab.ip("route del 203.0.113.9")
        let fresh = try JSONValue(json: self.lab.run("\(Watched.program) --json || true"))
        #expect(fresh["reason"]?["message"]?.string?.contains("it is unknown whether") == true)
        #expect(try watched.monitor.drain().allSatisfy { self.isInDoubt($0) })
        // The tap goes with its program.
        try tap.stop()
        try watched.monitor.next { $0["status"] == "unsatisfied" }
    }

    private func isInDoubt(_ line: JSONLine) -> Bool {
        line["status"] == "satisfied" && line["carriedBy"] == .null
            && line["reason"]?["message"]?.string?.contains("it is unknown whether") == true
    }

    /// Only the remote of the device itself is bound to its uplink.
    @Test func anEntryOfTheForwardingDatabaseIsNotBoundToTheUplink() throws {
        try self.lab.ip("link add tun0 up type vxlan id 7 dstport 4789 dev wan0 nolearning")
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.9")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("route add default via 10.9.0.9 dev tun0 table 52")
        try self.lab.ip("rule add lookup 52 priority 50")
        // The rule leads the tunnel's own packets into it.
        let watched = try Watched(self.lab)
        try watched.expect("unsatisfied", "noRoute")
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tun0 dst 203.0.113.9 via wan0")
        try watched.monitor.next { self.isInDoubt($0) }
    }

    /// Marks in rules are for the packets of programs: what the kernel sends itself has none.
    @Test func aRuleAboutMarksLeavesOutNoPacketsOfTheKernel() throws {
        try self.lab.ip("link add tun0 up type vxlan id 7 dstport 4789")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("route add default via 10.9.0.9 dev tun0 table 52")
        try self.lab.ip("rule add not fwmark 51820 lookup 52 priority 50")
        let line = try Watched(self.lab).expect("satisfied", "routed")
        #expect(line["carriedBy"] == .null)
        #expect(line["reason"]?["message"]?.string?.contains("it is unknown whether") == true)
    }

    /// A policy rule for some packets takes nothing from the doubt about a tunnel that routes lead into, too.
    @Test func aRuleBesideRoutesLeavesTheDoubt() throws {
        let watched = try self.vxlan("")
        try self.lab.ip("route add default dev tun0 table 52")
        try self.lab.ip("rule add to 8.0.0.0/7 lookup 52 priority 50")
        let line = try watched.expect("satisfied", "routed")
        #expect(line["reason"]?["message"]?.string?.contains("it is unknown whether") == true)
    }

    /// A source address frees IPv6 from the interface.
    @Test func theSourceOfIPv6Decides() throws {
        try self.lab.addUplink("wan1")
        for number in 0...1 { try self.lab.ip("address add 2001:db8:\(number)::2/64 dev wan\(number) nodad") }
        try self.lab.ip("route add 2001:db8:9::/48 via 2001:db8:0::1 dev wan0")
        let watched = try self.vxlan("remote 2001:db8:9::9 dev wan1 local 2001:db8::2")
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        // It routes from any address, also from one that is gone.
        try self.lab.ip("address add 2001:db8::3/64 dev wan0 nodad")
        try watched.expect("unsatisfied", "noAddress") { try self.lab.ip("address del 2001:db8::2/64 dev wan0") }
        try watched.expect("satisfied", "routed") { try self.lab.ip("address add 2001:db8::2/64 dev wan0 nodad") }
    }

    /// The kernel passes over an IPv6 route whose gateway does not answer, and sends no event about routes.
    @Test func theGatewayOfTheFarEndFails() throws {
        try self.lab.ip("address add 2001:db8::2/64 dev wan0 nodad")
        try self.lab.ip("route add 2001:db8:9::9 via 2001:db8::1 dev wan0")
        try self.lab.ip("neighbour add 2001:db8::1 lladdr 02:00:00:00:00:01 dev wan0 nud reachable")
        try self.lab.ip("link add tun0 up type vxlan id 7 dstport 4789 remote 2001:db8:9::9")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("address add fd09::2/64 dev tun0 nodad")
        try self.lab.ip("route replace default via 10.9.0.9 dev tun0 onlink")
        try self.lab.ip("route add default via fd09::9 dev tun0")
        let watched = try Watched(self.lab)
        #expect(self.carrier(try watched.expect("satisfied", "routed")) == "wan0")
        try watched.expect("unsatisfied", "noRoute") {
            try self.lab.ip("neighbour replace 2001:db8::1 dev wan0 nud failed")
        }
        try self.lab.ip("neighbour replace 2001:db8::1 lladdr 02:00:00:00:00:01 dev wan0 nud reachable")
        try watched.monitor.next { self.carrier($0) == "wan0" }
    }

    @Test func rulesAboutWhatTheKernelSendsItself() throws {
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"], gateway: "198.51.100.1", metric: 600)
        let watched = try self.vxlan("remote 203.0.113.9")
        try watched.expect("unsatisfied", "noRoute")
        try self.lab.ip("route add default via 198.51.100.1 table 100")
        try self.lab.ip("rule add ipproto udp dport 4789 lookup 100 priority 50")
        try watched.monitor.next { self.carrier($0) == "wan1" }
        try watched.expect("unsatisfied", "noRoute") { try self.lab.ip("rule del priority 50") }
    }

    @Test func theTunnelIsItsOwnFarEnd() throws {
        let watched = try self.vxlan("remote 10.9.0.9")
        try watched.expect("unsatisfied", "noRoute")
    }

    @Test func costIsThatOfWhatCarriesIt() throws {
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("link add tun0 up type vxlan id 7 dstport 4789 remote 198.51.100.9")
        try self.lab.ip("address add 10.9.0.2/24 dev tun0")
        try self.lab.ip("route add 0.0.0.0/1 dev tun0")
        try self.lab.ip("route add 128.0.0.0/1 dev tun0")
        let rules = "backends: [{type: netlink}]\ninterfaces: [{match: {name: wan1}, expensive: true}]\n"
        #expect(try Watched(self.lab, configuration: rules).expect("satisfied", "routed")["isExpensive"] == true)
    }
}
