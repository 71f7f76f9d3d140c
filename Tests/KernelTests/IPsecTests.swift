// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Policies of IPsec keep packets that have a route; what connects is the judge.
@Suite(.needsNamespaces, .needsIPsec)
struct IPsecTests {
    private let lab: NetworkNamespace
    private let watched: Watched

    init() throws {
        self.lab = try NetworkNamespace()
        let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        // So that what is refused is refused by IPsec alone.
        try self.lab.ip("neighbour replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev \(wan.name)")
        self.watched = try Watched(self.lab)
        try self.watched.expect("satisfied", "routed")
    }

    /// Whether a datagram can be sent to a reference address.
    private func isSent() throws -> Bool {
        try self.lab.run("bash -c 'echo x >/dev/udp/9.0.0.1/443' 2>/dev/null && echo sent || true").contains("sent")
    }

    /// The status and reason that a fresh look gives.
    private func fresh() throws -> JSONValue {
        try JSONValue(json: try self.lab.run("\(Watched.program) status --json; true"))
    }

    @discardableResult
    private func expect(_ status: String, _ reason: String, after commands: String...) throws -> JSONLine {
        let line = try self.watched.expect(status, reason) {
            for command in commands { try self.lab.ip("xfrm \(command)") }
        }
        let fresh = try self.fresh()
        #expect(fresh["status"]?.string == status && fresh["reason"]?["code"]?.string == reason, "after \(commands)")
        return line
    }

    @Test func aPolicyThatBlocks() throws {
        let block = "policy add dir out dst 9.0.0.0/8 action block"
        let line = try self.expect("unsatisfied", "routeRejects", after: block)
        #expect(line["reason"]?["message"] == "a blocking IPsec policy refuses packets to 9.0.0.1")
        #expect(try !self.isSent())
        let reach = try self.lab.run("\(Watched.program) reach 9.0.0.1 || true")
        #expect(reach.contains("a blocking IPsec policy"))
        #expect(try self.lab.run("\(Watched.program) explain || true").contains("`ip xfrm policy`"))
        // The one with the lower number comes first.
        try self.expect("satisfied", "routed", after: "policy flush")
        try self.expect("unsatisfied", "routeRejects", after: block + " priority 9")
        try self.expect("satisfied", "routed", after: "policy add dir out dst 9.0.0.1 action allow priority 8")
        #expect(try self.isSent())
    }

    @Test func theEldestOfEqualPolicies() throws {
        try self.lab.ip("xfrm policy add dir out dst 9.0.0.0/8 action allow")
        try self.lab.ip("xfrm policy add dir out dst 9.0.0.0/16 action block")
        #expect(try self.isSent())
        try self.expect("unsatisfied", "routeRejects", after: "policy delete dir out dst 9.0.0.0/8")
        #expect(try !self.isSent())
        try self.lab.ip("xfrm policy add dir out dst 9.0.0.0/8 action allow")
        #expect(try !self.isSent())
        try self.expect("satisfied", "routed", after: "policy delete dir out dst 9.0.0.0/16")
    }

    @Test func whatNoPolicyIsFor() throws {
        guard (try? self.lab.ip("xfrm policy setdefault out accept")) != nil else {
            return print("SKIPPED: what no policy is for: this kernel has no default of policies (Linux 5.15)")
        }
        try self.expect("unsatisfied", "routeRejects", after: "policy setdefault out block")
        #expect(try !self.isSent())
        #expect(try !self.lab.run("\(Watched.program) reach 127.0.0.1 || true").contains("IPsec"))
        try self.expect("satisfied", "routed", after: "policy setdefault out accept")
    }

    @Test func anInterfaceWithoutIPsec() throws {
        try self.lab.setParameter("net/ipv4/conf/wan0/disable_xfrm", to: 1)
        let lines = try self.watched.monitor.lines(markedOn: LabInterface("wan0", in: self.lab)) {
            try self.lab.ip("xfrm policy add dir out dst 9.0.0.0/8 action block")
        }
        #expect(lines.settled["status"] == "satisfied")
        #expect(try self.isSent())
    }

    /// Without the privilege to read policies: a socket that is connected for the source address is refused.
    @Test func aPolicyThatIsNotReadShowsWhereASocketIsConnected() throws {
        // The kernel prefers the source address that is more like the destination.
        for prefix in ["2001:db8:1", "2600:0:0:2"] { try self.lab.ip("address add \(prefix)::2/64 dev wan0 nodad") }
        let route = "-6 route add default from 2600:0:0:2::/64 via 2001:db8:1::1 dev wan0"
        guard (try? self.lab.ip(route)) != nil else {
            return print("SKIPPED: a policy that is not read: this kernel has no CONFIG_IPV6_SUBTREES")
        }
        let without = "setpriv --bounding-set=-net_admin --inh-caps=-net_admin"
        func isRefused(by policy: String) throws -> Bool {
            try self.lab.ip("xfrm policy flush")
            try self.lab.ip("xfrm policy add dir out dst 2600::/16 \(policy) action block")
            let answer = try self.lab.run("\(without) \(Watched.program) reach 2600::1 || true")
            return answer.contains("a blocking IPsec policy")
        }
        #expect(try isRefused(by: ""))
        #expect(try !isRefused(by: "proto udp"), "other protocols are not refused")
    }

    @Test func aPolicyWithoutAState() throws {
        let ends = "src 192.0.2.2 dst 192.0.2.9 proto esp"
        let policy = "policy add dir out src 0.0.0.0/0 dst 0.0.0.0/0 tmpl \(ends) reqid 5 mode tunnel"
        let line = try self.expect("unsatisfied", "routeRejects", after: policy)
        #expect(line["reason"]?["message"] == "an IPsec policy without a state refuses packets")
        try self.expect("satisfied", "routed", after: "policy flush")
        // One that may be left out.
        let lines = try self.watched.monitor.lines(markedOn: LabInterface("wan0", in: self.lab)) {
            try self.lab.ip("xfrm policy add dir out dst 0.0.0.0/0 tmpl proto esp mode transport level use")
        }
        #expect(lines.settled["status"] == "satisfied")
        try self.lab.ip("xfrm policy flush")
        // A program that negotiates states makes it a step that can be started.
        let program = try self.lab.start("ip", ["xfrm", "monitor", "acquire"])
        try self.lab.run("until awk '$2 == 6 && $4 ~ /1$/' /proc/net/netlink | grep -q .; do sleep 0.05; done")
        try self.expect("requiresConnection", "dialOnDemand", after: policy)
        try program.stop()
        do {
            try self.lab.ip("xfrm state add \(ends) spi 1 reqid 5 mode tunnel enc 'ecb(cipher_null)' ''")
        } catch {
            return print("SKIPPED: a policy with a state: this kernel has no ESP (CONFIG_INET_ESP)")
        }
        try self.watched.expect("satisfied", "routed")
        try self.expect("unsatisfied", "routeRejects", after: "state flush")
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs where the kernel has IPsec, and says out loud where it has not.
    fileprivate static var needsIPsec: Self {
        let isAvailable = (try? NetworkNamespace().ip("xfrm policy")) != nil
        let reason = "this kernel has no IPsec (CONFIG_XFRM_USER)"
        if !isAvailable { print("IPsecTests are SKIPPED: \(reason)") }
        return .enabled(if: isAvailable, "\(reason)")
    }
}
