// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import NetPathTestKit
import Testing

@testable import NetPath

/// Two families without a path: the one that is closer to one decides.
@Suite struct FamilyOutlookTests {
    /// What one family says, and what the interface that it is about brings along.
    struct Family: Sendable {
        let closeness: FamilyOutlook.Closeness
        /// The interface of the family; the index tells the families apart.
        let interface: @Sendable (AddressFamily) -> NetworkInterface
        let answer: @Sendable (NetworkInterface) -> RouteLookupResult
        let status: PathStatus
        let code: PathReason.Code

        init(
            _ closeness: FamilyOutlook.Closeness,
            _ status: PathStatus,
            _ code: PathReason.Code,
            _ interface: @escaping @Sendable (AddressFamily) -> NetworkInterface,
            _ answer: @escaping @Sendable (NetworkInterface) -> RouteLookupResult
        ) {
            self.closeness = closeness
            self.status = status
            self.code = code
            self.interface = interface
            self.answer = answer
        }
    }

    private static func wired(_ family: AddressFamily) -> NetworkInterface {
        .wired("eth\(family == .ipv4 ? 4 : 6)", family == .ipv4 ? 4 : 6)
    }

    private static func addressed(_ family: AddressFamily) -> NetworkInterface {
        self.wired(family).with(family == .ipv4 ? "192.0.2.7/24" : "2001:db8::7/64")
    }

    /// In the order of `Evaluation.md`.
    static let families: [Family] = [
        Family(
            .stepOfEgress,
            .requiresConnection,
            .authenticating,
            { Self.addressed($0).inState(.dormant) },
            { .through($0) }
        ),
        Family(.deadEgress, .unsatisfied, .noCarrier, { Self.addressed($0).withoutCarrier() }, { .through($0) }),
        Family(
            .stepElsewhere,
            .requiresConnection,
            .wifiNotAssociated,
            { .wifi("wlan\($0 == .ipv4 ? 4 : 6)", $0 == .ipv4 ? 4 : 6).withoutCarrier() },
            { _ in .noRoute }
        ),
        Family(.noSource, .unsatisfied, .noAddress, { Self.wired($0) }, { .through($0, source: .none) }),
        Family(.noRoute, .unsatisfied, .noRoute, { Self.addressed($0) }, { _ in .noRoute }),
        Family(
            .ignoredEgress,
            .unsatisfied,
            .ignoredInterface,
            { Self.addressed($0).changed { $0.name = "ignored\($0.index)" } },
            { .through($0) }
        ),
        Family(.rejected, .unsatisfied, .routeRejects, { Self.addressed($0) }, { _ in .rejected(.unreachable) }),
        Family(.nothing, .unsatisfied, .noCarrier, { Self.wired($0).withoutCarrier() }, { _ in .noRoute }),
    ]

    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static var policy: EvaluationPolicy {
        var rule = InterfaceRule(.init(name: GlobPattern("ignored*")))
        rule.isIgnored = true
        return EvaluationPolicy(interfaceRules: [rule])
    }

    private static func evidence(_ ipv4: Family, _ ipv6: Family) -> Evidence {
        let (one, other) = (ipv4.interface(.ipv4), ipv6.interface(.ipv6))
        return .seeing(.loopback(), one, other).answering(.ipv4, ipv4.answer(one)).answering(.ipv6, ipv6.answer(other))
    }

    @Test func theTableIsComplete() {
        #expect(Self.families.map(\.closeness) == FamilyOutlook.Closeness.allCases)
    }

    @Test(arguments: families.indices, families.indices)
    func theCloserFamilyDecides(_ four: Int, _ six: Int) throws {
        let (ipv4, ipv6) = (Self.families[four], Self.families[six])
        let evidence = Self.evidence(ipv4, ipv6)
        let verdict = try #require(evidence.verdict(policy: Self.policy, now: Self.now))
        let closer = ipv4.closeness.rank <= ipv6.closeness.rank ? ipv4 : ipv6
        #expect(verdict.status == closer.status)
        #expect(verdict.reason.code == closer.code)
        let assessed = AssessedEvidence(evidence, policy: Self.policy, now: Self.now)
        let outlook = assessed.outlook(assessed.findings)
        #expect(outlook.closeness == closer.closeness)
        let explanation = evidence.explanation(of: verdict, policy: Self.policy, now: Self.now)
        #expect(!explanation.remedies.isEmpty, "nobody is left without advice")
    }

    // MARK: The name of the family

    private func reason(_ evidence: Evidence) throws -> String {
        try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now)).reason.message
    }

    @Test func theFamilyIsNamedWhereTheOtherOneHasAnotherReason() throws {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").with("2001:db8::7/64")
        let unrouted = Evidence.seeing(eth0)
        #expect(try self.reason(unrouted) == "eth0 has an address but no route to the internet")
        let rejected = unrouted.answering(.ipv6, .rejected(.unreachable))
        #expect(try self.reason(rejected) == "IPv4: eth0 has an address but no route to the internet")
        let both = rejected.answering(.ipv4, .rejected(.blackhole))
        #expect(try self.reason(both) == "IPv4: a blackhole route or rule refuses packets")
        #expect(
            try self.reason(both.answering(.ipv4, .rejected(.unreachable)))
                == "an unreachable route or rule refuses packets"
        )
    }

    @Test func aFamilyThatNobodyConfiguredIsNotSpokenOf() throws {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
        let rejected = Evidence.seeing(eth0).answering(.ipv4, .rejected(.blackhole))
        #expect(try self.reason(rejected) == "a blackhole route or rule refuses packets")
        let unplugged = eth0.withoutCarrier()
        #expect(
            try self.reason(Evidence.seeing(unplugged).routed(.ipv4, through: unplugged)) == "eth0 has no carrier"
        )
    }

    @Test func aRouteBackToThisMachineRefuses() throws {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
        let evidence = Evidence.seeing(.loopback(), eth0).routed(.ipv4, through: .loopback())
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(
            verdict.reason
                == PathReason(.routeRejects, "the route to the internet leads back to this machine, to lo")
        )
        let remedies = evidence.explanation(of: verdict, now: Self.now).remedies
        #expect(remedies.last?.contains("`ip route show table all dev lo`") == true)
    }

    @Test func theCableIsTheCauseBesideARefusingRoute() throws {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").withoutCarrier()
        let evidence = Evidence.seeing(eth0).routed(.ipv4, through: eth0).answering(
            .ipv6,
            .rejected(.unreachable)
        )
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(verdict.reason == PathReason(.noCarrier, "eth0 has no carrier"))
        #expect(
            evidence.explanation(of: verdict, now: Self.now).remedies
                == ["Plug the cable into eth0, or switch on what is at its other end"]
        )
    }

    // MARK: An address and a route of different families

    @Test func aCheckedAddressWithItsRouteIsAwaitedWhateverElseArrives() throws {
        let checked = NetworkInterface.wired("w0", 2).with("2001:db8::7/64", state: .tentative)
            .withDefaultRoute("fe80::1", .ipv6)
        for interface in [checked, checked.with("192.0.2.7/24")] {
            let evidence = Evidence.seeing(interface).routed(.ipv6, through: interface, source: .from("::1"))
            let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
            #expect(verdict.status == .requiresConnection)
            #expect(verdict.reason.code == .configuringAddress)
            #expect(verdict.interfaces.map(\.reason.code) == [.configuringAddress])
        }
    }

    @Test func anAddressAndARouteOfDifferentFamiliesAreNoAlternative() throws {
        let w0 = NetworkInterface.wired("w0", 2).with("192.0.2.7/24").withDefaultRoute("fe80::1", .ipv6)
        let lost = try #require(Evidence.seeing(w0).verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(lost.interfaces.map(\.reason.code) == [.noRoute])
        let online = Evidence.online(.wired("eth0", 3).with("198.51.100.7/24"))
        let found = online.changed { $0.interfaces?.insert(w0, at: 1) }.verdict(
            policy: EvaluationPolicy(),
            now: Self.now
        )
        #expect(found?.interfaces.map(\.name) == ["eth0"])
    }
}
