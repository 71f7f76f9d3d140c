// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct LinkTableReportTests {
    private func indices(_ table: LinkTable, including extra: [UInt32] = []) -> [UInt32] {
        table.reportable(including: extra).map(\.index)
    }

    @Test func rankFollowsEveryChange() {
        var table = LinkTable()
        // So many others that only principal interfaces are surely reported.
        for index in 100..<200 as Range<UInt32> { table.event(.full(index, "v\(index)", kind: "veth")) }
        table.event(.full(300, "x", kind: "veth"))
        #expect(!indices(table).contains(300))
        table.apply(.on(300, "192.0.2.7/24"))
        #expect(table.principals == [300])
        table.remove(.on(300, "192.0.2.7/24"))
        #expect(table.principals.isEmpty)
        table.apply(.on(300, "fe80::1/64"))
        #expect(table.principals.isEmpty)
        table.classify(300, .type(.wired), hints: .hardware)
        #expect(table.principals == [300])
        table.event(.full(300, "x", kind: "veth", flags: [], hasCarrier: false))
        #expect(table.principals == [300], "hardware matters also when it is down")
        table.event(.full(300, "x", kind: "veth", flags: [.up, .loopback]))
        #expect(table.principals.isEmpty)
        #expect(!indices(table).contains(300))
    }

    @Test func principalsAreSortedByIndex() {
        var table = LinkTable()
        for index in [7, 3, 9, 5] as [UInt32] {
            table.event(.full(index, "eth\(index)"))
            table.classify(index, .type(.wired), hints: .hardware)
        }
        #expect(table.principals == [3, 5, 7, 9])
        #expect(indices(table) == [3, 5, 7, 9])
    }

    @Test func sparePlacesGoToTheMostPromising() {
        var table = LinkTable()
        for index in 1...20 as ClosedRange<UInt32> {
            table.event(.full(index, "down\(index)", kind: "dummy", flags: [], hasCarrier: true))
        }
        #expect(indices(table) == Array(1...16))
        for index in 101...110 as ClosedRange<UInt32> {
            table.event(.full(index, "idle\(index)", kind: "tun", hasCarrier: false))
        }
        #expect(indices(table) == Array(1...6) + Array(101...110))
        for index in 201...214 as ClosedRange<UInt32> { table.event(.full(index, "up\(index)", kind: "veth")) }
        #expect(indices(table) == [101, 102] + Array(201...214))
        for index in 215...220 as ClosedRange<UInt32> { table.event(.full(index, "up\(index)", kind: "veth")) }
        #expect(indices(table) == Array(201...216))
        #expect(LinkTable.spareLimit == 16)
    }

    @Test func carrierUnknownCountsAsCarrier() {
        var table = LinkTable()
        for index in 1...16 as ClosedRange<UInt32> { table.event(.full(index, "a\(index)", hasCarrier: false)) }
        table.event(.full(50, "x", hasCarrier: nil))
        #expect(indices(table).contains(50))
        #expect(!indices(table).contains(16))
    }

    // MARK: What may not be left out

    private func rule(_ pattern: String, _ change: (inout InterfaceRule) -> Void) -> InterfaceRule {
        var rule = InterfaceRule(.init(name: GlobPattern(pattern)))
        change(&rule)
        return rule
    }

    /// So many spare interfaces that any other of them is left out.
    private func crowd(_ rules: [InterfaceRule] = []) -> LinkTable {
        var table = LinkTable(rules: rules)
        for index in 100..<200 as Range<UInt32> { table.event(.full(index, "c\(index)", kind: "veth")) }
        return table
    }

    @Test func whatARuleCanStartIsReported() {
        var table = self.crowd([self.rule("ppp*") { $0.dialsOnDemand = true }])
        table.event(.full(300, "ppp9", kind: "tun", hasCarrier: false))
        #expect(self.indices(table).contains(300))
        #expect(table.isAbridged)
        table.event(.full(300, "other", kind: "tun", hasCarrier: false))
        #expect(!self.indices(table).contains(300), "the rule is about another name")
    }

    @Test func whatIsIgnoredCostsNoPlace() {
        var table = self.crowd([self.rule("c*") { $0.isIgnored = true }])
        for index in 300..<316 as Range<UInt32> { table.event(.full(index, "v\(index)", kind: "veth")) }
        #expect(self.indices(table).filter { $0 >= 300 } == Array(300..<316))
        #expect(!table.isAbridged)
        table.apply(.on(199, "192.0.2.7/24"))
        #expect(table.principals.isEmpty, "nobody asks for its routes")
        #expect(self.indices(table, including: [199]).contains(199), "the kernel chose it")
    }

    @Test func whatHasAStepOfItsOwnIsReported() {
        var table = self.crowd()
        table.event(.full(300, "rmnet0", kind: "rmnet", hasCarrier: false))
        table.classify(300, .type(.cellular), hints: nil)
        table.event(.full(301, "macsec0", kind: "macsec") { $0.operationalState = .dormant })
        table.event(.full(302, "macvlan0", kind: "macvlan") { $0.sawRouterAdvertisement = true })
        #expect(self.indices(table).filter { $0 >= 300 } == [300, 301, 302])
    }

    @Test func tableThatLeavesNothingOutSaysSo() {
        var table = LinkTable()
        for index in 1...16 as ClosedRange<UInt32> { table.event(.full(index, "v\(index)", kind: "veth")) }
        #expect(!table.isAbridged)
        table.event(.full(17, "eth0"))
        table.classify(17, .type(.wired), hints: .hardware)
        #expect(!table.isAbridged)
        table.event(.full(18, "v18", kind: "veth", hasCarrier: false))
        #expect(table.isAbridged)
    }

    @Test func askedForAndParentsAreIncluded() {
        var table = LinkTable()
        for index in 1...40 as ClosedRange<UInt32> { table.event(.full(index, "v\(index)", kind: "veth")) }
        table.event(.full(60, "base", kind: "veth"))
        table.event(.full(70, "vlan", kind: "vlan") { $0.underlyingIndex = 60 })
        table.event(.full(80, "port", kind: "veth") { $0.controllerIndex = 1 })
        #expect(indices(table, including: [70, 80, 999]) == Array(1...16) + [60, 70, 80])
        table.apply(.on(70, "192.0.2.7/24"))
        #expect(indices(table) == Array(1...16) + [60, 70])
    }

    @Test func routesOfAnInterfaceThatIsNotAskedAnyMoreAreForgotten() {
        var table = LinkTable()
        table.event(.full(3, "tun0", kind: "tun"))
        table.apply(.on(3, "192.0.2.7/24"))
        table.setDefaultRoutes(3, [InterfaceRoute(family: .ipv4)])
        #expect(table.reported(3)?.defaultRoutes == [InterfaceRoute(family: .ipv4)])
        table.remove(.on(3, "192.0.2.7/24"))
        #expect(table.principals.isEmpty)
        #expect(table.reported(3)?.defaultRoutes == nil)
    }

    // MARK: Types of stacked interfaces

    private func stack(_ change: (inout LinkTable) -> Void) -> LinkTable {
        var table = LinkTable()
        table.event(.full(2, "eth0"))
        table.event(.full(3, "wlan0"))
        table.event(.full(4, "wwan0", hasCarrier: false))
        table.classify(2, .type(.wired), hints: .hardware)
        table.classify(3, .type(.wifi), hints: .hardware)
        table.classify(4, .type(.cellular), hints: .hardware)
        change(&table)
        return table
    }

    @Test func stackedInterfaceHasTheTypeOfItsParent() {
        let table = self.stack {
            $0.event(.full(10, "vlan", kind: "vlan") { $0.underlyingIndex = 3 })
            $0.event(.full(11, "macvlan", kind: "macvlan") { $0.underlyingIndex = 10 })
            $0.classify(10, .asLower, hints: nil)
            $0.classify(11, .asLower, hints: nil)
        }
        #expect(table.type(of: 10) == .wifi)
        #expect(table.type(of: 11) == .wifi)
        #expect(table.reported(11)?.type == .wifi)
    }

    @Test func bondHasTheTypeOfItsActiveMember() {
        var table = self.stack {
            $0.event(.full(10, "bond0", kind: "bond") { $0.bond = .init(activeMember: 3) })
            $0.classify(10, .asLower, hints: nil)
            $0.event(.full(2, "eth0") { $0.controllerIndex = 10 })
            $0.event(.full(3, "wlan0") { $0.controllerIndex = 10 })
        }
        #expect(table.type(of: 10) == .wifi)
        table.event(.full(10, "bond0", kind: "bond") { $0.bond = .init(activeMember: 2) })
        #expect(table.type(of: 10) == .wired)
        // A member that is gone cannot be the active one.
        table.event(.full(10, "bond0", kind: "bond") { $0.bond = .init(activeMember: 3) })
        table.removeLink(3)
        #expect(table.type(of: 10) == .wired)
    }

    @Test func bridgeHasTheTypeOfAPortWithCarrier() {
        var table = self.stack {
            $0.event(.full(10, "br0", kind: "bridge"))
            $0.classify(10, .asLower, hints: nil)
        }
        #expect(table.type(of: 10) == .wired, "no port yet")
        table.event(.full(4, "wwan0", hasCarrier: false) { $0.controllerIndex = 10 })
        #expect(table.type(of: 10) == .cellular)
        table.event(.full(3, "wlan0") { $0.controllerIndex = 10 })
        table.event(.full(2, "eth0", hasCarrier: false) { $0.controllerIndex = 10 })
        #expect(table.type(of: 10) == .wifi)
        table.event(.full(3, "wlan0"))
        #expect(table.type(of: 10) == .wired)
    }

    @Test func loopsAndStrangersEnd() {
        let table = self.stack {
            $0.event(.full(10, "a", kind: "macvlan") { $0.underlyingIndex = 11 })
            $0.event(.full(11, "b", kind: "macvlan") { $0.underlyingIndex = 10 })
            $0.event(.full(12, "c", kind: "macvlan") { $0.underlyingIndex = 99 })
            for index in [10, 11, 12] as [UInt32] { $0.classify(index, .asLower, hints: nil) }
        }
        #expect(table.type(of: 10) == .wired)
        #expect(table.type(of: 12) == .other)
        #expect(table.type(of: 99) == .other)
    }

    // MARK: Cost

    /// The least time that one round of events about one interface takes among many.
    private func cost(among count: UInt32) -> Duration {
        var table = LinkTable()
        for index in 1...count {
            table.event(.full(index, "v\(index)", kind: "veth"))
            table.classify(index, .type(.wired), hints: nil)
        }
        let index = count / 2
        let clock = ContinuousClock()
        return (0..<20).map { _ in
            clock.measure {
                for _ in 0..<20 {
                    table.event(.full(index, "v\(index)", kind: "veth", hasCarrier: false))
                    _ = table.reportable(including: [])
                    table.event(.full(index, "v\(index)", kind: "veth"))
                    table.apply(.on(index, "192.0.2.7/24"))
                    _ = table.reportable(including: [])
                    table.remove(.on(index, "192.0.2.7/24"))
                }
            }
        }.min() ?? .zero
    }

    @Test func oneEventCostsOneInterface() {
        // Walking 10,000 interfaces would cost a hundred times as much; the least of many rounds is steady.
        #expect(cost(among: 10_000) < cost(among: 100) * 20)
    }

    /// Bridges with addresses, each connected to the next by a pair of veths.
    private func row(of count: UInt32) -> LinkTable {
        var table = LinkTable()
        for bridge in 1...count {
            table.event(.full(bridge, "br\(bridge)", kind: "bridge"))
            table.classify(bridge, .asLower, hints: nil)
            table.apply(.on(bridge, "192.0.2.7/24"))
            // The pairs are 1002 and 1003 between the first two, 1004 and 1005, and so on.
            for (index, peer) in [(999 + 2 * bridge, 998 + 2 * bridge), (1000 + 2 * bridge, 1001 + 2 * bridge)] {
                table.event(
                    .full(index, "v\(index)", kind: "veth") {
                        ($0.underlyingIndex, $0.controllerIndex) = (peer, bridge)
                    }
                )
            }
        }
        return table
    }

    @Test func connectedBridgesHaveTheSameTunnels() {
        var table = self.row(of: 3)
        #expect(table.bridges(connectedTo: 1) == [1, 2, 3])
        #expect(table.possibleTunnels == [])
        table.event(.full(500, "vx0", kind: "vxlan") { $0.controllerIndex = 3 })
        #expect(table.possibleTunnels == [1, 2, 3])
    }

    @Test func lookingForTunnelsCostsEachBridgeOnce() {
        func cost(among count: UInt32) -> Duration {
            let table = self.row(of: count)
            let clock = ContinuousClock()
            return (0..<20).map { _ in clock.measure { _ = table.possibleTunnels } }.min() ?? .zero
        }
        // Where each bridge looks through all the others, eight times as many cost 64 times as much.
        #expect(cost(among: 200) < cost(among: 25) * 24)
    }

    /// A bridge that leads to bridges, and as many VLANs on it.
    @Test func manyVLANsHaveTheTypeOfOneBridge() {
        func cost(among count: UInt32) -> Duration {
            var table = LinkTable()
            table.event(.full(1, "br0", kind: "bridge"))
            table.classify(1, .asLower, hints: nil)
            for number in 0..<count {
                let (vlan, port, end) = (1_000 + number, 2_000 + number, 3_000 + number)
                table.event(.full(vlan, "br0.\(number)", kind: "vlan") { $0.underlyingIndex = 1 })
                table.classify(vlan, .asLower, hints: nil)
                table.apply(.on(vlan, "192.0.2.7/24"))
                for (index, peer, controller) in [(port, end, UInt32(1)), (end, port, nil)] {
                    table.event(
                        .full(index, "v\(index)", kind: "veth") {
                            ($0.underlyingIndex, $0.controllerIndex) = (peer, controller)
                        }
                    )
                    table.classify(index, .type(.wired), hints: nil)
                }
            }
            #expect(table.reportable(including: []).filter { $0.kind == "vlan" }.allSatisfy { $0.type == .wired })
            let clock = ContinuousClock()
            return (0..<20).map { _ in clock.measure { _ = table.reportable(including: []) } }.min() ?? .zero
        }
        // Where each VLAN looks through all ports of the bridge, eight times as many cost 64 times as much.
        #expect(cost(among: 400) < cost(among: 50) * 24)
    }
}

extension LinkTable {
    fileprivate func type(of index: UInt32) -> InterfaceType {
        var lowers: [UInt32: UInt32?] = [:]
        return self.type(of: index, &lowers)
    }
}
