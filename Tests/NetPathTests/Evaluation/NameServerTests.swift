// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct NameServerTests {
    private let eth = NetworkInterface.wired("eth0", 2).with("192.0.2.2/24")
    private let servers = ["192.0.2.53", "198.51.100.53", "127.0.0.1"].map { DNSServer(.fixture($0)) }

    private func judged(
        _ routes: [RouteLookupResult],
        _ change: (inout Evidence) -> Void = { _ in }
    ) throws -> NetworkPath {
        var evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
        evidence.dnsServers = self.servers
        evidence.dnsRoutes = routes
        change(&evidence)
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: evidence.observedAt)
        let report = BackendReport(
            name: "b",
            mode: .active,
            health: .healthy,
            limitations: [],
            restarts: 0,
            resynchronizations: 0
        )
        let snapshot = BackendSnapshot(report: report, evidence: evidence, verdict: verdict)
        return try #require(NetworkPath.merging([snapshot], policy: .priority))
    }

    private var routed: RouteLookupResult { .through(self.eth, source: .from("192.0.2.2")) }
    private var local: RouteLookupResult { .through(.loopback(), source: .from("127.0.0.1")) }

    @Test func eachIsJudgedByItself() throws {
        let path = try self.judged([self.routed, .noRoute, self.local])
        #expect(path.dnsServers?.map(\.isReachable) == [true, false, true])
        #expect(path.dnsServers?.map(\.address) == self.servers.map(\.address))
        #expect(path.supportsDNS)
    }

    @Test func noneThatPacketsAreSentTo() throws {
        let path = try self.judged([.noRoute, .rejected(.blackhole), .through(.loopback(), source: .none)])
        #expect(path.dnsServers?.map(\.isReachable) == [false, false, false])
        #expect(!path.supportsDNS)
        #expect(path.status == .satisfied)
    }

    @Test func theInterfaceHasToCarryThePacket() throws {
        let path = try self.judged([self.routed, self.routed, self.local]) {
            $0.interfaces = [.loopback(), self.eth.withoutCarrier()]
        }
        #expect(path.dnsServers?.map(\.isReachable) == [false, false, true])
    }

    /// Not to know is not a no.
    @Test func aBackendThatCannotAsk() throws {
        #expect(try self.judged([]).dnsServers?.map(\.isReachable) == [nil, nil, nil])
        #expect(try self.judged([]).supportsDNS)
        let path = try self.judged([.noRoute, .noRoute, .unknown])
        #expect(path.dnsServers?.map(\.isReachable) == [false, false, nil])
        #expect(path.supportsDNS)
    }

    @Test func withoutServers() throws {
        #expect(try !self.judged([]) { $0.dnsServers = [] }.supportsDNS)
        #expect(try !self.judged([]) { $0.dnsServers = nil }.supportsDNS)
        #expect(try self.judged([]) { $0.dnsServers = nil }.dnsServers == nil)
    }

    @Test func evidenceNamesThem() {
        var evidence = Evidence.online(self.eth, gateway: "192.0.2.1")
        evidence.dnsServers = self.servers
        evidence.dnsRoutes = [self.routed, .noRoute, self.local]
        let verdict = evidence.verdict(policy: EvaluationPolicy(), now: evidence.observedAt)
        let facts = evidence.explanation(of: verdict, now: evidence.observedAt).evidence
        #expect(facts.contains("Name servers: 192.0.2.53, 198.51.100.53 (not reachable), 127.0.0.1"))
    }
}
