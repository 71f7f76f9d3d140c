// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathNetlink

@Suite struct CarrierTimeTests {
    private func since(_ table: LinkTable) -> MonotonicTime? { table.reported(3)?.carrierSince }

    @Test func dumpSaysNothingOfWhenTheCarrierCame() {
        var table = LinkTable()
        table.apply(.full(3, "eth0"), now: nil)
        #expect(since(table) == nil)
        // A later event that shows the same carrier does not either.
        table.event(.full(3, "eth0"), at: 100)
        #expect(since(table) == nil)
    }

    @Test func eventTellsWhenTheCarrierCame() {
        var table = LinkTable()
        table.event(.full(3, "eth0"), at: 100)
        #expect(since(table) == .second(100), "a new interface that has a carrier at once")
        table.event(.full(3, "eth0"), at: 110)
        #expect(since(table) == .second(100))
    }

    @Test func lastFlapCounts() {
        var table = LinkTable()
        table.apply(.full(3, "eth0", hasCarrier: false), now: nil)
        #expect(since(table) == nil)
        table.event(.full(3, "eth0"), at: 100)
        table.event(.full(3, "eth0", hasCarrier: false), at: 101)
        #expect(since(table) == nil)
        table.event(.full(3, "eth0"), at: 102)
        #expect(since(table) == .second(102))
    }

    @Test func carrierCountsOnlyWhileUp() {
        var table = LinkTable()
        // Many an interface claims a carrier while it is down.
        table.event(.full(3, "eth0", flags: []), at: 100)
        #expect(since(table) == nil)
        table.event(.full(3, "eth0"), at: 101)
        #expect(since(table) == .second(101))
        table.event(.partial(3, flags: []), at: 102)
        #expect(since(table) == nil)
    }

    @Test func readingEverythingAgainKeepsTheTime() {
        var table = LinkTable()
        table.event(.full(3, "eth0"), at: 100)
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true))
        var fresh = LinkTable()
        fresh.apply(.full(3, "eth0"), now: nil)
        fresh.apply(.full(4, "eth1"), now: nil)
        fresh.inherit(from: table)
        #expect(since(fresh) == .second(100))
        #expect(fresh.reported(4)?.carrierSince == nil)
        #expect(fresh.reported(3)?.expectsConfiguration == true, "DHCP was seen before")
        #expect(fresh.reported(3)?.addresses.isEmpty == true, "addresses come from the dump alone")
    }

    @Test func carrierLostMeanwhileIsNotInherited() {
        var table = LinkTable()
        table.event(.full(3, "eth0"), at: 100)
        var fresh = LinkTable()
        fresh.apply(.full(3, "eth0", hasCarrier: false), now: nil)
        fresh.inherit(from: table)
        #expect(since(fresh) == nil)
    }

    @Test func carrierThatWasMissedHasNoTime() {
        var table = LinkTable()
        table.event(.full(3, "eth0", hasCarrier: false), at: 100)
        var fresh = LinkTable()
        fresh.apply(.full(3, "eth0"), now: nil)
        fresh.inherit(from: table)
        #expect(since(fresh) == nil)
    }

    @Test func linkLocalAddressTellsTheTimeOfAnUnseenCarrier() {
        var table = LinkTable()
        table.apply(.full(3, "eth0"), now: nil)
        table.apply(.on(3, "fe80::1/64", createdAt: 90))
        #expect(since(table) == .second(90))
        table.apply(.on(3, "192.0.2.7/24", createdAt: 95))
        table.apply(.on(3, "169.254.0.7/16", createdAt: 96))
        table.apply(.on(3, "2001:db8::7/64", createdAt: 97))
        #expect(since(table) == .second(90), "only IPv6 link-local addresses come with the carrier")
        table.remove(.on(3, "fe80::1/64", createdAt: 90))
        #expect(since(table) == nil)
    }

    @Test func addressWithALifetimeTellsWhenItCame() {
        var table = LinkTable()
        table.apply(.full(3, "eth0"), now: nil)
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true, createdAt: 95))
        table.apply(.on(3, "192.0.2.8/24", createdAt: 96))
        #expect(table.reported(3)?.addresses.map(\.dynamicSince) == [.second(95), nil])
        #expect(table.reported(3)?.addresses.map(\.addedAt) == [.second(95), .second(96)])
        // Whoever renews a lease keeps the stamp, and makes no difference.
        let before = table.reported(3)
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true, createdAt: 97))
        #expect(table.reported(3) == before)
    }

    @Test func whatWasSeenPrecedesTheStamp() {
        var table = LinkTable()
        table.event(.full(3, "eth0"), at: 100)
        table.apply(.on(3, "fe80::1/64", createdAt: 90))
        #expect(since(table) == .second(100))
    }
}
