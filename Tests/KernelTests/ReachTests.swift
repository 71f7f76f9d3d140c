// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// `netpath reach` against the real kernel: hosts whose way differs from that to the internet.
@Suite(.needsNamespaces)
struct ReachTests {
    private let lab: NetworkNamespace
    private let wan: LabInterface

    init() throws {
        self.lab = try NetworkNamespace(resolverConfiguration: "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        self.wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private func watch(_ host: String) throws -> MonitorProcess {
        try self.lab.start(Watched.program, ["reach", host, "--watch", "--json"])
    }

    /// Runs the command once; returns what it wrote and its exit status.
    private func reach(_ arguments: String) throws -> String {
        try self.lab.run("\(Watched.program) reach \(arguments) 2>&1; echo $?")
    }

    // MARK: Routes

    @Test func aLinkLocalAddressWithItsInterface() throws {
        try self.lab.ip("link set wan0 addrgenmode none")
        try self.lab.ip("addr add fe80::2/64 dev wan0 nodad")
        let host = try self.watch("fe80::9%wan0")
        let first = try host.next { $0["status"]?.string == "reachable" }
        #expect(first["route"]?["interface"]?.string == "wan0")
        #expect(first["route"]?["source"]?.string == "fe80::2")
        #expect(first["route"]?["localOnly"]?.bool == true)
        // The same address on another link is another host.
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        #expect(try self.reach("fe80::9%wan1").contains("wan0") == false)

        let unknown = try self.reach("fe80::9%wan9")
        #expect(unknown.contains("there is no interface wan9"))
        #expect(unknown.hasSuffix("1\n"))

        try self.wan.setDown()
        try host.next { $0["status"]?.string == "unreachable" }
    }

    /// No event tells when the lifetime of a route is over (RFC 4191), and the kernel removes it up to 30 s later.
    @Test func aRouteThatExpiresIsNoWay() throws {
        try self.lab.ip("addr add 2001:db8::2/64 dev wan0 nodad")
        try self.lab.ip("-6 route add 2001:db8:5::/48 via fe80::1 dev wan0 expires 3")
        let host = try self.watch("2001:db8:5::1")
        try host.next { $0["status"]?.string == "reachable" }
        try host.next(timeout: .seconds(8)) { $0["status"]?.string == "unreachable" }
    }

    @Test func anAddressOfThisMachineNeedsNoLink() throws {
        let host = try self.watch("192.0.2.2")
        try host.next { $0["status"]?.string == "reachable" }
        try self.wan.setPeerCarrier(false)
        #expect(try self.reach("192.0.2.2") == "REACHABLE  192.0.2.2 is this machine\n0\n")
        try self.wan.setDown()
        #expect(try self.reach("192.0.2.2") == "REACHABLE  192.0.2.2 is this machine\n0\n")
    }

    @Test func withoutLoopbackThisMachineIsNotReached() throws {
        let hosts = ["127.0.0.1", "192.0.2.2", "::1"]
        let watches = try hosts.map { try self.watch($0) }
        for watch in watches { try watch.next { $0["status"]?.string == "reachable" } }
        try self.lab.ip("link set lo down")
        for watch in watches { try watch.next { $0["status"]?.string == "unreachable" } }
        for host in hosts { #expect(try self.reach(host).hasSuffix("\n1\n")) }
        #expect(try self.reach("192.0.2.2").contains("lo is administratively down"))
        try self.lab.ip("link set lo up")
        for watch in watches { try watch.next { $0["status"]?.string == "reachable" } }
    }

    @Test func aRouteBackToThisMachineIsNoWayToAHost() throws {
        try self.lab.ip("route replace default dev lo")
        #expect(try self.reach("203.0.113.9").contains("leads back to this machine"))
        #expect(try self.reach("203.0.113.9").hasSuffix("\n1\n"))
        // What loopback answers for by a route of its own.
        try self.lab.ip("route add local 203.0.113.0/24 dev lo")
        #expect(try self.reach("203.0.113.9").contains("is this machine"))
    }

    @Test func aBlackholeForOneHostOnly() throws {
        let host = try self.watch("203.0.113.9")
        let path = try self.lab.start(Watched.program, ["watch", "--json"])
        let first = try host.next { $0["status"]?.string == "reachable" }
        #expect(first["route"]?["interface"]?.string == "wan0")
        #expect(first["route"]?["gateway"]?.string == "192.0.2.1")
        #expect(first["route"]?["localOnly"]?.bool == false)
        try path.next { $0["status"]?.string == "satisfied" }

        try self.lab.ip("route add blackhole 203.0.113.9/32")
        let refused = try host.next { $0["status"]?.string == "unreachable" }
        #expect(refused.reason == "routeRejects")
        #expect(refused["route"]?["interface"] == nil)
        try self.lab.ip("route del blackhole 203.0.113.9/32")
        try host.next { $0["status"]?.string == "reachable" }
        #expect(try path.drain().isEmpty, "the path to the internet did not change")
    }

    @Test func aMoreSpecificRouteComesAndGoes() throws {
        let host = try self.watch("203.0.113.9")
        try host.next { $0["route"]?["interface"]?.string == "wan0" }
        try self.lab.addUplink("wan1", addresses: ["198.51.100.2/24"])
        try self.lab.ip("route add 203.0.113.0/28 via 198.51.100.1")
        let moved = try host.next { $0["route"]?["interface"]?.string == "wan1" }
        #expect(moved["route"]?["gateway"]?.string == "198.51.100.1")
        try self.lab.ip("route del 203.0.113.0/28")
        try host.next { $0["route"]?["interface"]?.string == "wan0" }
        // What else came of the other route is told by then.
        try host.waitForRest()
        try host.drain()
        // Not covered by the filter's prefixes: nobody is told.
        try self.lab.ip("route add blackhole 203.0.113.16/28")
        try self.lab.ip("route add blackhole 203.0.113.9/32")
        #expect(try host.next()["status"]?.string == "unreachable")
    }

    @Test func aHostOnTheLinkNeedsNoInternet() throws {
        try self.lab.removeDefaultRoute()
        let host = try self.watch("192.0.2.7")
        let first = try host.next()
        #expect(first["status"]?.string == "reachable")
        #expect(first["route"]?["localOnly"]?.bool == true)
        try self.wan.setPeerCarrier(false)
        let lost = try host.next { $0["status"]?.string == "unreachable" }
        #expect(lost.reason == "noCarrier")
        #expect(try self.reach("203.0.113.9").hasSuffix("\n1\n"))
    }

    @Test func aHostBehindATunnel() throws {
        let host = try self.watch("198.51.100.9")
        try host.next { $0["route"]?["interface"]?.string == "wan0" }
        _ = try self.lab.addTunnel("tunnel0", addresses: ["10.8.0.2/24"])
        try self.lab.run("bridge fdb append 00:00:00:00:00:00 dev tunnel0 dst 203.0.113.9")
        try self.lab.ip("route add 198.51.100.0/24 dev tunnel0")
        let line = try host.next { $0["route"]?["carriedBy"]?.string == "wan0" }
        #expect(line["route"]?["interface"]?.string == "tunnel0")
        #expect(line["route"]?["tunnel"]?.bool == true)
        #expect(line["route"]?["vpn"]?.bool == false)
        #expect(line["route"]?["localOnly"]?.bool == false)
    }

    /// What carries a tunnel is found out once a host behind it is watched: what is said before would have to be taken back.
    @Test func aHostBehindATunnelThatNothingCarriesIsNeverReachable() throws {
        _ = try self.lab.addTunnel("tunnel0", addresses: ["10.8.0.2/24"])
        try self.lab.ip("route add 198.51.100.0/24 dev tunnel0")
        try self.wan.setPeerCarrier(false)
        for _ in 0..<20 {
            let host = try self.watch("198.51.100.9")
            let first = try host.next { $0["status"]?.string != "unknown" }
            #expect(first["status"]?.string == "unreachable")
        }
        #expect(try self.reach("198.51.100.9").hasSuffix("\n1\n"))
    }

    /// What `connect(2)` refuses at once, whatever the routes: none of it is reached.
    @Test(arguments: ["fe80::1", "255.255.255.255", "192.0.2.255", "127.255.255.255", "239.1.1.1", "ff02::1%wan0"])
    func anAddressThatIsNoSingleHosts(host: String) throws {
        let output = try self.reach("\(host) --json")
        #expect(output.contains(#""status":"unreachable","reason":{"code":"notConnectable""#), "\(output)")
        #expect(output.hasSuffix("\n1\n"))
    }

    @Test func aHostThatLooksLikeABroadcastAddress() throws {
        try self.lab.ip("addr add 198.51.100.1/23 dev wan0")
        #expect(try self.reach("198.51.100.255").hasSuffix("\n0\n"))
    }

    // MARK: Names

    @Test func aNameThatChangesItsAddress() throws {
        let file = "\(self.lab.directory)/address"
        try self.lab.run("echo 203.0.113.9 >\(file)")
        try self.lab.serveNames(from: file)
        let host = try self.watch("host.example")
        try host.next { $0["route"]?["address"]?.string == "203.0.113.9" }
        try self.lab.run("echo 203.0.113.10 >\(file); echo 'nameserver 127.0.0.1' >/etc/resolv.conf")
        try host.next { $0["route"]?["address"]?.string == "203.0.113.10" }
        // The new address is watched in place of the old one.
        try self.lab.ip("route add blackhole 203.0.113.10/32")
        try host.next { $0["status"]?.string == "unreachable" }
    }

    @Test func aDeadNameServerIsUnknownAndComesBack() throws {
        let output = try self.reach("host.example")
        #expect(output.hasPrefix("UNKNOWN  host.example cannot be looked up"))
        #expect(output.hasSuffix("\n69\n"))
        let host = try self.watch("host.example")
        let first = try host.next { $0.reason == "notResolved" }
        #expect(first["status"]?.string == "unknown")
        try self.lab.run("echo 203.0.113.9 >\(self.lab.directory)/address")
        try self.lab.serveNames(from: "\(self.lab.directory)/address")
        // Asked again without any event of the network.
        try host.next { $0["route"]?["address"]?.string == "203.0.113.9" }
    }

    @Test func theHostsFile() throws {
        try self.lab.run("rm -f /etc/hosts; echo '203.0.113.9 printer' >/etc/hosts")
        let output = try self.reach("printer")
        #expect(output == "REACHABLE  printer: 203.0.113.9 through wan0 via 192.0.2.1\n0\n")
    }

    @Test func theHostsFileChanges() throws {
        try self.lab.run("rm -f /etc/hosts; echo '203.0.113.9 printer' >/etc/hosts")
        let host = try self.watch("printer")
        try host.next { $0["route"]?["address"]?.string == "203.0.113.9" }
        try self.lab.run("echo '203.0.113.10 printer' >/etc/hosts")
        try host.next { $0["route"]?["address"]?.string == "203.0.113.10" }
        try self.lab.run("echo '203.0.113.11 printer' >/etc/hosts.new && mv /etc/hosts.new /etc/hosts")
        try host.next { $0["route"]?["address"]?.string == "203.0.113.11" }
        #expect(try host.contextSwitches(in: .seconds(3)) == 0, "nothing wakes it while the file stays as it is")
    }

    // MARK: Connecting

    @Test func aConnectionOnlyOnDemand() throws {
        try self.lab.addFarAddress("192.0.2.1/24", behind: self.wan)
        #expect(try self.reach("192.0.2.1:8080").hasSuffix("\n0\n"), "nobody is asked whether he listens")
        let refused = try self.reach("192.0.2.1:8080 --connect")
        #expect(refused.contains(/TCP port \d+ +refused/))
        #expect(refused.hasSuffix("\n1\n"))
        try self.lab.serve("hello", on: 8080)
        let connected = try self.reach("192.0.2.1:8080 --connect --json")
        #expect(connected.contains(#""connection":{"target":"192.0.2.1:8080","outcome":"connected""#))
        #expect(connected.hasSuffix("\n0\n"))
    }

    @Test func wrongUsage() throws {
        for arguments in ["'two words'", "192.0.2.1 --connect", "192.0.2.1:80 --connect --watch", "192.0.2.256"] {
            let output = try self.reach(arguments)
            #expect(output.hasSuffix("\n64\n"), "\(output)")
        }
    }

    // MARK: Costs

    @Test func hostsCostNeitherDescriptorsNorThreadsAndLeaveNothingBehind() throws {
        let output = try self.lab.run(
            "\(MonitorProcess.builtProduct("MonitorScenarios")) hosts",
            timeout: .seconds(120)
        )
        #expect(output == "a thousand hosts: same\nten thousand cycles: same\nthe end: idle\n")
    }
}
