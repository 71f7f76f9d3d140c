// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Gateways that stop answering, which only the kernel's neighbour table tells of.
@Suite(.needsNamespaces)
struct SilentGatewayTests {
    /// An uplink with a router at its other end, of which the kernel loses patience in a second or two.
    private func uplink() throws -> (NetworkNamespace, LabInterface) {
        let lab = try NetworkNamespace()
        let uplink = try lab.addUplink(
            "wan0",
            addresses: ["192.0.2.2/24", "2001:db8::2/64"],
            gateway: "192.0.2.1"
        )
        try lab.ip("-6 route add default via 2001:db8::1 dev wan0")
        for family in ["ipv4", "ipv6"] { try lab.loseGatewaysSoon(of: "wan0", family) }
        try uplink.answerAsGateway(["192.0.2.1/24", "2001:db8::1/64"])
        return (lab, uplink)
    }

    private func answers(_ line: JSONLine) -> [String: Bool?] {
        var answers: [String: Bool?] = [:]
        for gateway in line["gateways"]?.elements ?? [] {
            answers[gateway["address"]?.string ?? ""] = .some(gateway["answers"]?.bool)
        }
        return answers
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func aGatewayThatFallsSilentAndComesBackIsTold(gateway: String) throws {
        let (lab, uplink) = try self.uplink()
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try lab.keepSending(to: "9.0.0.1", "2600::1")
        try uplink.fallSilent(gateway)
        let silent = try watched.monitor.next(timeout: .seconds(60)) { self.answers($0)[gateway] == false }
        #expect(silent["status"] == "satisfied")
        #expect(silent["reason"]?["message"]?.string?.hasSuffix("the gateway \(gateway) does not answer") == true)
        // A program that starts now sees it as soon as the kernel has asked twice.
        let explained = try lab.run(
            """
            for i in $(seq 200); do
                text=$(\(Watched.program) explain); case $text in *"does not answer"*) break;; esac
            done
            echo "$text"
            """
        )
        #expect(explained.contains("Gateway \(gateway) on wan0: does not answer"))
        let host = gateway.contains(":") ? "2600::1" : "9.0.0.1"
        let reached = try lab.run(
            """
            for i in $(seq 200); do
                text=$(\(Watched.program) reach \(host) --json); case $text in *'"gatewayAnswers":false'*) break;; esac
            done
            echo "$text"
            """
        )
        #expect(try JSONValue(json: reached)["route"]?["gatewayAnswers"] == false)
        #expect(explained.contains("Check whether the router \(gateway) is switched on"))
        try uplink.answerAsGateway([gateway + (gateway.contains(":") ? "/64" : "/24")])
        let back = try watched.monitor.next(timeout: .seconds(60)) { self.answers($0)[gateway] == true }
        #expect(back["status"] == "satisfied")
        // On a busy machine the other one may be silent for a moment.
        #expect(back["reason"]?["message"]?.string?.contains("\(gateway) does not answer") == false)
    }

    @Test func whereGatewaysAreRequiredAPathNeedsOneThatAnswers() throws {
        let (lab, uplink) = try self.uplink()
        let watched = try Watched(
            lab,
            configuration: """
                backends: [{type: netlink}]
                merge: {gateways: required}
                """
        )
        try watched.expect("satisfied", "routed")
        try lab.keepSending(to: "9.0.0.1", "2600::1")
        try uplink.fallSilent("192.0.2.1")
        // The other family still has its gateway.
        let half = try watched.monitor.next(timeout: .seconds(60)) { self.answers($0)["192.0.2.1"] == false }
        #expect(half["status"] == "satisfied")
        try watched.expect("unsatisfied", "gatewaySilent", within: .seconds(60)) {
            try uplink.fallSilent("2001:db8::1")
        }
        try watched.expect("satisfied", "routed", within: .seconds(60)) { try uplink.answerAsGateway(["192.0.2.1/24"]) }
    }

    /// Behind the next cable is another network.
    @Test func anotherCableIsAnotherGateway() throws {
        let (lab, uplink) = try self.uplink()
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try lab.keepSending(to: "9.0.0.1")
        try uplink.fallSilent("192.0.2.1")
        try watched.monitor.next(timeout: .seconds(60)) { self.answers($0)["192.0.2.1"] == false }
        try uplink.setPeerCarrier(false)
        try watched.expect("unsatisfied", "noCarrier")
        try uplink.setPeerCarrier(true)
        let line = try watched.expect("satisfied", "routed")
        #expect(self.answers(line)["192.0.2.1"] != .some(false))
    }

    /// No program sends anything when the cable is back: what failed without it would stand for ever.
    @Test func whatFailsWhileTheCableIsOutSaysNothing() throws {
        let (lab, uplink) = try self.uplink()
        let watched = try Watched(
            lab,
            configuration: """
                backends: [{type: netlink}]
                merge: {gateways: required}
                """
        )
        try watched.expect("satisfied", "routed")
        for _ in 0..<3 {
            try watched.expect("unsatisfied", "noCarrier") { try uplink.setPeerCarrier(false) }
            let entry = try lab.run(
                """
                # What is sent again too soon has the kernel ask anew.
                for i in $(seq 10); do
                    perl -MIO::Socket::IP -e '
                        my $s = IO::Socket::IP->new(Proto => "udp", PeerHost => "9.0.0.1", PeerPort => 9);
                        $s and send($s, "x", 0);'
                    for j in $(seq 60); do
                        case $(ip neigh show 192.0.2.1 dev wan0) in *FAILED*) break 2;; esac
                        sleep 0.1
                    done
                done
                ip neigh show 192.0.2.1 dev wan0
                """
            )
            #expect(entry.contains("FAILED"))
            try uplink.setPeerCarrier(true)
            let line = try watched.monitor.next { $0.reason != "noCarrier" }
            #expect(line.reason == "routed")
        }
        let lines = try watched.monitor.lines(markedOn: uplink) {}
        #expect((lines.before + [lines.settled]).allSatisfy { $0.reason == "routed" })
        // A program that starts now cannot know when the cable came back, and that no program has sent since.
        let explained = try lab.run(
            """
            for i in $(seq 100); do
                text=$(\(Watched.program) explain); case $text in *"asks it again"*) break;; esac
                sleep 0.1
            done
            echo "$text"
            """
        )
        #expect(explained.contains("did not answer when it was last asked; the next packet asks it again"))
        #expect(!explained.contains("does not answer"))
    }

    /// What is set by hand about a neighbour is no answer.
    @Test(arguments: ["permanent", "noarp"])
    func aDecreeIsNoAnswer(state: String) throws {
        let (lab, uplink) = try self.uplink()
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        try lab.keepSending(to: "9.0.0.1")
        try uplink.fallSilent("192.0.2.1")
        try watched.monitor.next(timeout: .seconds(60)) { self.answers($0)["192.0.2.1"] == false }
        try lab.ip("neigh replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev wan0 nud \(state)")
        let line = try watched.monitor.next { self.answers($0)["192.0.2.1"] == .some(nil) }
        #expect(line["reason"]?["message"]?.string?.contains("does not answer") == false)
        let fresh = try JSONValue(json: try lab.run("\(Watched.program) --json"))
        let gateway = fresh["gateways"]?.elements.first { $0["address"] == "192.0.2.1" }
        #expect(gateway != nil && gateway?["answers"]?.bool == nil)
    }

    @Test func aPortWithoutCarrierIsNamedAndProbesRunAtOnce() throws {
        let lab = try NetworkNamespace()
        let cable = try lab.addUplink("eth0")
        let machine = try lab.addUplink("vnet0")
        let bridge = try lab.addBridge("br0", ports: [cable, machine])
        try bridge.addAddress("192.0.2.2/24")
        try lab.ip("route add default via 192.0.2.1 dev br0")
        try lab.addFarAddress("192.0.2.1/24", behind: machine)
        let server = try lab.startServer(ports: [80])
        let watched = try Watched(
            lab,
            configuration: """
                backends:
                  - type: netlink
                  - {type: tcpProbe, targets: ["192.0.2.1:80"], interval: 10m}
                """
        )
        try watched.monitor.next { $0["status"] == "satisfied" && $0["internet"] == "reachable" }
        let earlier = try lab.connectionsToFarSide()
        try cable.setPeerCarrier(false)
        try server.nextConnection(to: 80)
        while try lab.connectionsToFarSide() == earlier { try server.nextConnection(to: 80) }
        let explained = try lab.run("\(Watched.program) explain; true")
        #expect(explained.contains("SATISFIED"), "the gateway may be the virtual machine")
        #expect(explained.contains("port eth0 without carrier"))
    }
}

extension LabInterface {
    /// Gives the other end addresses, so that it answers for them on the link.
    fileprivate func answerAsGateway(_ addresses: [String]) throws {
        let peer = try #require(self.peerName)
        for address in addresses {
            let options = address.contains(":") ? "nodad" : ""
            try self.namespace.runOnFarSide("ip address replace \(address) dev \(peer) \(options)")
        }
    }

    fileprivate func fallSilent(_ address: String) throws {
        let length = address.contains(":") ? 64 : 24
        try self.namespace.runOnFarSide("ip address del \(address)/\(length) dev \(try #require(self.peerName))")
    }
}
