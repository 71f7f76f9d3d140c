// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathSysfs

@Suite struct RouteTableTests {
    @Test func ipv4RoutesInTheOrderOfTheTable() throws {
        let table = try #require(ipv4Table(ProcTexts.route))
        #expect(table.isComplete)
        // 0.0.0.0/8 and 192.0.2.0/24 cover no reference destination.
        #expect(table.entries.map(\.destination.length) == [1, 0, 0, 0, 0])
        #expect(table.entries.map(\.metric) == [0, 50, 100, 900, 1000])
        #expect(table.entries[1].gateway == InternetAddress("192.0.2.9"))
        #expect(table.entries.map(\.interface) == ["v0", "v0", "v0", nil, nil])
        #expect(table.entries.map(\.isRefusal) == [false, false, false, true, true])
    }

    @Test func cutIPv4TableIsKnownToBeOne() throws {
        let lines = ProcTexts.route.split(separator: "\n")
        let beginning = lines.prefix(4).joined(separator: "\n") + "\nv0\t0000"
        let table = try #require(ipv4Table(beginning, isComplete: false))
        #expect(!table.isComplete)
        #expect(table.entries.count == 2)
        // Also when the file itself ends in the middle of a line.
        #expect(ipv4Table(beginning)?.isComplete == false)
    }

    @Test func lineThatIsNoRouteMakesTheTableIncomplete() throws {
        let table = try #require(ipv4Table(ProcTexts.route + "v0\tzzzzzzzz\t0\t0\n"))
        #expect(!table.isComplete)
        #expect(table.entries.count == 5)
    }

    @Test(arguments: ["\n", "garbage\n", "Ifac\n", "\u{0}\u{0}\u{0}"])
    func somethingElseIsNoIPv4Table(_ text: String) {
        #expect(ipv4Table(text) == nil)
    }

    @Test func emptyIPv4Table() throws {
        let header = try #require(ProcTexts.route.split(separator: "\n").first)
        #expect(ipv4Table(header + "\n") == RouteTable())
        // Where IPv4 was never configured.
        #expect(ipv4Table("") == RouteTable())
        #expect(ipv4Table("", isComplete: false) == nil)
    }

    @Test func mainTableOfIPv6IsTheOneBeforeTheLocal() throws {
        let table = try #require(ipv6Table(ProcTexts.other + ProcTexts.main + ProcTexts.local))
        #expect(table.entries.map(\.interface) == ["v0", "v1"])
        #expect(table.entries.map(\.metric) == [500, 700])
        #expect(table.entries.first?.gateway == InternetAddress("2001:db8::1"))
    }

    @Test func defaultOfAnotherTableIsNotTaken() throws {
        let main = ProcTexts.line(ProcTexts.padded("fe8"), 64, metric: 256, flags: 1, "v0") + ProcTexts.null
        let table = try #require(ipv6Table(ProcTexts.other + main + ProcTexts.local))
        #expect(table.entries == [])
    }

    /// 511 and 767 are 255 modulo 256, as the local table is.
    @Test(arguments: [ProcTexts.other, ProcTexts.other + ProcTexts.other, ProcTexts.other + ProcTexts.null])
    func tablesBetweenTheMainAndTheLocalOneAreNotTaken(_ between: String) throws {
        let empty = ProcTexts.line(ProcTexts.padded("fe8"), 64, metric: 256, flags: 1, "v0") + ProcTexts.null
        let without = try #require(ipv6Table(empty + between + ProcTexts.local))
        #expect(without.entries == [])
        let table = try #require(ipv6Table(ProcTexts.other + ProcTexts.main + ProcTexts.null + ProcTexts.local))
        #expect(table.entries.map(\.interface) == ["v0", "v1"])
    }

    @Test func whichTableIsTheMainOneIsNotGuessed() {
        #expect(ipv6Table(ProcTexts.other + ProcTexts.null + ProcTexts.local) == nil)
        // Without an address nothing is sent.
        #expect(ipv6Table(ProcTexts.other + ProcTexts.null + ProcTexts.local, hasAddresses: false) == RouteTable())
        #expect(ipv6Table(ProcTexts.null + ProcTexts.null + ProcTexts.local) == RouteTable())
    }

    @Test func tablesWithoutRoutesAreTables() throws {
        let table = try #require(
            ipv6Table(ProcTexts.null + ProcTexts.null + ProcTexts.null + ProcTexts.null + ProcTexts.local)
        )
        #expect(table.entries == [])
    }

    @Test func kernelWithOneTable() throws {
        #expect(try #require(ipv6Table(ProcTexts.main)).entries.count == 2)
        #expect(ipv6Table("") == RouteTable())
    }

    @Test func advertisedAndRejectingRoutes() throws {
        let lines =
            ProcTexts.line(ProcTexts.padded("2"), 3, gateway: ProcTexts.gateway, metric: 1024, flags: 0x0045_0003, "v0")
            + ProcTexts.line(ProcTexts.padded(""), 0, metric: 700, flags: 0x0020_0200, "lo")
        let table = try #require(ipv6Table(lines + ProcTexts.local))
        #expect(table.entries.map(\.isAdvertised) == [true, false])
        #expect(table.entries.map(\.isRefusal) == [false, true])
        #expect(table.entries.map(\.interface) == ["v0", nil])
    }

    @Test func partOfTheIPv6TableIsNone() {
        let text = ProcTexts.main + ProcTexts.local
        #expect(ipv6Table(text, isComplete: false) == nil)
        #expect(ipv6Table(String(text.dropLast())) == nil)
        #expect(ipv6Table(text + "0000\n") == nil)
    }
}
