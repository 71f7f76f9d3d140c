// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

// What several scenarios do, or what takes more than a command.
extension ScenarioStage {
    /// Waits for something that has no event to wait for.
    private func wait(for what: String, _ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw LabError.invalidRequest("\(what) did not come true") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    /// Replaces the only address of IPv6 by one that is tentative; for minutes, if that is to be seen.
    package func replaceAddress(isChecked: Bool = false) throws {
        if isChecked { try self.lab.setParameter("net/ipv6/conf/wan0/dad_transmits", to: 60) }
        try self.wan.removeAddress("2001:db8:1::2/64")
        try self.wan.addTentativeAddress("2001:db8:1::3/64")
        try self.lab.ip("-6 route replace default via 2001:db8:1::1 dev wan0")
    }

    /// Gives what the uplink has of IPv4 to an interface that is built on it.
    package func moveAddress(to interface: LabInterface) throws {
        try self.lab.ip("address flush dev wan0")
        try interface.addAddress("192.0.2.2/24")
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: interface)
    }

    /// Waits until the uplink's operational state is as wanted.
    package func awaitOperationalState(_ isWanted: (String) -> Bool) throws {
        try self.wait(for: "the operational state") {
            isWanted(try self.lab.run("cat /sys/class/net/wan0/operstate").filter { $0 != "\n" })
        }
    }

    /// Waits until no address of the uplink is checked for duplicates any more.
    package func awaitEndOfAddressCheck() throws {
        try self.wait(for: "the end of the address check") {
            let addresses = try self.lab.ip("-6 address show dev wan0")
            return !addresses.contains("tentative") || addresses.contains("dadfailed")
        }
    }

    /// Waits until the kernel routes nothing to the target any more.
    package func awaitExpiry() throws {
        try self.wait(for: "the expiry of the route") {
            (try? self.lab.ip("-6 route get fibmatch 2600::1")) == nil
        }
    }

    /// Waits until the server's kernel has dropped a SYN because the queue is full.
    package func awaitDroppedSYN() throws {
        try self.wait(for: "a dropped SYN") {
            let statistics = try self.lab.runOnFarSide("cat /proc/net/netstat").split(separator: "\n")
            let (names, values) = (statistics[0].split(separator: " "), statistics[1].split(separator: " "))
            return names.firstIndex(of: "ListenDrops").map { values[$0] != "0" } ?? true
        }
    }

    /// Lets the gateway of an uplink drop everything it should forward, while it goes on answering ARP.
    package func dropPackets(of uplink: LabInterface) throws {
        // Before the lookup of local addresses, which has the target.
        try self.lab.runOnFarSide(
            """
            ip rule add priority 10 lookup local && ip rule del priority 0 &&
            ip rule add priority 5 iif \(uplink.peerName ?? "") to \(Self.target) blackhole
            """
        )
    }

    /// Replaces both default routes by one over both uplinks, which avoids a next hop without carrier.
    package func makeMultipath() throws {
        let backup = try self.addBackup()
        for uplink in [self.wan, backup] { try uplink.ignoreRoutesWithoutCarrier() }
        try self.lab.ip("route flush default")
        try self.lab.ip("route add default nexthop via 192.0.2.1 dev wan0 nexthop via 203.0.113.1 dev wan1")
        self.nextHops.withLock { $0 = [self.wan, backup] }
    }

    /// Plugs the cables of the next hops in, or pulls them.
    package func setLegs(_ carriers: [Bool]) throws {
        for (nextHop, carrier) in zip(self.nextHops.withLock(\.self), carriers) where !carrier {
            try nextHop.setPeerCarrier(false)
        }
    }

    /// Lets the network lose large packets without a word, and proves that it does.
    package func makeMTUBlackHole() throws {
        // The server still advertises the segments of an ordinary network.
        try self.lab.runOnFarSide(
            "ip link set \(self.peer) mtu 1280 && ip route replace 192.0.2.0/24 dev \(self.peer) advmss 1460"
        )
        let lost = { try self.lab.run("cat /sys/class/net/wan0/statistics/tx_dropped") }
        let before = try lost()
        try self.connect(to: Self.target, then: #"syswrite $s, "x" x 1448"#)
        try self.wait(for: "the loss of a large packet") { try lost() != before }
    }

    /// Puts a machine between us and the internet that is every host there is, and proves it.
    package func makePortal() throws {
        // In this order the far side answers at every moment.
        try self.lab.runOnFarSide("ip route add local 0.0.0.0/0 dev lo && ip address del \(Self.target)/32 dev lo")
        try self.connect(to: "203.0.113.200", then: "1")
    }

    /// Connects to a host and does something with the connection, in perl.
    private func connect(to host: String, then action: String) throws {
        try self.lab.run(
            """
            perl -MIO::Socket::IP -e 'my $s = IO::Socket::IP->new(PeerHost => "\(host)", \
            PeerPort => \(ScenarioColumn.netlink.port)) or die "connect: $@"; \(action);'
            """
        )
    }
}
