// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation
import NetPathTestKit
import Testing

/// Rule 1: when there is a path, and what is said of it.
@Suite struct EvaluateSatisfiedTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").with("2001:db8::7/64")
    private let wlan0 = NetworkInterface.wifi("wlan0", 3).with("198.51.100.7/24")

    private func verdict(_ evidence: Evidence) throws -> Verdict {
        try #require(evidence.verdict(policy: EvaluationPolicy(), now: self.now))
    }

    @Test func bothFamiliesThroughOneInterface() throws {
        let verdict = try self.verdict(.online(self.eth0, gateway: "192.0.2.1"))
        #expect(verdict.status == .satisfied)
        #expect(verdict.reason == PathReason(.routed, "IPv4 and IPv6 through eth0"))
        #expect(verdict.families == [.ipv4, .ipv6])
        #expect(verdict.gateways == [Gateway(address: .fixture("192.0.2.1"), interfaceIndex: 2)])
        #expect(verdict.interfaces.map(\.name) == ["eth0"])
        #expect(verdict.interfaces.first?.addresses.map(\.description) == ["192.0.2.7/24", "2001:db8::7/64"])
        #expect(verdict.interfaces.first?.gateways == [.fixture("192.0.2.1")])
        #expect(verdict.interfaces.first?.metric == 100)
        #expect(verdict.interfaces.first?.table == 254)
        #expect(verdict.interfaces.first?.reason.code == .routed)
        #expect(verdict.carriedByIndex == nil)
        #expect(!verdict.isExpensive)
        #expect(verdict.reviseAt == nil)
    }

    /// Whether packets survive a lightweight tunnel cannot be told.
    @Test func anEncapsulationIsStated() throws {
        var evidence = Evidence.online(self.eth0)
        for position in evidence.referenceRoutes.indices
        where evidence.referenceRoutes[position].destination.family == .ipv6 {
            guard case .route(var route) = evidence.referenceRoutes[position].answer else { continue }
            route.encapsulation = "seg6"
            evidence.referenceRoutes[position].answer = .route(route)
        }
        let verdict = try self.verdict(evidence)
        #expect(verdict.status == .satisfied)
        #expect(verdict.reason.message.hasSuffix("eth0; the route encapsulates packets (seg6), which may drop them"))
        #expect(
            evidence.explanation(of: verdict, now: self.now).evidence.contains { $0.contains("encapsulated (seg6)") }
        )
    }

    @Test(arguments: AddressFamily.allCases)
    func oneFamilySuffices(family: AddressFamily) throws {
        let other: AddressFamily = family == .ipv4 ? .ipv6 : .ipv4
        for answer in [RouteLookupResult.noRoute, .unknown, .rejected(.blackhole), .through(.loopback())] {
            let evidence = Evidence.online(self.eth0).answering(other, answer)
            let verdict = try self.verdict(evidence)
            #expect(verdict.status == .satisfied)
            #expect(verdict.families == [family])
            #expect(verdict.reason.message == "\(family == .ipv4 ? "IPv4" : "IPv6") through eth0")
        }
    }

    @Test(arguments: [OperationalState.up, .unknown, nil])
    func theOperationalStateMayBeUnknown(state: OperationalState?) throws {
        for carrier in [true, nil] {
            let interface = self.eth0.inState(state).changed { $0.hasCarrier = carrier }
            #expect(try self.verdict(.online(interface)).status == .satisfied)
        }
    }

    static let usableSources: [(String, RouteSource)] = [
        ("plain", .from("192.0.2.7")),
        ("unknown to the backend", .unknown),
        ("deprecated", .from("192.0.2.8")),
        ("optimistic", .from("192.0.2.9")),
        ("link-local IPv4, real egress in some clouds", .from("169.254.10.1")),
        ("on another interface", .from("198.51.100.7")),
        ("on loopback", .from("203.0.113.1")),
        ("on no interface seen", .from("203.0.113.99")),
        ("IPv6", .from("2001:db8::7")),
        ("unique local IPv6", .from("fd00::7")),
    ]

    @Test(arguments: Self.usableSources)
    func usableSource(_: String, source: RouteSource) throws {
        let eth0 = self.eth0.with("192.0.2.8/24", state: .deprecated).with("169.254.10.1/16").with("fd00::7/64")
            .with("192.0.2.9/24", state: [.tentative, .optimistic])
        let evidence = Evidence.seeing(.loopback().with("203.0.113.1/32"), eth0, self.wlan0)
        let family: AddressFamily =
            if case .address(let address) = source { address.family } else { .ipv4 }
        let verdict = try self.verdict(evidence.routed(family, through: eth0, source: source))
        #expect(verdict.status == .satisfied)
    }

    @Test func sourceOnTwoInterfacesCountsWhereItIsUsable() throws {
        let clash = NetworkInterface.wired("eth1", 4).with("192.0.2.7/24", state: .duplicate)
        // Enough holders to notice an answer that depends on the order of a hash table.
        let others = (10..<30).map { NetworkInterface.wired("eth\($0)", $0).with("192.0.2.7/24", state: .duplicate) }
        let evidence = Evidence.seeing(self.eth0, clash)
            .changed { $0.interfaces? += others }
            .routed(.ipv4, through: self.eth0, source: .from("192.0.2.7"))
        #expect(try self.verdict(evidence).status == .satisfied)
    }

    @Test func gatewayOfTheOtherFamily() throws {
        let evidence = Evidence.seeing(self.eth0)
            .routed(.ipv4, through: self.eth0, gateway: "fe80::1", source: .from("192.0.2.7"))
        #expect(try self.verdict(evidence).gateways.map(\.address.description) == ["fe80::1"])
    }

    // MARK: Multipath

    @Test func multipathNeedsOneLeg() throws {
        let nextHops = [
            NextHop(interfaceIndex: 2, gateway: .fixture("192.0.2.1"), isDown: true),
            NextHop(interfaceIndex: 3, gateway: .fixture("198.51.100.1")),
        ]
        let evidence = Evidence.seeing(self.eth0, self.wlan0)
            .answering(.ipv4, .route(Route(nextHops: nextHops, source: .from("198.51.100.7"))))
        let verdict = try self.verdict(evidence)
        #expect(verdict.status == .satisfied)
        #expect(verdict.gateways.map(\.address.description) == ["198.51.100.1"])
        #expect(verdict.reason.message == "IPv4 through wlan0; half of the next hops, through eth0, lose packets")
        #expect(verdict.interfaces.map(\.name) == ["wlan0", "eth0"])
        #expect(verdict.interfaces.map(\.reason.code) == [.routed, .noCarrier])
        let explanation = evidence.explanation(of: verdict, now: self.now)
        #expect(explanation.evidence.first?.contains("through eth0 via 192.0.2.1 (loses packets)") == true)
        #expect(
            explanation.remedies == [
                "Plug the cable into eth0, or switch on what is at its other end",
                "Let the kernel skip next hops without a link, so that the others take all IPv4 packets: "
                    + "`sysctl -w net.ipv4.conf.all.ignore_routes_with_linkdown=1`; then delete the route and add it again",
            ]
        )
    }

    @Test func aLegThatTheKernelPassesOverLosesNothing() throws {
        let nextHops = [
            NextHop(interfaceIndex: 2, isDown: true, isPassedOver: true), NextHop(interfaceIndex: 3),
        ]
        let evidence = Evidence.seeing(self.eth0.withoutCarrier(), self.wlan0)
            .answering(.ipv4, .route(Route(nextHops: nextHops, source: .from("198.51.100.7"))))
        let verdict = try self.verdict(evidence)
        #expect(verdict.reason.message == "IPv4 through wlan0")
        #expect(verdict.interfaces.map(\.name) == ["wlan0"])
        let explanation = evidence.explanation(of: verdict, now: self.now)
        #expect(explanation.evidence.first?.contains("through eth0 (skipped) and through wlan0") == true)
        #expect(explanation.remedies.isEmpty)
    }

    @Test func lostLegsNameTheirFamilyWhereBothHaveAPath() throws {
        let nextHops = [2, 3, 5].map { NextHop(interfaceIndex: $0) }
        let evidence = Evidence.online(self.wlan0).changed {
            $0.interfaces = [self.eth0, self.wlan0, .wired("eth1", 5).with("2001:db8::9/64").withoutCarrier()]
        }.answering(.ipv6, .route(Route(nextHops: nextHops, source: .from("2001:db8::7"))))
        let message = try self.verdict(evidence).reason.message
        #expect(message == "IPv4 and IPv6 through wlan0 and eth0; 1 of 3 IPv6 next hops, through eth1, lose packets")
    }

    @Test func multipathListsEveryLeg() throws {
        let nextHops = [2, 3, 2].enumerated().map {
            NextHop(interfaceIndex: UInt32($1), gateway: InternetAddress(ipv4: 0xC000_0201 + UInt32($0)))
        }
        let evidence = Evidence.seeing(self.eth0, self.wlan0)
            .answering(.ipv4, .route(Route(nextHops: nextHops, source: .from("192.0.2.7"))))
        let verdict = try self.verdict(evidence)
        #expect(verdict.reason.message == "IPv4 through eth0 and wlan0")
        #expect(verdict.interfaces.map(\.name) == ["eth0", "wlan0"])
        #expect(verdict.interfaces.first?.gateways.map(\.description) == ["192.0.2.1", "192.0.2.3"])
        #expect(verdict.gateways.map(\.interfaceIndex) == [2, 3, 2])
    }

    // MARK: Alternatives

    @Test func alternativesFollowInTheKernelsOrder() throws {
        let second = NetworkInterface.wired("eth1", 9).with("192.0.2.9/24").withDefaultRoute("192.0.2.1", metric: 50)
        let metric = self.wlan0.withDefaultRoute("198.51.100.1", metric: 600)
        let six = NetworkInterface.wired("eth2", 4).with("2001:db8::9/64").withDefaultRoute("fe80::1", .ipv6, metric: 1)
        let evidence = Evidence.online(self.eth0).changed { $0.interfaces? += [second, metric, six] }
        let interfaces = try self.verdict(evidence).interfaces
        #expect(interfaces.map(\.name) == ["eth0", "eth1", "wlan0", "eth2"])
        #expect(interfaces.dropFirst().map(\.reason.code) == [.alternative, .alternative, .alternative])
        #expect(interfaces.last?.gateways.map(\.description) == ["fe80::1"])
    }

    /// A family needs a default route of its own and an address to send from.
    @Test func interfacesKnowTheirFamilies() throws {
        let both = self.wlan0.with("2001:db8::9/64").withDefaultRoute("198.51.100.1").withDefaultRoute(nil, .ipv6)
        let four = NetworkInterface.wired("eth1", 9).with("192.0.2.9/24").with("2001:db8::8/64").withDefaultRoute(nil)
        let six = NetworkInterface.wired("eth2", 4).with("2001:db8::7/64")
            .withDefaultRoute(nil).withDefaultRoute("fe80::1", .ipv6)
        let evidence = Evidence.online(self.eth0).changed { $0.interfaces? += [both, four, six] }
        let interfaces = try self.verdict(evidence).interfaces
        func names(_ family: KeyPath<PathInterface, Bool>) -> Set<String> {
            Set(interfaces.filter { $0[keyPath: family] }.map(\.name))
        }
        #expect(interfaces.count == 4)
        #expect(names(\.supportsIPv4) == ["eth0", "wlan0", "eth1"])
        #expect(names(\.supportsIPv6) == ["eth0", "wlan0", "eth2"])
    }

    @Test func whatCannotCarryThePathIsNotListed() throws {
        let quiet = Evidence.online(self.eth0)
        let loud = quiet.changed {
            $0.interfaces? += [
                .virtual("br0", 10, kind: "bridge"),
                .virtual("veth1", 11, kind: "veth").with("172.17.0.2/16"),
                .wired("eth1", 12).withoutCarrier().withDefaultRoute("192.0.2.1"),
                .wired("eth2", 13).down().withDefaultRoute("192.0.2.1"),
                .wired("eth3", 14).withDefaultRoute("192.0.2.1").changed { $0.controllerIndex = 10 },
                .wifi("wlan9", 15).changed { $0.defaultRoutes = nil },
            ]
        }
        #expect(try self.verdict(loud) == self.verdict(quiet))
    }

    // MARK: Tunnels and cost

    private let wwan0 = NetworkInterface.cellular("wwan0", 5).with("100.64.0.7/32")
    private let wg0 = NetworkInterface.tunnel("wg0", 8).with("10.8.0.2/32")

    @Test func tunnelIsThePathAndItsCarrierIsBelow() throws {
        let eth0 = self.eth0.withDefaultRoute("192.0.2.1", metric: 100)
        let wlan0 = self.wlan0.withDefaultRoute("198.51.100.1", metric: 600)
        let evidence = Evidence.seeing(.loopback(), eth0, wlan0, self.wg0)
            .routed(.ipv4, through: self.wg0, source: .from("10.8.0.2"))
        let verdict = try self.verdict(evidence)
        #expect(verdict.interfaces.map(\.name) == ["wg0", "eth0", "wlan0"])
        #expect(verdict.carriedByIndex == 2)
        #expect(verdict.gateways.isEmpty)
    }

    @Test func tunnelBoundToAnInterfaceIsCarriedByIt() throws {
        let vxlan = NetworkInterface.tunnel("vxlan7", 8, kind: "vxlan").with("10.9.0.2/24").on(self.wlan0)
        let eth0 = self.eth0.withDefaultRoute("192.0.2.1", metric: 100)
        let evidence = Evidence.seeing(eth0, self.wlan0, vxlan)
            .routed(.ipv4, through: vxlan, source: .from("10.9.0.2"))
        let verdict = try self.verdict(evidence)
        #expect(verdict.carriedByIndex == 3)
        #expect(verdict.interfaces.first?.underlyingIndex == 3)
    }

    @Test func tunnelInATunnelIsCarriedByHardware() throws {
        let inner = NetworkInterface.tunnel("gre1", 9, kind: "gre").with("10.10.0.2/32").on(self.wg0)
        let eth0 = self.eth0.withDefaultRoute("192.0.2.1", metric: 100)
        let evidence = Evidence.seeing(eth0, self.wg0, inner)
            .routed(.ipv4, through: inner, source: .from("10.10.0.2"))
        #expect(try self.verdict(evidence).carriedByIndex == 2)
    }

    @Test func otherHardwareIsNoTunnel() throws {
        let usb = NetworkInterface.tunnel("bnep0", 8, kind: "bnep").with("10.8.0.2/24").changed {
            $0.isHardware = true
            $0.operationalState = .up
        }
        let eth0 = self.eth0.withDefaultRoute("192.0.2.1")
        let evidence = Evidence.seeing(eth0, usb).routed(.ipv4, through: usb, source: .from("10.8.0.2"))
        #expect(try self.verdict(evidence).carriedByIndex == nil)
    }

    @Test func cellularIsExpensiveAlsoBelowATunnel() throws {
        #expect(try self.verdict(.online(self.wwan0)).isExpensive)
        let carrier = self.wwan0.withDefaultRoute(metric: 700)
        let under = Evidence.seeing(carrier, self.wg0).routed(.ipv4, through: self.wg0, source: .from("10.8.0.2"))
        #expect(try self.verdict(under).isExpensive)
        let eth0 = self.eth0.withDefaultRoute("192.0.2.1", metric: 100)
        #expect(try !self.verdict(under.changed { $0.interfaces?.append(eth0) }).isExpensive)
        #expect(try !self.verdict(.online(eth0).changed { $0.interfaces?.append(carrier) }).isExpensive)
    }

    @Test func evidenceSaysWhatIsExpensive() throws {
        let metered = self.eth0.changed { $0.isExpensive = true }
        #expect(try self.verdict(.online(metered)).isExpensive)
        #expect(try !self.verdict(.online(self.wwan0.changed { $0.isExpensive = false })).isExpensive)
        let carrier = metered.withDefaultRoute("192.0.2.1")
        let under = Evidence.seeing(carrier, self.wg0).routed(.ipv4, through: self.wg0, source: .from("10.8.0.2"))
        #expect(try self.verdict(under).isExpensive)
        var rule = InterfaceRule(.init(name: GlobPattern("eth*")))
        rule.isExpensive = false
        let policy = EvaluationPolicy(interfaceRules: [rule])
        let verdict = Evidence.online(metered).verdict(policy: policy, now: MonotonicTime(nanoseconds: 0))
        #expect(verdict?.isExpensive == false)
    }

    @Test func partialIsPassedOn() throws {
        #expect(try self.verdict(.online(self.eth0).changed { $0.isPartial = true }).isPartial)
        #expect(try self.verdict(.noLink.changed { $0.isPartial = true }).isPartial)
        #expect(try !self.verdict(.noLink).isPartial)
    }
}
