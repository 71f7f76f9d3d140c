// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Addresses and their states.
@Suite(.needsNamespaces)
struct AddressTests {
    @Test func ipv6Only() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8::2/64"], gateway: "2001:db8::1")
        let watched = try Watched(lab)
        let line = try watched.expect("satisfied", "routed")
        #expect(line["supportsIPv4"] == false)
        #expect(line["supportsIPv6"] == true)
        #expect(line.gateways == ["2001:db8::1"])
        try watched.expect("unsatisfied", "noAddress") { try wan.removeAddress("2001:db8::2/64") }
    }

    @Test func removedAddressTakesTheRoute() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noAddress") { try wan.removeAddress("192.0.2.2/24") }
    }

    @Test func tentativeThenValid() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        try lab.setParameter("net/ipv6/conf/wan0/dad_transmits", to: 15)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noAddress")
        try watched.expect("requiresConnection", "configuringAddress") {
            try wan.addTentativeAddress("2001:db8::2/64")
            try lab.addDefaultRoute(via: "2001:db8::1", through: wan)
        }
        try watched.expect("satisfied", "routed")
    }

    /// Without duplicate address detection the kernel uses an IPv6 address before it announces it: on a busy machine in one
    /// of twenty rounds after the route whose place it takes has gone.
    @Test func theOtherFamilyTakesOverBeforeItIsAnnounced() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.run("ip -6 route add default dev wan0")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        func change(to family: String, _ commands: String) throws {
            try lab.run("printf '\(commands)' | ip -batch -")
            try watched.monitor.next { line in
                #expect(line["status"] == "satisfied")
                return line["supports\(family)"] == true && line["supportsIPv4"] != line["supportsIPv6"]
            }
        }
        for _ in 0..<100 {
            try change(to: "IPv6", "address add 2001:db8::2/64 dev wan0 nodad\\nroute del default via 192.0.2.1\\n")
            try change(to: "IPv4", "route add default via 192.0.2.1\\naddress del 2001:db8::2/64 dev wan0\\n")
        }
    }

    /// The kernel announces an address before routes take it for their source; listeners that it tells meanwhile make that
    /// longer, so that without a second look every other round has no path.
    @Test func anAddressOfLoopbackIsTheSourceOfRoutesThatHadNone() throws {
        let lab = try NetworkNamespace()
        try lab.setParameter("net/ipv6/conf/all/disable_ipv6", to: 1)
        try lab.setParameter("net/ipv6/conf/default/disable_ipv6", to: 1)
        let wan = try lab.addUplink("wan0")
        try lab.ip("route add default via 169.254.1.1 dev \(wan.name) onlink")
        let listeners = try lab.start(
            "perl",
            [
                // AF_NETLINK, NETLINK_ROUTE, RTMGRP_IPV4_ROUTE.
                "-MSocket", "-e",
                """
                socket($sockets[$_], 16, SOCK_RAW, 0) && bind($sockets[$_], pack("SSLL", 16, 0, 0, 0x40)) or die for 1..300;
                syswrite STDOUT, qq({"ready":true}\\n);
                sleep;
                """,
            ]
        )
        try listeners.next { $0["ready"] == true }
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noAddress")
        for _ in 0..<30 {
            try watched.expect("satisfied", "routed", within: .seconds(2)) {
                try lab.ip("address add 10.99.0.1/32 dev lo")
            }
            try watched.expect("unsatisfied", "noAddress") { try lab.ip("address del 10.99.0.1/32 dev lo") }
        }
    }

    /// The machine's address, on loopback and on its uplinks, one of which is down: the copy that is left is of use.
    @Test func anAddressOfLoopbackMayBeOnAnInterfaceThatIsDown() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        let other = try lab.addUplink("wan1")
        try lab.setParameter("net/ipv6/conf/wan1/keep_addr_on_down", to: 1)
        try lab.ip("address add 2001:db8::2/128 dev lo")
        try lab.ip("address add 2001:db8::2/128 dev wan1 nodad")
        try lab.ip("-6 route add default via fe80::1 dev \(wan.name)")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try lab.ip("address replace 2001:db8::2/128 dev wan1")
        let lines = try watched.monitor.lines(markedOn: wan) { try other.setDown() }
        #expect((lines.before + [lines.settled]).allSatisfy { $0["status"] == "satisfied" })
        let fresh = try JSONValue(json: try lab.run("\(Watched.program) --json"))
        #expect(fresh["status"] == "satisfied")
        #expect(try lab.run("\(Watched.program) reach 2600::1").hasPrefix("REACHABLE"))
    }

    /// They are checked for duplicates again when the interface is up, which the kernel tells when it is over.
    @Test func addressesThatWereKeptAreAwaited() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        try lab.setParameter("net/ipv6/conf/wan0/keep_addr_on_down", to: 1)
        try wan.addTentativeAddress("2001:db8::2/64")
        try lab.ip("-6 route add default via 2001:db8::1 dev wan0")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "allDown") { try wan.setDown() }
        try lab.setParameter("net/ipv6/conf/wan0/dad_transmits", to: 30)
        try watched.expect("requiresConnection", "configuringAddress") {
            try wan.setUp()
            try lab.ip("-6 route add default via 2001:db8::1 dev wan0")
        }
        let fresh = try JSONValue(json: try lab.run("\(Watched.program) --json; true"))
        #expect(fresh["reason"]?["code"] == "configuringAddress")
    }

    /// What only leads to containers comes no closer to a path by it.
    @Test func aCheckedAddressOfAContainersBridgeIsNotAwaited() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
        let lines = try watched.monitor.lines(markedOn: wan) {
            let container = try lab.addUplink("veth0")
            let bridge = try lab.addBridge("docker0", ports: [container])
            try lab.setParameter("net/ipv6/conf/docker0/dad_transmits", to: 60)
            try bridge.addTentativeAddress("fd00:1::1/64")
            let routed = try lab.addUplink("veth1")
            try lab.setParameter("net/ipv6/conf/veth1/dad_transmits", to: 60)
            try routed.addTentativeAddress("fd00:2::1/64")
        }
        #expect((lines.before + [lines.settled]).allSatisfy { $0["status"] == "unsatisfied" && $0.reason == "noRoute" })
        let fresh = try JSONValue(json: try lab.run("\(Watched.program) --json; true"))
        #expect(fresh["reason"]?["code"] == "noRoute")
    }

    @Test func aCheckedAddressIsAwaitedWhateverTheOtherFamilyGets() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        try lab.setParameter("net/ipv6/conf/wan0/dad_transmits", to: 15)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noAddress")
        try watched.expect("requiresConnection", "configuringAddress") {
            try wan.addTentativeAddress("2001:db8::2/64")
            try lab.addDefaultRoute(via: "2001:db8::1", through: wan)
        }
        try wan.addAddress("192.0.2.2/24")
        let line = try watched.monitor.next { $0.holds("192.0.2.2/24", "wan0") }
        #expect(line.reason == "configuringAddress")
        #expect(line.reason(of: "wan0") == "configuringAddress")
        try watched.expect("satisfied", "routed")
    }

    @Test func duplicateAddressIsNoAddress() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        let peer = try #require(wan.peerName)
        // Asked once a second, ten times: the other host comes between two of them.
        try lab.setParameter("net/ipv6/conf/wan0/dad_transmits", to: 10)
        let watched = try Watched(lab)
        try watched.expect("unsatisfied", "noAddress")
        try watched.expect("requiresConnection", "configuringAddress") {
            try wan.addTentativeAddress("2001:db8::2/64")
            try lab.addDefaultRoute(via: "2001:db8::1", through: wan)
        }
        try lab.runOnFarSide("ip addr add 2001:db8::2/64 dev \(peer) nodad")
        let line = try watched.expect("unsatisfied", "noAddress")
        #expect(line.interface(named: "wan0")?["addresses"] == [])
    }

    @Test func deprecatedAddressIsUsable() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["2001:db8::2/64"], gateway: "2001:db8::1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let lines = try watched.monitor.lines(markedOn: wan) {
            for _ in 0..<5 {
                try lab.ip("addr change 2001:db8::2/64 dev wan0 preferred_lft 0 valid_lft 600")
                try lab.ip("addr change 2001:db8::2/64 dev wan0 preferred_lft 300 valid_lft 600")
            }
        }
        #expect(lines.before.isEmpty, "a router that renews a prefix every few seconds is no news")
        #expect(lines.settled["status"] == "satisfied")
    }

    @Test func peerOfAPointToPointLinkIsNotOurAddress() throws {
        let lab = try NetworkNamespace()
        let tunnel = try lab.addTunnel("ppp0")
        try lab.ip("addr add 10.0.0.1 peer 10.0.0.2/32 dev ppp0")
        try lab.addDefaultRoute(through: tunnel)
        let line = try Watched(lab).expect("satisfied", "routed")
        #expect(line.interface(named: "ppp0")?["addresses"] == ["10.0.0.1/32"])
    }

    @Test func addressesWithDifferentPeersGoOneByOne() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0")
        try lab.ip("addr add 10.0.0.1 peer 10.0.0.2/32 dev wan0")
        try lab.ip("addr add 10.0.0.1 peer 10.0.0.3/32 dev wan0")
        try lab.addDefaultRoute(through: wan)
        let watched = try Watched(lab)
        let line = try watched.expect("satisfied", "routed")
        #expect(line.interface(named: "wan0")?["addresses"] == ["10.0.0.1/32", "10.0.0.1/32"])
        try lab.ip("addr del 10.0.0.1 peer 10.0.0.3/32 dev wan0")
        let fewer = try watched.monitor.next { $0.interface(named: "wan0")?["addresses"] == ["10.0.0.1/32"] }
        #expect(fewer["status"] == "satisfied")
        try watched.expect("unsatisfied", "noAddress") { try lab.ip("addr del 10.0.0.1 peer 10.0.0.2/32 dev wan0") }
    }

    @Test func routeWithoutAnySourceIsNoPath() throws {
        let lab = try NetworkNamespace(loopbackUp: true)
        let tunnel = try lab.addTunnel("tun0")
        try lab.addDefaultRoute(through: tunnel)
        try Watched(lab).expect("unsatisfied", "noAddress")
    }
}
