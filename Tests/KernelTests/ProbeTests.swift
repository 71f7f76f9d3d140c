// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What the probe tells apart, on real sockets: one uplink, and behind its gateway the host to reach.
@Suite(.needsNamespaces)
struct ProbeTests {
    private static let target = "198.51.100.7"

    /// A machine with an uplink, and the target one routing decision behind the gateway.
    private func world(resolver: String? = nil) throws -> (lab: NetworkNamespace, wan: LabInterface) {
        let lab = try NetworkNamespace(resolverConfiguration: resolver)
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.runOnFarSide(
            """
            ip address add 192.0.2.1/24 dev \(wan.peerName ?? "") && ip address add \(Self.target)/32 dev lo &&
            echo 1 >/proc/sys/net/ipv4/ip_forward && echo 0 >/proc/sys/net/ipv4/icmp_ratelimit
            """
        )
        return (lab, wan)
    }

    /// Takes the target away, and lets the gateway forward packets to it as a route of the given type says.
    private func replaceTarget(by route: String, in lab: NetworkNamespace) throws {
        try lab.runOnFarSide("ip address del \(Self.target)/32 dev lo && ip route add \(route) \(Self.target)")
    }

    /// What one run of `netpath status` says, started by way of another program if need be.
    private func status(
        in lab: NetworkNamespace,
        target: String = Self.target,
        _ options: String = "timeout: 500ms",
        by launcher: String = ""
    ) throws -> JSONValue {
        let probe = "{type: tcpProbe, targets: [\"\(target):80\"], \(options)}"
        let path = try Watched.write("backends: [{type: netlink}, \(probe)]", in: lab)
        let command = try "\(launcher) \(Watched.program) status --probe --timeout 20s --json --config \(path)"
        let line = try lab.run("\(command) || test $? -le 2")
        return try JSONValue(json: line)
    }

    /// Probes once and compares the outcome, with the error number where there is one.
    private func expect(
        _ outcome: String,
        in lab: NetworkNamespace,
        target: String = Self.target,
        _ options: String = "timeout: 500ms",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let line = try self.status(in: lab, target: target, options)
        let probe = line["probes"]?[0]
        let number = probe?["errno"]?.number.map { " \(Int($0))" } ?? ""
        #expect((probe?["outcome"]?.string ?? "none") + number == outcome, sourceLocation: sourceLocation)
        let isAnswer = outcome == "connected" || outcome == "refused"
        #expect(line["internet"]?.string == (isAnswer ? "reachable" : "unreachable"), sourceLocation: sourceLocation)
        #expect((probe?["rttMicroseconds"]?.number ?? 0 > 0) == isAnswer, sourceLocation: sourceLocation)
        #expect(line["status"] == "satisfied", "probes advise", sourceLocation: sourceLocation)
    }

    // MARK: The target

    @Test(arguments: [LabServer.Behavior.listening, .resetting])
    func whoeverAcceptsHasAnswered(behavior: LabServer.Behavior) throws {
        let (lab, _) = try self.world()
        let server = try lab.startServer(behavior, ports: [80])
        try self.expect("connected", in: lab)
        try server.nextConnection(to: 80)
    }

    @Test func whoeverAcceptsAndIsSilentHasAnsweredToo() throws {
        let (lab, _) = try self.world()
        try lab.runOnFarSide(
            """
            perl -MIO::Socket::IP -e 'my $l = IO::Socket::IP->new(LocalHost => "0.0.0.0", LocalPort => 80, \
            Listen => 8) or die "listen: $@"; exit if fork; sleep 60' >/dev/null 2>&1
            """
        )
        try self.expect("connected", in: lab)
    }

    @Test func aRefusalIsAnAnswer() throws {
        let (lab, _) = try self.world()
        try self.expect("refused", in: lab)
    }

    @Test func aFullQueueIsSilence() throws {
        let (lab, _) = try self.world()
        let server = try lab.startServer(.full, ports: [80])
        try self.expect("timedOut", in: lab)
        _ = server
    }

    // MARK: The way

    @Test(arguments: [("blackhole", "timedOut"), ("unreachable", "unreachable 113"), ("prohibit", "unreachable 113")])
    func routersSayOrDoNotSay(route: String, outcome: String) throws {
        let (lab, _) = try self.world()
        try self.replaceTarget(by: route, in: lab)
        try self.expect(outcome, in: lab)
    }

    @Test(arguments: [("blackhole", 22), ("unreachable", 113), ("prohibit", 13)])
    func ownRoutesSaySoAtOnce(route: String, number: Int) throws {
        let (lab, _) = try self.world()
        try lab.ip("route add \(route) \(Self.target)")
        try self.expect("unreachable \(number)", in: lab)
    }

    @Test func anInterfaceOfChoiceIsUsedWhateverTheRoutesSay() throws {
        let (lab, wan) = try self.world()
        let backup = try lab.addUplink("wan1", addresses: ["203.0.113.2/24"], gateway: "203.0.113.1", metric: 600)
        try lab.runOnFarSide(
            """
            ip address flush dev \(wan.peerName ?? "") && ip address add 203.0.113.1/24 dev \(backup.peerName ?? "")
            """
        )
        try self.expect("timedOut", in: lab)
        try self.expect("refused", in: lab, "timeout: 500ms, interface: wan1")
        try self.expect("unreachable 19", in: lab, "timeout: 500ms, interface: wan7")
    }

    @Test func aMarkThatIsNotGrantedIsAnErrorThatSaysWhatIsMissing() throws {
        let (lab, _) = try self.world()
        try self.expect("refused", in: lab, "timeout: 500ms, mark: 7")
        let without = "setpriv --bounding-set=-net_admin,-net_raw --inh-caps=-net_admin,-net_raw"
        let line = try self.status(in: lab, "timeout: 500ms, mark: 7", by: without)
        let backend = line["backends"]?[1]
        #expect(backend?["health"] == "unhealthy")
        #expect(backend?["error"]?.string?.contains("CAP_NET_ADMIN") == true)
        #expect(line["status"] == "satisfied")
    }

    // MARK: Names

    @Test func deadNameServers() throws {
        let silent = "198.51.100.99"
        for server in ["192.0.2.1", silent] {
            let (lab, _) = try self.world(resolver: "nameserver \(server)\noptions timeout:1 attempts:1\n")
            try lab.runOnFarSide("ip route add blackhole \(silent)")
            try self.expect("notResolved", in: lab, target: "target.example", "timeout: 1500ms")
        }
    }

    @Test func aNameWithAThousandAddressesIsTriedAFewTimes() throws {
        let (lab, _) = try self.world()
        let hosts = (0..<1000).map { "10.64.\($0 / 250).\($0 % 250 + 1) many.example\n" }.joined()
        let path = "\(lab.directory)/hosts"
        try hosts.write(toFile: path, atomically: true, encoding: .utf8)
        try lab.run("mount --bind \(path) /etc/hosts")
        #expect(try lab.run("getent ahosts many.example | wc -l").contains("3000"), "the lab's file is not read")
        try lab.runOnFarSide("ip route add blackhole 10.64.0.0/16")
        try self.expect("timedOut", in: lab, target: "many.example", "timeout: 3s, stagger: 50ms")
        try lab.runOnFarSide("ip route del blackhole 10.64.0.0/16 && ip route add local 10.64.0.0/16 dev lo")
        try self.expect("refused", in: lab, target: "many.example", "timeout: 3s")
    }

    // MARK: Asking once

    @Test func aProbeThatTakesLongerThanAllowedIsNamed() throws {
        let (lab, _) = try self.world()
        try self.replaceTarget(by: "blackhole", in: lab)
        let path = try Watched.write(
            "backends: [{type: netlink}, {type: tcpProbe, targets: [\"\(Self.target):80\"], timeout: 20s}]",
            in: lab
        )
        let output = try lab.run("\(Watched.program) status --probe --timeout 2s --config \(path) 2>&1")
        #expect(output.contains("netpath: tcpProbe: its probes"))
        #expect(output.contains("limited: its probes did not end within 2s"))
    }

    @Test func explanationsTellOfProbesThatOnlyAdvise() throws {
        let (lab, _) = try self.world()
        try self.replaceTarget(by: "unreachable", in: lab)
        let path = try Watched.write(
            "backends: [{type: netlink}, {type: tcpProbe, targets: [\"\(Self.target):80\"]}]",
            in: lab
        )
        let output = try lab.run("\(Watched.program) explain --probe --config \(path)")
        #expect(output.contains("Probe of \(Self.target):80: not reachable (No route to host) (tcpProbe)"))
    }
}
