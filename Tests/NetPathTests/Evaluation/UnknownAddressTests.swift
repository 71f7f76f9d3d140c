// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import NetPathTestKit
import Testing

@testable import NetPath

/// Addresses that a backend cannot know are not missing.
@Suite struct UnknownAddressTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let eth0 = Self.unknown(.wired("eth0", 2))

    private static func unknown(_ interface: NetworkInterface) -> NetworkInterface {
        var interface = interface
        interface.knowsAddresses = false
        return interface
    }

    private static func verdict(_ evidence: Evidence) -> Verdict? {
        evidence.verdict(policy: EvaluationPolicy(), now: self.now)
    }

    @Test func aRouteMakesAPath() throws {
        let seen = Evidence.seeing(.loopback(), Self.eth0)
            .routed(.ipv4, through: Self.eth0, gateway: "192.0.2.1", source: .from("192.0.2.7"))
        let verdict = try #require(Self.verdict(seen))
        #expect(verdict.status == .satisfied)
        #expect(verdict.interfaces.map(\.knowsAddresses) == [false])
    }

    @Test(arguments: [NetworkInterface.wired("eth0", 2), .wifi("wlan0", 3)])
    func withoutARouteNothingIsSaidOfAddresses(interface: NetworkInterface) throws {
        let seen = Evidence.seeing(.loopback(), Self.unknown(interface))
        let verdict = try #require(Self.verdict(seen))
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason == PathReason(.noRoute, "no route to the internet leads through \(interface.name)"))
        #expect(verdict.reviseAt == nil, "no step is pending that nobody knows of")
        let explanation = seen.explanation(of: verdict, now: Self.now)
        #expect(explanation.evidence.contains { $0.contains("addresses not known") })
        #expect(!explanation.remedies.contains { $0.contains("DHCP") })
    }

    @Test func itMayBeAnAlternative() throws {
        let eth1 = NetworkInterface.wired("eth1", 3).with("198.51.100.7/24")
        var spare = Self.eth0
        spare.defaultRoutes = [InterfaceRoute(family: .ipv4, gateway: .fixture("192.0.2.1"))]
        let seen = Evidence.seeing(.loopback(), spare, eth1)
            .routed(.ipv4, through: eth1, source: .from("198.51.100.7"))
        #expect(try #require(Self.verdict(seen)).interfaces.map(\.name) == ["eth1", "eth0"])
    }
}
