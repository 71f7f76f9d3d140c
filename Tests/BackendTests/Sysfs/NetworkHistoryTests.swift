// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathSysfs

@Suite struct NetworkHistoryTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func carrierOfTheFirstPassIsOld() {
        var history = NetworkHistory(referenceDestinations: internet)
        let reading = NetworkReading.cards([.card(2, "wan0")])
        #expect(history.observe(reading, at: self.time(1)).interface(2)?.carrierSince == nil)
        #expect(history.observe(reading, at: self.time(2)).interface(2)?.carrierSince == nil)
    }

    @Test func carrierThatCameIsDated() {
        var history = NetworkHistory(referenceDestinations: internet)
        let down = NetworkReading.cards([.card(2, "wan0") { $0.hasCarrier = false }])
        let up = NetworkReading.cards([.card(2, "wan0")])
        _ = history.observe(down, at: self.time(1))
        #expect(history.observe(up, at: self.time(2)).interface(2)?.carrierSince == self.time(2))
        #expect(history.observe(up, at: self.time(3)).interface(2)?.carrierSince == self.time(2))
        #expect(history.observe(down, at: self.time(4)).interface(2)?.carrierSince == nil)
    }

    @Test func lossBetweenTwoPassesShowsInTheCounter() {
        var history = NetworkHistory(referenceDestinations: internet)
        _ = history.observe(.cards([.card(2, "wan0")]), at: self.time(1))
        let again = NetworkReading.cards([.card(2, "wan0") { $0.carrierGains = 2 }])
        #expect(history.observe(again, at: self.time(2)).interface(2)?.carrierSince == self.time(2))
    }

    @Test func newInterfaceIsDatedAndAReusedIndexIsNew() {
        var history = NetworkHistory(referenceDestinations: internet)
        _ = history.observe(.cards([]), at: self.time(1))
        #expect(history.observe(.cards([.card(2, "a")]), at: self.time(2)).interface(2)?.carrierSince == self.time(2))
        #expect(history.observe(.cards([.card(2, "b")]), at: self.time(3)).interface(2)?.carrierSince == self.time(3))
    }

    @Test func routerAdvertisementIsRememberedWhileUp() {
        var history = NetworkHistory(referenceDestinations: internet)
        var reading = NetworkReading.cards([.card(2, "wan0")])
        #expect(history.observe(reading, at: self.time(1)).interface(2)?.expectsConfiguration == nil)
        reading.dynamicAddresses = [2: [.fixture("2001:db8::7/64")]]
        #expect(history.observe(reading, at: self.time(2)).interface(2)?.expectsConfiguration == true)
        reading.dynamicAddresses = [:]
        #expect(history.observe(reading, at: self.time(3)).interface(2)?.expectsConfiguration == true)
        reading.interfaces[0].flags = 0
        #expect(history.observe(reading, at: self.time(4)).interface(2)?.expectsConfiguration == nil)
    }

    @Test func addressWithALifetimeIsDatedUnlessTheFirstPassSawIt() {
        var history = NetworkHistory(referenceDestinations: internet)
        func since(_ time: MonotonicTime, _ addresses: [String]) -> [MonotonicTime?]? {
            var reading = NetworkReading.cards([.card(2, "wan0")], ipv6: [2: addresses])
            reading.dynamicAddresses = [2: Set(addresses.map { .fixture("\($0)/64") })]
            return history.observe(reading, at: time).interface(2)?.addresses.map(\.dynamicSince)
        }
        #expect(since(self.time(1), ["2001:db8::7"]) == [nil])
        #expect(since(self.time(2), ["2001:db8::7", "2001:db8::8"]) == [nil, self.time(2)])
        #expect(since(self.time(3), ["2001:db8::7", "2001:db8::8"]) == [nil, self.time(2)])
        #expect(since(self.time(4), ["2001:db8::8"]) == [self.time(2)])
        #expect(since(self.time(5), ["2001:db8::7", "2001:db8::8"]) == [self.time(5), self.time(2)], "it came back")
    }

    @Test func waitingForAnAddressIsAPendingStep() throws {
        var history = NetworkHistory(referenceDestinations: internet)
        _ = history.observe(.cards([.card(2, "wan0") { $0.hasCarrier = false }]), at: self.time(1))
        var reading = NetworkReading.cards([.card(2, "wan0")])
        reading.dynamicAddresses = [2: [.fixture("2001:db8::7/64")]]
        let evidence = history.observe(reading, at: self.time(2))
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: self.time(2)))
        #expect(verdict.status == .requiresConnection)
        #expect(verdict.reason.code == .configuringAddress)
        #expect(verdict.isPartial)
    }

    @Test func crowdOfVirtualInterfacesIsCutAndMembersAreHidden() {
        var history = NetworkHistory(referenceDestinations: internet)
        var crowd = (10..<100).map { index in
            InterfaceReading.card(UInt32(index), "v\(index)") { $0.nature.hasDevice = false }
        }
        crowd.append(.card(200, "port") { $0.controllerIndex = 10 })
        crowd.append(.card(201, "with-address") { $0.nature.hasDevice = false })
        crowd.append(.card(1, "lo") { $0.flags |= 0x8 })
        let evidence = history.observe(.cards(crowd, ipv4: [201: ["192.0.2.2"]]), at: self.time(1))
        #expect(evidence.interfaces?.count == NetworkHistory.spareLimit + 1)
        #expect(evidence.interface(201) != nil)
        #expect(evidence.interface(200) == nil)
        #expect(evidence.interface(1) == nil)
    }

    @Test func whatARuleCanStartIsNotCutAndWhatIsIgnoredCostsNoPlace() throws {
        var history = NetworkHistory(referenceDestinations: internet)
        var crowd = (10..<100).map { index in
            InterfaceReading.card(UInt32(index), "c\(index)") { $0.nature.hasDevice = false }
        }
        for index in 200..<217 as Range<UInt32> {
            crowd.append(.card(index, "ppp\(index)") { $0.nature.hasDevice = false })
        }
        var dialling = InterfaceRule(.init(name: GlobPattern("ppp*")))
        dialling.dialsOnDemand = true
        let reading = NetworkReading.cards(crowd)
        let dialled = history.observe(reading, rules: [dialling], at: self.time(1))
        #expect(dialled.interfaces?.filter { $0.index >= 200 }.count == 17)
        #expect(dialled.isAbridged)
        var ignoring = InterfaceRule(.init(name: GlobPattern("c*")))
        ignoring.isIgnored = true
        let ignored = history.observe(reading, rules: [ignoring], at: self.time(2))
        #expect(ignored.interfaces?.filter { $0.index >= 200 }.count == NetworkHistory.spareLimit)
        #expect(ignored.isAbridged)
        #expect(!history.observe(reading, rules: [dialling, ignoring], at: self.time(3)).isAbridged)
    }

    @Test func defaultRoutesOfEachInterface() {
        var history = NetworkHistory(referenceDestinations: internet)
        var reading = NetworkReading.cards(
            [.card(2, "wan0"), .card(3, "wan1"), .card(4, "lan0")],
            ipv4: [2: ["192.0.2.2"], 3: ["203.0.113.2"]]
        )
        reading.addRoute(via: "192.0.2.1", metric: 100, through: "wan0")
        reading.addRoute(via: "203.0.113.1", metric: 600, through: "wan1")
        let evidence = history.observe(reading, at: self.time(1))
        #expect(evidence.interface(3)?.defaultRoutes?.map(\.metric) == [600])
        #expect(evidence.interface(4)?.defaultRoutes == [])
        // What refuses the first destination hides none.
        reading.addRoute("9.0.0.0", 8, through: nil)
        #expect(history.observe(reading, at: self.time(1)).interface(3)?.defaultRoutes?.map(\.metric) == [600])
        reading.routes[.ipv4] = nil
        #expect(history.observe(reading, at: self.time(2)).interface(3)?.defaultRoutes == nil)
    }
}

@Suite struct InterfaceStackTests {
    private func virtual(
        _ index: UInt32,
        _ name: String,
        kind: String?,
        link: UInt32? = nil,
        lowers: [String] = [],
        change: (inout InterfaceReading) -> Void = { _ in }
    ) -> InterfaceReading {
        .card(index, name) {
            $0.nature.hasDevice = false
            $0.nature.kind = kind
            $0.nature.linkIndex = link ?? index
            $0.nature.lowers = lowers
            change(&$0)
        }
    }

    @Test func deviceUnderAPPPoESessionIsItsParent() {
        let cards: [InterfaceReading] = [.card(3, "e0"), self.virtual(7, "ppp0", kind: "ppp")]
        let list = "Id       Address              Device\n00000100 52:54:00:12:34:56       e0\n"
        #expect(InterfaceStack(cards, sessions: PPPoESessions(parsing: list)).parent(of: 7) == 3)
        #expect(InterfaceStack(cards).parent(of: 7) == nil)
        let both = cards + [self.virtual(8, "ppp1", kind: "ppp")]
        #expect(InterfaceStack(both, sessions: PPPoESessions(parsing: list)).parent(of: 7) == nil)
    }

    @Test func bondWithoutAnyMemberThatHasACarrierHasNone() {
        var history = NetworkHistory(referenceDestinations: internet)
        func bond(_ carriers: [Bool]) -> NetworkInterface? {
            let members = carriers.enumerated().map { number, hasCarrier in
                InterfaceReading.card(UInt32(3 + number), "eth\(number)") {
                    $0.controllerIndex = 9
                    $0.hasCarrier = hasCarrier
                }
            }
            let reading = NetworkReading.cards(members + [self.virtual(9, "bond0", kind: "bond")])
            return history.observe(reading, at: MonotonicTime(nanoseconds: 1)).interface(9)
        }
        #expect(bond([])?.hasCarrier == true)
        #expect(bond([true, false])?.hasCarrier == true)
        #expect(bond([false, false])?.hasCarrier == false)
    }

    @Test func typesAreThoseBelow() {
        let stack = InterfaceStack([
            .card(2, "wlan0") { $0.nature.isWireless = true },
            .card(3, "eth0"), .card(4, "wwan0") { $0.nature.deviceType = "wwan" },
            self.virtual(5, "vlan5", kind: "vlan", link: 2, lowers: ["wlan0"]),
            self.virtual(6, "qmimux0", kind: nil, lowers: ["wwan0"]),
            self.virtual(7, "bond0", kind: "bond") { $0.activeMember = "wlan1" },
            .card(8, "wlan1") {
                $0.nature.isWireless = true
                $0.controllerIndex = 7
            },
            .card(9, "eth1") { $0.controllerIndex = 7 },
            self.virtual(10, "br0", kind: "bridge"), self.virtual(11, "veth0", kind: "veth", link: 99),
            self.virtual(12, "wg0", kind: "wireguard"), self.virtual(13, "dum", kind: nil),
            .card(14, "bnep0") { $0.nature.deviceType = "bluetooth" },
            .card(15, "mon0") { $0.nature.hardwareType = 803 },
        ])
        let expected: [UInt32: InterfaceType] = [
            2: .wifi, 3: .wired, 4: .cellular, 5: .wifi, 6: .cellular, 7: .wifi, 10: .wired, 11: .wired, 12: .other,
            13: .other, 14: .other, 15: .other,
        ]
        for (index, type) in expected { #expect(stack.type(of: index) == type, "\(index)") }
    }

    @Test func indexOfAnotherNamespaceIsNoParent() {
        let stack = InterfaceStack([
            .card(2, "eth0"), self.virtual(3, "veth0", kind: "veth", link: 2),
            self.virtual(4, "veth1", kind: "veth", link: 5), self.virtual(5, "veth2", kind: "veth", link: 4),
            self.virtual(6, "mac0", kind: "macvlan", link: 2, lowers: ["eth0"]),
            self.virtual(7, "mac1", kind: "macvlan", link: 2),
        ])
        #expect((3...7).map { stack.parent(of: $0) } == [nil, 5, 4, 2, nil])
    }

    @Test func loopOfLowersEnds() {
        let stack = InterfaceStack([
            self.virtual(2, "a", kind: "vlan", link: 3, lowers: ["b"]),
            self.virtual(3, "b", kind: "vlan", link: 2, lowers: ["a"]),
        ])
        #expect(stack.type(of: 2) == .wired)
    }
}
