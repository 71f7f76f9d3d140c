// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What bridges learn, what EVPN distributes and what Wi-Fi cards say all day: the kernel tells, and wakes nothing.
@Suite(.needsNamespaces, .serialized)
struct LinkLayerStorms {
    private static let count = 5000

    /// The context switches of the program because of a storm.
    private func switches(
        of watched: Watched,
        isAtRest: Bool = false,
        during storm: () throws -> Void
    ) throws -> Int {
        if !isAtRest {
            try watched.expect("satisfied", "routed")
            try watched.monitor.waitForRest()
        }
        let before = try watched.monitor.contextSwitches()
        try storm()
        return try watched.monitor.contextSwitches() - before
    }

    /// The case in which forwarding entries count: a port of the bridge has no carrier.
    @Test func whatABridgeLearnsWakesNothing() throws {
        let lab = try NetworkNamespace()
        let cable = try lab.addUplink("wan0")
        let spare = try lab.addUplink("wan1")
        let bridge = try lab.addBridge("br0", ports: [cable, spare])
        try bridge.addAddress("192.0.2.2/24")
        try lab.addDefaultRoute(via: "192.0.2.1", through: bridge)
        try lab.addFarAddress("192.0.2.1/24", behind: cable)
        try spare.setPeerCarrier(false)
        let watched = try Watched(lab)
        let switches = try self.switches(of: watched) {
            try cable.sendFrames(fromStations: Self.count)
            let learnt = try lab.run("bridge fdb show br br0 dynamic | wc -l").filter(\.isNumber)
            #expect(Int(learnt).map { $0 >= Self.count } == true, "\(learnt) learnt, so nothing was tested")
            try lab.run("bridge fdb flush dev br0")
        }
        print("\(Self.count) forwarding entries learnt by a bridge, and forgotten: \(switches) context switches")
        #expect(switches == 0)
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
    }

    /// Beside the path, and where the path leads through the vxlan.
    @Test(arguments: [false, true])
    func whatEVPNDistributesWakesNothing(isPath: Bool) throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.ip("link add vx0 up type vxlan id 42 local 192.0.2.2 dstport 4789 nolearning")
        try lab.run("bridge fdb append 00:00:00:00:00:00 dev vx0 dst 192.0.2.77")
        if isPath {
            try lab.ip("address add 10.42.0.2/24 dev vx0")
            try lab.ip("route replace default via 10.42.0.1 dev vx0")
        } else {
            _ = try lab.addBridge("br0", ports: [LabInterface("vx0", in: lab)])
        }
        let watched = try Watched(lab)
        let switches = try self.switches(of: watched) {
            for command in ["add", "del"] {
                try lab.bridgeBatch(
                    (0..<Self.count).flatMap { number in
                        let entry = "fdb \(command) \(Self.station(number)) dev vx0"
                        return ["\(entry) dst 192.0.2.\(number % 50 + 100) self"]
                            + (isPath ? [] : ["\(entry) master \(command == "add" ? "extern_learn" : "")"])
                    }
                )
            }
        }
        print("\(Self.count) forwarding entries of EVPN, added and removed: \(switches) context switches")
        #expect(switches == 0)
        try watched.expect("unsatisfied", "noRoute") { try lab.ip("route flush default") }
    }

    /// What a scan, a change of the signal and a new key send (wireless extensions): a name and IFLA_WIRELESS.
    ///
    /// No namespace has a radio, so that a program sends it: a filter in the kernel does not look at who did.
    @Test func whatWiFiCardsSayWakesNothing() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let wireless = #"pack("SSa8", 12, 11, "")"#
        let switches = try self.switches(of: watched) {
            try watched.sendLinkMessages(Self.count, about: wan, wireless)
        }
        print("\(Self.count) events of Wi-Fi: \(switches) context switches")
        #expect(switches == 0)
        // IFLA_MTU: one that the filter passes.
        let others = try self.switches(of: watched, isAtRest: true) {
            try watched.sendLinkMessages(1, about: wan, #"pack("SSL", 8, 4, 1500)"#)
            try watched.monitor.waitForRest()
        }
        #expect(others > 0, "no such message arrived, so nothing was tested")
    }

    static func station(_ number: Int) -> String {
        let octets = [number >> 8, number & 255].map { String($0 + 256, radix: 16).suffix(2) }
        return "02:00:00:00:\(octets.joined(separator: ":"))"
    }
}

extension LabInterface {
    /// Sends a frame from each of many stations beyond, as those of a large network do in time.
    fileprivate func sendFrames(fromStations count: Int) throws {
        let peer = try #require(self.peerName)
        // Each as sendto(2) has it: struct sockaddr_ll; 0x88b5 is the EtherType for experiments.
        try self.namespace.runOnFarSide(
            """
            perl -e 'my ($index, $count) = @ARGV; socket(my $socket, 17, 3, 0) or die "socket: $!"; \
            for my $n (0 .. $count - 1) { \
            my $frame = pack("H12 H8 n n a46", "02ffffffffff", "02000000", $n, 0x88b5, ""); \
            send($socket, $frame, 0, pack("SnlSCCa8", 17, 0x88b5, $index, 1, 0, 6, "")) or die "send: $!"; }' \
            $(ip -o link show \(peer) | cut -d: -f1) \(count)
            """
        )
    }
}

extension Watched {
    /// Sends the program's event socket messages about an interface that hold its name and another attribute.
    fileprivate func sendLinkMessages(_ count: Int, about interface: LabInterface, _ attribute: String) throws {
        let index = try interface.index()
        try self.lab.run(
            """
            perl -e 'open(my $sockets, "<", "/proc/\(self.monitor.processIdentifier)/net/netlink") or die; \
            socket(my $socket, 16, 3, 0) or die; \
            my $link = pack("CxSlLL SSa8", 0, 1, \(index), 0x11043, 0, 12, 3, "\(interface.name)") . \(attribute); \
            while (<$sockets>) { my @c = split; next unless $c[1] eq "0" && $c[2] > 0 && hex($c[3]) != 0; \
            for (1 .. \(count)) { send($socket, pack("LSSLL", 16 + length($link), 16, 0, 0, 0) . $link, 0, \
            pack("SSLL", 16, 0, $c[2], 0)) or die "send: $!"; } }'
            """
        )
    }
}

extension NetworkNamespace {
    /// Runs many `bridge` commands in one process.
    fileprivate func bridgeBatch(_ lines: [String]) throws {
        let path = "\(self.directory)/bridge-batch"
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        try self.run("bridge -batch \(path)")
    }
}
