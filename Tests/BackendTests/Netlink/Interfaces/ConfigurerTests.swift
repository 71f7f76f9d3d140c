// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Testing

@testable import NetPathNetlink

/// What is seen to give interfaces their addresses, and what only a watcher knows.
@Suite struct ConfigurerTests {
    private static let heading = "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n"

    private static func sockets(_ lines: String...) -> PacketSockets {
        PacketSockets(parsing: Self.heading + lines.joined(separator: "\n") + "\n")
    }

    private static let none = Self.sockets()
    private static let client = Self.sockets("ffff8880 3      3    0800   3     1 0      0      23456")

    /// A table with a piece of hardware that got a carrier at a second; nil for one that was there before.
    private static func table(since second: Int64?) -> LinkTable {
        var table = LinkTable()
        table.apply(.full(3, "eth0"), now: second.map { .second($0) })
        table.classify(3, .type(.wired), hints: .hardware)
        return table
    }

    /// Looks as the session does.
    private static func look(_ table: inout LinkTable, _ sockets: PacketSockets, at second: Int64) -> MonotonicTime? {
        table.setConfigurers(of: table.incomplete(at: .second(second)), by: sockets, at: .second(second))
    }

    @Test func socketsTellWhoGivesAnAddress() {
        let sockets = Self.sockets(
            "ffff8880 3      3    0800   3     1 0      0      1",
            "ffff8881 3      3    0003   4     1 0      0      2",
            "ffff8882 3      3    888e   5     1 0      0      3",
            "ffff8883 3      3    8863   6     1 0      0      4",
            "ffff8884 3      3    0003   0     1 0      0      5",
            "ffff8885 3      2    0800   7",
            "ffff8886 3      2    08zz   8     1",
            "ffff8887 3      2    0800   99999999999999999999  1",
            ""
        )
        let found = (UInt32(0)...9).map { sockets.configurer(of: $0) }
        #expect(
            found == [
                .nothing, .nothing, .nothing, .network, .network, .nothing, .session, .network, .nothing, .nothing,
            ]
        )
        #expect(PacketSockets(parsing: "") == Self.none)
    }

    @Test func nothingIsConcludedWhileClientsStart() {
        var table = Self.table(since: 100)
        #expect(Self.look(&table, Self.none, at: 100) == .second(103))
        #expect(Self.look(&table, Self.none, at: 103) == .second(105))
        #expect(table.reported(3)?.configurer == nil)
        #expect(Self.look(&table, Self.none, at: 105) == nil)
        #expect(table.reported(3)?.configurer == .nothing)
        #expect(Self.look(&table, Self.client, at: 110) == nil)
        #expect(table.reported(3)?.configurer == .network, "it began later")
        #expect(table.incomplete(at: .second(159)) == [3])
        #expect(table.incomplete(at: .second(160)).isEmpty, "no event costs a look for ever")
        table.event(.full(3, "eth0", hasCarrier: false), at: 170)
        #expect(table.reported(3)?.configurer == nil)
        table.event(.full(3, "eth0"), at: 171)
        #expect(table.incomplete(at: .second(171)) == [3])
    }

    @Test func clientThatIsSeenNoMoreMayBeAboutToSetTheAddress() {
        var table = Self.table(since: 100)
        _ = Self.look(&table, Self.client, at: 101)
        #expect(Self.look(&table, Self.none, at: 105) == .second(107))
        #expect(table.reported(3)?.configurer == .network)
        #expect(Self.look(&table, Self.none, at: 106) == .second(107), "an event in between")
        #expect(table.reported(3)?.configurer == .network)
        #expect(Self.look(&table, Self.client, at: 107) == nil)
        #expect(Self.look(&table, Self.none, at: 120) == .second(122))
        #expect(Self.look(&table, Self.none, at: 122) == nil)
        #expect(table.reported(3)?.configurer == .nothing, "it ended")
    }

    @Test func clientThatHasItsAnswerWhenTheCarrierIsSettledIsNotMissed() {
        var table = Self.table(since: 100)
        #expect(Self.look(&table, Self.none, at: 100) == .second(103))
        #expect(Self.look(&table, Self.client, at: 103) == nil)
        #expect(Self.look(&table, Self.none, at: 105) == .second(107))
        #expect(table.reported(3)?.configurer == .network)
    }

    @Test func clientTellsTheAgeOfACarrierThatNobodySaw() {
        var table = Self.table(since: nil)
        #expect(Self.look(&table, Self.client, at: 200) == nil)
        #expect(table.reported(3)?.configurer == .network)
        #expect(table.reported(3)?.carrierSince == .second(200))
        var idle = Self.table(since: nil)
        #expect(Self.look(&idle, Self.none, at: 200) == nil)
        #expect(idle.reported(3)?.configurer == .nothing)
        #expect(idle.reported(3)?.carrierSince == nil)
        #expect(idle.incomplete(at: .second(201)).isEmpty)
    }

    @Test func stampOfAnotherTimeNamespaceTellsNothing() {
        var table = Self.table(since: nil)
        table.apply(.on(3, "fe80::1/64", createdAt: 9000))
        #expect(Self.look(&table, Self.none, at: 200) == nil)
        #expect(table.reported(3)?.configurer == .nothing)
    }

    @Test func routerThatAdvertisesGivesAddresses() {
        var table = LinkTable()
        table.event(.full(3, "eth0") { $0.sawRouterAdvertisement = true })
        table.classify(3, .type(.wired), hints: .hardware)
        #expect(Self.look(&table, Self.none, at: 100) == nil)
        #expect(table.reported(3)?.configurer == .network)
    }

    @Test func onlyWhatLacksSomethingIsLookedAt() {
        var table = Self.table(since: 100)
        table.apply(.on(3, "192.0.2.7/24"))
        #expect(table.incomplete(at: .second(100)).isEmpty, "a static address")
        table.remove(.on(3, "192.0.2.7/24"))
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true))
        #expect(table.incomplete(at: .second(100)) == [3], "a leased one without its route")
        table.setDefaultRoutes(3, [InterfaceRoute(family: .ipv4)])
        #expect(table.incomplete(at: .second(100)).isEmpty)
    }

    @Test func lineOfPPPoEIsKnownByItsSession() {
        var table = Self.table(since: 100)
        let sessions = PPPoESessions(parsing: "Id Address Device\n00000100 52:54:00:12:34:56 eth0\n")
        table.event(.full(7, "ppp0", kind: "ppp", flags: [], hasCarrier: nil))
        table.setSessions(sessions)
        #expect(Self.look(&table, Self.none, at: 100) == nil)
        #expect(table.reported(3)?.configurer == .session, "it negotiates")
        table.event(.full(7, "ppp0", kind: "ppp", hasCarrier: nil))
        table.setSessions(sessions)
        #expect(Self.look(&table, Self.none, at: 101) == nil)
        #expect(table.reported(3)?.configurer == .nothing, "the address is that of the session")
        table.removeLink(7)
        table.setSessions(PPPoESessions())
        #expect(Self.look(&table, Self.none, at: 101) == nil)
        #expect(table.reported(3)?.configurer == .nothing, "pppd ended, and nothing else gives it an address")
        #expect(Self.look(&table, Self.sockets("ffff8883 3 3 8863 3 1 0 0 4"), at: 102) == nil)
        #expect(table.reported(3)?.configurer == .session)
    }

    // MARK: Memory

    @Test func authenticationsThatFailAreCounted() {
        var table = LinkTable()
        func event(_ state: OperationalState, carrier: Bool) -> Int? {
            table.event(.full(3, "wlan0", hasCarrier: carrier) { $0.operationalState = state })
            return table.reported(3)?.failedAuthentications
        }
        #expect(event(.down, carrier: false) == nil)
        #expect(event(.dormant, carrier: true) == nil)
        #expect(event(.down, carrier: false) == 1)
        #expect(event(.dormant, carrier: true) == 1)
        #expect(event(.down, carrier: false) == 2)
        #expect(event(.dormant, carrier: true) == 2)
        #expect(event(.up, carrier: true) == nil, "the right key")
        // An access point that is lost leaves the state dormant for a moment.
        #expect(event(.dormant, carrier: false) == nil)
        #expect(event(.down, carrier: false) == nil)
    }

    @Test func readingEverythingAgainForgetsNothing() {
        var table = Self.table(since: 100)
        table.setDefaultRoutes(3, [InterfaceRoute(family: .ipv4)])
        table.setDefaultRoutes(3, [])
        #expect(table.reported(3)?.hadDefaultRoute == true)
        #expect(Self.look(&table, Self.client, at: 100) == nil)
        var fresh = Self.table(since: nil)
        #expect(fresh.reported(3)?.hadDefaultRoute == nil)
        fresh.inherit(from: table)
        #expect(fresh.reported(3)?.hadDefaultRoute == true)
        #expect(fresh.reported(3)?.configurer == .network)
    }
}
