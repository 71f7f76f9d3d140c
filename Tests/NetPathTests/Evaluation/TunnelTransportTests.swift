// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation
import NetPathTestKit
import Testing

/// Whether a tunnel is a path: only where something carries its own packets.
@Suite struct TunnelTransportTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").withDefaultRoute("192.0.2.1", metric: 100)
    private let wlan0 = NetworkInterface.wifi("wlan0", 3).with("198.51.100.7/24")
        .withDefaultRoute("198.51.100.1", metric: 600)
    private let tun0 = NetworkInterface.tunnel("tun0", 8, kind: "tun").with("10.8.0.2/24")
    private let endpoint = InternetAddress.fixture("203.0.113.9")

    private func verdict(_ evidence: Evidence, _ rules: InterfaceRule...) throws -> Verdict {
        let policy = EvaluationPolicy(interfaceRules: rules)
        return try #require(evidence.verdict(policy: policy, now: self.now))
    }

    /// What is seen when everything goes into `tun0`, about which something was found out.
    private func seeing(_ interfaces: [NetworkInterface], _ outer: TunnelEvidence?) -> Evidence {
        self.into(self.tun0.changed { $0.tunnelEvidence = outer }, beside: interfaces)
    }

    private func into(_ tunnel: NetworkInterface, beside interfaces: [NetworkInterface]) -> Evidence {
        Evidence.seeing().changed { $0.interfaces = (interfaces + [tunnel]).sorted { $0.index < $1.index } }
            .routed(.ipv4, through: tunnel, source: .from("10.8.0.2"))
    }

    private func through(
        _ interface: NetworkInterface,
        _ source: RouteSource = .from("192.0.2.7"),
        isDown: Bool = false
    ) -> RouteLookupResult {
        .through(interface, gateway: "192.0.2.1", source: source, isDown: isDown)
    }

    private func asked(_ basis: OuterRoute.Basis, _ answers: RouteLookupResult...) -> TunnelEvidence {
        TunnelEvidence(routes: answers.map { OuterRoute(basis, to: self.endpoint, $0) })
    }

    // MARK: The far end is known

    @Test func knownEndWithinReach() throws {
        let verdict = try self.verdict(
            self.seeing([self.eth0, self.wlan0], self.asked(.endpoint, self.through(self.eth0)))
        )
        #expect(verdict.status == .satisfied)
        #expect(verdict.reason.message == "IPv4 through tun0")
        #expect(verdict.carriedByIndex == 2)
        #expect(verdict.interfaces.map(\.name) == ["tun0", "eth0", "wlan0"])
    }

    @Test func whatCarriesATunnelIsListedThoughItCouldNotCarryThePath() throws {
        let lan = NetworkInterface.wired("lan0", 4).with("10.0.0.7/8")
        let verdict = try self.verdict(
            self.seeing([self.eth0, lan], self.asked(.endpoint, self.through(lan, .from("10.0.0.7"))))
        )
        #expect(verdict.carriedByIndex == 4)
        #expect(verdict.interfaces.map(\.name) == ["tun0", "lan0", "eth0"])
        #expect(verdict.interfaces.map(\.reason.code) == [.routed, .carriesTunnel, .alternative])
    }

    @Test func cableOut() throws {
        let dead = self.eth0.withoutCarrier()
        let verdict = try self.verdict(self.seeing([dead], self.asked(.endpoint, self.through(dead, isDown: true))))
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason == PathReason(.noCarrier, "eth0 has no carrier; nothing carries tun0"))
    }

    @Test func wifiLeft() throws {
        let left = NetworkInterface.wifi("wlan0", 3).withoutCarrier(.dormant).inState(.down)
        let evidence = self.seeing([left], self.asked(.endpoint, .noRoute))
        let verdict = try self.verdict(evidence)
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason.code == .wifiNotAssociated)
        #expect(verdict.reason.message.hasSuffix("; nothing carries tun0"))
        let explanation = evidence.explanation(of: verdict, now: self.now)
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.hasPrefix("Connect wlan0 to a Wi-Fi network") == true)
        #expect(explanation.evidence.contains("The far end of tun0, 203.0.113.9: no route"))
    }

    @Test func routeToTheEndIsGoneBesideAHealthyUplink() throws {
        let evidence = self.seeing([self.eth0], self.asked(.endpoint, .noRoute))
        let verdict = try self.verdict(evidence)
        #expect(verdict.status == .unsatisfied)
        #expect(
            verdict.reason
                == PathReason(.noRoute, "there is no route to 203.0.113.9; nothing carries tun0")
        )
        let remedy = try #require(evidence.explanation(of: verdict, now: self.now).remedies.first)
        #expect(remedy.contains("ip route add 203.0.113.9 via GATEWAY dev INTERFACE"))
        // One with a carrier, whose address is gone.
        let bare = self.seeing([.wired("eth0", 2)], self.asked(.endpoint, .noRoute))
        let advice = bare.explanation(of: try self.verdict(bare), now: self.now).remedies
        #expect(advice.count == 1 && advice[0].hasPrefix("Give eth0 an address"), "\(advice)")
        let rejected = try self.verdict(self.seeing([self.eth0], self.asked(.endpoint, .rejected(.blackhole))))
        #expect(rejected.reason.code == .routeRejects)
    }

    @Test func theTunnelIsItsOwnWay() throws {
        let looping = self.asked(.endpoint, .through(self.tun0, source: .from("10.8.0.2")))
        let verdict = try self.verdict(self.seeing([self.eth0], looping))
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason.code == .noRoute)
        #expect(verdict.reason.message.contains("the way to 203.0.113.9 leads into the tunnel itself"))
        #expect(verdict.interfaces.first { $0.name == "tun0" }?.reason.code == .noRoute, "it could not carry the path")
    }

    @Test func oneOfSeveralEndsSuffices() throws {
        let outer = self.asked(.endpoint, .noRoute, self.through(self.eth0))
        #expect(try self.verdict(self.seeing([self.eth0], outer)).status == .satisfied)
    }

    @Test func theSourceMayBeAnybodysButTheTunnels() throws {
        let lo = NetworkInterface.loopback().with("198.51.100.200/32")
        let unnumbered = NetworkInterface.wired("eth0", 2)
        let outer = self.asked(.endpoint, self.through(unnumbered, .from("198.51.100.200")))
        #expect(try self.verdict(self.seeing([lo, unnumbered], outer)).carriedByIndex == 2)
        let own = self.asked(.endpoint, self.through(unnumbered, .from("10.8.0.2")))
        let verdict = try self.verdict(self.seeing([unnumbered], own))
        #expect(verdict.reason.code == .noAddress)
        #expect(verdict.reason.message.hasPrefix("eth0 has no usable address to reach 203.0.113.9 from"))
        let none = try self.verdict(self.seeing([unnumbered], self.asked(.endpoint, self.through(unnumbered, .none))))
        #expect(none.status == .unsatisfied)
    }

    @Test func linkLocalEndsAreReachedFromLinkLocalAddresses() throws {
        let link = NetworkInterface.wired("eth0", 2).with("fe80::7/64")
        let route = OuterRoute(.endpoint, to: .fixture("fe80::1"), through: 2, self.through(link, .from("fe80::7")))
        #expect(try self.verdict(self.seeing([link], TunnelEvidence(routes: [route]))).carriedByIndex == 2)
        let global = self.asked(.endpoint, self.through(link, .from("fe80::7")))
        #expect(try self.verdict(self.seeing([link], global)).status == .unsatisfied)
    }

    @Test func aProxyOnThisMachineTellsNothing() throws {
        let local = OuterRoute(.endpoint, to: .fixture("127.0.0.1"), .through(.loopback(), source: .from("127.0.0.1")))
        let beside = OuterRoute(.defaultRoute, to: self.endpoint, through: 2, self.through(self.eth0))
        let outer = TunnelEvidence(routes: [local, beside])
        #expect(try self.verdict(self.seeing([.loopback(), self.eth0], outer)).carriedByIndex == 2)
    }

    // MARK: Tunnels in tunnels

    private let wg0 = NetworkInterface.tunnel("wg0", 9).with("10.9.0.2/32")

    @Test func tunnelInATunnel() throws {
        let outer = self.asked(.endpoint, .through(self.wg0, source: .from("10.9.0.2")))
        let below = self.wg0.changed { $0.tunnelEvidence = self.asked(.endpoint, self.through(self.eth0)) }
        #expect(try self.verdict(self.seeing([self.eth0, below], outer)).carriedByIndex == 2)
        let dead = self.eth0.withoutCarrier()
        let lost = self.wg0.changed { $0.tunnelEvidence = self.asked(.endpoint, self.through(dead, isDown: true)) }
        let verdict = try self.verdict(self.seeing([dead, lost], outer))
        #expect(verdict.reason == PathReason(.noCarrier, "eth0 has no carrier; nothing carries tun0"))
    }

    @Test func loopOfTunnelsEnds() throws {
        let outer = self.asked(.endpoint, .through(self.wg0, source: .from("10.9.0.2")))
        let back = self.wg0.changed {
            $0.tunnelEvidence = self.asked(.endpoint, .through(self.tun0, source: .from("10.8.0.2")))
        }
        #expect(try self.verdict(self.seeing([self.eth0, back], outer)).status == .unsatisfied)
    }

    @Test func whatStandsOnATunnelGoesItsWay() throws {
        let gretap = NetworkInterface.tunnel("gretap1", 9, kind: "gretap").changed {
            $0.tunnelEvidence = self.asked(.endpoint, .noRoute)
        }
        let vlan = NetworkInterface.virtual("gretap1.7", 10, kind: "vlan").with("10.8.0.2/24").on(gretap)
        let dead = self.eth0.withoutCarrier()
        #expect(try self.verdict(self.into(vlan, beside: [dead, gretap])).reason.code == .noCarrier)
    }

    /// A virtual machine may be the router, and may have the card.
    @Test func aBridgeOfTapsIsInDoubtWhateverIsBesideIt() throws {
        let doubt = "; it is unknown whether anything carries br0"
        let taps = NetworkInterface.virtual("br0", 10, kind: "bridge").with("10.8.0.2/24").changed {
            $0.foundation = .tunnels
            $0.flags.insert(.broadcast)
        }
        for beside in [self.eth0.withoutCarrier(), self.eth0.changed { ($0.addresses, $0.defaultRoutes) = ([], []) }] {
            let reason = try self.verdict(self.into(taps, beside: [beside])).reason
            #expect(reason.message.hasSuffix(doubt), "\(reason)")
        }
        let receiving = taps.changed { $0.tunnelEvidence = TunnelEvidence(isReceiving: true) }
        #expect(try self.verdict(self.into(receiving, beside: [self.eth0])).reason.message.hasSuffix(doubt))
        let hardware = taps.changed { $0.foundation = .hardware }
        #expect(try !self.verdict(self.into(hardware, beside: [self.eth0])).reason.message.hasSuffix(doubt))
    }

    /// The default route through a macvlan on a tap is none beside the tap.
    @Test func whatStandsOnATapIsNotBesideIt() throws {
        let macvlan = NetworkInterface.virtual("m0", 10, kind: "macvlan").with("10.8.0.2/24").on(self.tun0)
        let back = OuterRoute(
            .defaultRoute,
            to: self.endpoint,
            through: 10,
            .through(macvlan, source: .from("10.8.0.2"))
        )
        let tap = self.tun0.changed {
            $0.flags.insert(.broadcast)
            $0.tunnelEvidence = TunnelEvidence(routes: [back])
        }
        let verdict = try self.verdict(self.into(macvlan, beside: [tap]))
        #expect(verdict.reason.message == "IPv4 through m0; it is unknown whether anything carries m0")
    }

    // MARK: Only the mark is known

    @Test func markThatFindsNone() throws {
        let outer = self.asked(.mark, .noRoute, .noRoute)
        #expect(try self.verdict(self.seeing([self.eth0.withoutCarrier()], outer)).reason.code == .noCarrier)
        #expect(try self.verdict(self.seeing([.loopback()], outer)).reason.code == .noInterface)
    }

    @Test func markThatLeadsBackIsNotItsOwn() throws {
        let back = OuterRoute(.mark, to: self.endpoint, .through(self.tun0, source: .from("10.8.0.2")))
        let beside = OuterRoute(.defaultRoute, to: self.endpoint, through: 2, self.through(self.eth0))
        #expect(
            try self.verdict(self.seeing([self.eth0], TunnelEvidence(routes: [back, beside]))).carriedByIndex == 2
        )
    }

    // MARK: Nothing is known

    private func beside(_ routes: (NetworkInterface, metric: UInt32, isDown: Bool)...) -> TunnelEvidence {
        TunnelEvidence(
            routes: routes.map { interface, metric, isDown in
                let nextHop = NextHop(interfaceIndex: interface.index, isDown: isDown)
                let source = interface.addresses.first.map { RouteSource.address($0.prefix.address) } ?? .none
                let route = Route(nextHops: [nextHop], source: source, metric: metric, table: 254)
                return OuterRoute(.defaultRoute, to: self.endpoint, through: interface.index, .route(route))
            }
        )
    }

    @Test func bestDefaultBesideIsAlive() throws {
        let outer = self.beside((self.wlan0, 600, false), (self.eth0, 100, false))
        #expect(try self.verdict(self.seeing([self.eth0, self.wlan0], outer)).carriedByIndex == 2)
    }

    @Test func bestDefaultBesideIsDeadAndAnotherIsNot() throws {
        let dead = self.eth0.withoutCarrier()
        let evidence = self.seeing([dead, self.wlan0], self.beside((self.wlan0, 600, false), (dead, 100, true)))
        let verdict = try self.verdict(evidence)
        #expect(verdict.status == .satisfied)
        #expect(verdict.carriedByIndex == nil)
        #expect(verdict.reason.message.hasSuffix("; it is unknown whether anything carries tun0"))
        let explanation = evidence.explanation(of: verdict, now: self.now)
        #expect(explanation.remedies.count == 1)
        #expect(explanation.remedies.first?.contains("`tunnelEndpoint: [ADDRESS]`") == true)
    }

    @Test func noUplinkIsUsable() throws {
        let dead = self.eth0.withoutCarrier()
        let left = NetworkInterface.wifi("wlan0", 3).withoutCarrier()
        let verdict = try self.verdict(self.seeing([dead, left], self.beside((dead, 100, true))))
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason.code == .wifiNotAssociated)
    }

    @Test func aloneInANamespace() throws {
        let verdict = try self.verdict(self.seeing([.loopback()], TunnelEvidence()))
        #expect(verdict.status == .satisfied)
        #expect(verdict.reason.message == "IPv4 through tun0; it is unknown whether anything carries tun0")
        #expect(verdict.carriedByIndex == nil)
        // What a container was left with.
        let orphan = TunnelEvidence(formerCarriers: [2])
        #expect(try self.verdict(self.seeing([.loopback()], orphan)).reason.code == .noInterface)
        let bridge = NetworkInterface.virtual("docker0", 4, kind: "bridge").with("172.17.0.1/16")
        #expect(try self.verdict(self.seeing([bridge], TunnelEvidence())).status == .satisfied)
    }

    @Test func aContainersInterface() throws {
        let veth = NetworkInterface.virtual("eth0", 2, kind: "veth").changed { $0.isParentElsewhere = true }
        let dead = veth.with("172.17.0.2/16").withoutCarrier()
        #expect(try self.verdict(self.seeing([dead], self.beside((dead, 0, true)))).reason.code == .noCarrier)
        #expect(try self.verdict(self.seeing([dead], TunnelEvidence(formerCarriers: [2]))).reason.code == .noCarrier)
        // It may as well be the other end of another container.
        #expect(try self.verdict(self.seeing([dead], TunnelEvidence())).status == .satisfied)
        #expect(try self.verdict(self.seeing([veth.withoutCarrier()], TunnelEvidence())).status == .satisfied)
        #expect(try self.verdict(self.seeing([veth], TunnelEvidence())).status == .satisfied)
        // Beside hardware it is the other end of a container.
        let left = NetworkInterface.wifi("wlan0", 3).withoutCarrier()
        let host = veth.with("172.17.0.1/16")
        #expect(try self.verdict(self.seeing([host, left], TunnelEvidence())).status == .requiresConnection)
    }

    @Test func whatASpareInterfaceIsInSaysNothingOfTheOneThatNeedsNone() throws {
        let spare = NetworkInterface.wired("eth1", 4).neverConnected()
        let pod = NetworkInterface.virtual("ve-pod", 5, kind: "veth").withoutCarrier().changed {
            $0.isParentElsewhere = true
            $0.hasHadCarrier = false
        }
        for beside in [[spare], [pod], [spare, pod], [pod.with("10.0.0.1/28")]] {
            let verdict = try self.verdict(self.seeing(beside, TunnelEvidence()))
            #expect(verdict.reason.message == "IPv4 through tun0; it is unknown whether anything carries tun0")
        }
    }

    @Test func withoutAnyQuestionTheDefaultRoutesTell() throws {
        #expect(try self.verdict(self.seeing([self.eth0], nil)).carriedByIndex == 2)
        let left = NetworkInterface.wifi("wlan0", 3).withoutCarrier()
        #expect(try self.verdict(self.seeing([left], nil)).status == .requiresConnection)
    }

    // MARK: What is no tunnel, and what rules say

    @Test func anInterfaceWhoseLinkIsElsewhereIsAnUplink() throws {
        let moved = NetworkInterface.tunnel("vxlan7", 8, kind: "vxlan").with("10.8.0.2/24").changed {
            $0.isParentElsewhere = true
        }
        #expect(try self.verdict(self.into(moved, beside: [self.eth0.withoutCarrier()])).status == .satisfied)
    }

    @Test func lineToAProviderIsNoTunnel() throws {
        let ppp = NetworkInterface.tunnel("ppp0", 8, kind: "ppp").with("10.8.0.2/32")
        let bare = NetworkInterface.wired("eth0", 2).withoutCarrier()
        #expect(try self.verdict(self.into(ppp, beside: [bare])).status == .satisfied)
        var rule = InterfaceRule(.init(name: GlobPattern("ppp0")))
        rule.isUplink = false
        #expect(try self.verdict(self.into(ppp, beside: [bare]), rule).status == .unsatisfied)
        var named = InterfaceRule(.init(name: GlobPattern("ppp0")))
        named.tunnelEndpoints = [TunnelEndpoint(self.endpoint)]
        #expect(try self.verdict(self.into(ppp, beside: [bare]), named).status == .unsatisfied)
        // One that L2TP carries, as a backend found out.
        let virtual = ppp.changed { $0.tunnelEvidence = TunnelEvidence(formerCarriers: [2]) }
        #expect(try self.verdict(self.into(virtual, beside: [bare])).status == .unsatisfied)
    }

    /// IPsec's policies say where its packets go, whichever interface it names as its parent (IFLA_XFRM_LINK).
    @Test func anXfrmInterfaceTravelsOnWhatIsThere() throws {
        let ipsec0 = NetworkInterface.tunnel("ipsec0", 8, kind: "xfrm").with("10.8.0.2/32").on(self.eth0)
        let elsewhere = try self.verdict(
            self.into(ipsec0, beside: [NetworkInterface.wired("eth0", 2).withoutCarrier(), self.wlan0])
        )
        #expect(elsewhere.status == .satisfied)
        #expect(elsewhere.carriedByIndex == 3)
        let lost = try self.verdict(self.into(ipsec0, beside: [self.eth0.withoutCarrier()]))
        #expect(lost.reason == PathReason(.noCarrier, "eth0 has no carrier; nothing carries ipsec0"))
    }

    @Test func aRuleSaysWhatIsAnUplink() throws {
        var rule = InterfaceRule(.init(name: GlobPattern("tun0")))
        rule.isUplink = true
        let dead = self.eth0.withoutCarrier()
        #expect(try self.verdict(self.seeing([dead], self.asked(.endpoint, .noRoute)), rule).status == .satisfied)
    }

    @Test func whatIsIgnoredCarriesNothing() throws {
        var rule = InterfaceRule(.init(name: GlobPattern("eth0")))
        rule.isIgnored = true
        let verdict = try self.verdict(self.seeing([self.eth0], self.asked(.endpoint, self.through(self.eth0))), rule)
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason.code == .ignoredInterface)
    }

    @Test func theOtherFamilyGoesOnWithout() throws {
        let both = self.eth0.with("2001:db8::7/64")
        let evidence = self.seeing([both], self.asked(.endpoint, .noRoute))
            .routed(.ipv6, through: both, source: .from("2001:db8::7"))
        #expect(try self.verdict(evidence).families == [.ipv6])
    }

    // MARK: Several ways

    @Test func waysOfAMultipathRouteBelowATunnel() throws {
        let wwan0 = NetworkInterface.cellular("wwan0", 5).with("100.64.0.7/32")
        func over(_ eth0: NetworkInterface, _ rule: InterfaceRule? = nil) throws -> Verdict {
            let nextHops = [NextHop(interfaceIndex: 2), NextHop(interfaceIndex: 5)]
            let way = RouteLookupResult.route(Route(nextHops: nextHops, source: .from("192.0.2.7")))
            let evidence = self.seeing([eth0, wwan0], self.asked(.mark, way))
            return try rule.map { try self.verdict(evidence, $0) } ?? self.verdict(evidence)
        }
        let both = try over(self.eth0)
        #expect(both.carriedByIndex == nil)
        #expect(both.isExpensive, "some packets go over wwan0")
        #expect(both.interfaces.map(\.name) == ["tun0", "wwan0", "eth0"])
        #expect(both.reason.message == "IPv4 through tun0")
        var free = InterfaceRule(.init(name: GlobPattern("wwan0")))
        free.isExpensive = false
        #expect(try !over(self.eth0, free).isExpensive)
        let one = try over(self.eth0.withoutCarrier())
        #expect(one.carriedByIndex == 5)
        #expect(one.reason.message == "IPv4 through tun0; what tun0 sends through eth0 is lost")
        // Default routes beside a tunnel that have the same metric.
        let beside = try self.verdict(
            self.seeing([self.eth0, self.wlan0], self.beside((self.eth0, 0, false), (self.wlan0, 0, false)))
        )
        #expect(beside.carriedByIndex == nil)
    }

    // MARK: Tunnels beside the path

    @Test func tunnelsThatOnlySomePacketsGoInto() throws {
        let dead = self.eth0.withoutCarrier()
        let answer = RouteLookupResult.through(self.tun0, source: .from("10.8.0.2"))
        func split(_ eth0: NetworkInterface, isDown: Bool = false) -> Evidence {
            let tun0 = self.tun0.changed { $0.tunnelEvidence = self.beside((eth0, 100, isDown)) }
            return Evidence.seeing(eth0, tun0).routed(.ipv4, through: eth0, gateway: "192.0.2.1").changed {
                $0.dnsServers = [DNSServer(.fixture("10.8.0.53"))]
                $0.dnsRoutes = [answer]
            }
        }
        func host(_ evidence: Evidence) throws -> DestinationVerdict {
            let destination = InternetAddress.fixture("10.8.0.53")
            return try #require(
                evidence.verdict(on: answer, to: destination, policy: EvaluationPolicy(), now: self.now)
            )
        }
        #expect(try self.verdict(split(self.eth0)).dnsServers?.map(\.isReachable) == [true])
        #expect(try host(split(self.eth0)).carrier?.name == "eth0")
        #expect(try self.verdict(split(dead, isDown: true)).dnsServers?.map(\.isReachable) == [false])
        let lost = try host(split(dead, isDown: true))
        #expect(!lost.isRouted)
        #expect(lost.reason.message == "eth0 has no carrier; nothing carries tun0")
        let unknown = self.tun0.changed { $0.tunnelEvidence = TunnelEvidence() }
        let doubtful = try host(Evidence.seeing(self.eth0.changed { $0.defaultRoutes = [] }, unknown))
        #expect(doubtful.isRouted)
        #expect(doubtful.reason.message == "10.8.0.53 through tun0; it is unknown whether anything carries tun0")
    }

    // MARK: Cost

    @Test func costIsThatOfEveryWay() throws {
        let wwan0 = NetworkInterface.cellular("wwan0", 5).with("100.64.0.7/32").with("2001:db8::5/64")
        let eth0 = self.eth0
        let families = Evidence.seeing(eth0, wwan0).routed(.ipv4, through: eth0)
            .routed(.ipv6, through: wwan0, source: .from("2001:db8::5"))
        #expect(try self.verdict(families).isExpensive)
        let nextHops = Route(nextHops: [NextHop(interfaceIndex: 2), NextHop(interfaceIndex: 5)])
        #expect(try self.verdict(Evidence.seeing(eth0, wwan0).answering(.ipv4, .route(nextHops))).isExpensive)
        let halves = Evidence.seeing(eth0, wwan0).answering(.ipv4, .through(eth0), .through(wwan0))
        #expect(try self.verdict(halves).isExpensive)
        var rule = InterfaceRule(.init(name: GlobPattern("wwan0")))
        rule.isExpensive = false
        rule.isConstrained = true
        #expect(try !self.verdict(halves, rule).isExpensive)
        #expect(try self.verdict(halves, rule).isConstrained)
        let carried = self.seeing([eth0, wwan0], self.asked(.endpoint, self.through(wwan0, .from("100.64.0.7"))))
        #expect(try self.verdict(carried).isExpensive)
    }

    @Test func halfOfTheWaysIgnoredIsNoPath() throws {
        var rule = InterfaceRule(.init(name: GlobPattern("wlan0")))
        rule.isIgnored = true
        let nextHops = Route(nextHops: [NextHop(interfaceIndex: 2), NextHop(interfaceIndex: 3)])
        let verdict = try self.verdict(Evidence.seeing(self.eth0, self.wlan0).answering(.ipv4, .route(nextHops)), rule)
        #expect(verdict.status == .unsatisfied)
        #expect(verdict.reason.code == .ignoredInterface)
        let down = Evidence.seeing(self.eth0, self.wlan0.down()).answering(.ipv4, .route(nextHops))
        #expect(try self.verdict(down, rule).status == .satisfied, "the kernel uses no next hop that is down")
    }
}
