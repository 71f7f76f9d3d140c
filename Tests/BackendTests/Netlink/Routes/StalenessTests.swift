// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Testing

@testable import NetPathNetlink

@Suite struct StalenessTests {
    // AF_INET, AF_INET6 and AF_BRIDGE.
    private static let (inet, inet6, bridge): (Int32, Int32, Int32) = (2, 10, 7)

    @Test func aRouteConcernsItsFamilyOnAllInterfaces() {
        var staleness = Staleness()
        #expect(staleness.families.isEmpty)
        #expect(!staleness.concerns(3))
        staleness.insertRoute(family: Self.inet)
        #expect(staleness.families == .ipv4)
        #expect(staleness.families.cover(AddressFamily.ipv4))
        #expect(!staleness.families.cover(AddressFamily.ipv6))
        #expect(staleness.concerns(3))
        staleness.insertRoute(family: Self.inet6)
        #expect(staleness == .all)
    }

    @Test(arguments: [nil, 0, Self.bridge])
    func aRouteOfAnotherFamilyConcernsBoth(family: Int32?) {
        var staleness = Staleness()
        staleness.insertRoute(family: family)
        #expect(staleness == .all)
    }

    @Test func anInterfaceConcernsItselfAndEveryDecision() {
        var staleness = Staleness()
        staleness.insert(interface: 3)
        #expect(staleness.families == [.ipv4, .ipv6])
        #expect(staleness.concerns(3))
        #expect(!staleness.concerns(4))
    }

    @Test func anAddressConcernsItsFamily() {
        var staleness = Staleness()
        staleness.insert(interface: 3, family: .ipv6)
        #expect(staleness.families == .ipv6)
        #expect(staleness.concerns(3))
        #expect(!staleness.concerns(4))
    }

    @Test func defaultRoutesOfTheOtherFamilyStay() {
        let (ipv4, ipv6) = (InterfaceRoute(family: .ipv4), InterfaceRoute(family: .ipv6))
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        table.classify(3, .type(.wired), hints: .hardware)
        table.setDefaultRoutes(3, [ipv4, ipv6])
        table.setDefaultRoutes(3, [], replacing: .ipv4)
        #expect(table.entries[3]?.interface.defaultRoutes == [ipv6])
        table.setDefaultRoutes(3, [ipv4], replacing: .ipv4)
        #expect(table.entries[3]?.interface.defaultRoutes == [ipv4, ipv6])
        table.setDefaultRoutes(3, [], replacing: .ipv6)
        #expect(table.entries[3]?.interface.defaultRoutes == [ipv4])
        table.setDefaultRoutes(3, [ipv6], replacing: .ipv6)
        #expect(table.entries[3]?.interface.defaultRoutes == [ipv4, ipv6])
    }
}
