// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

@testable import NetPathSysfs

@Suite struct InterfaceReaderTests {
    private let sysfs: FakeSysfs
    private let queries = FakeQueries(["eth0": 2, "eth1": 3])

    init() throws {
        self.sysfs = try FakeSysfs()
        try self.sysfs.add("eth0", 2)
        try self.sysfs.add("eth1", 3)
    }

    private func read(_ names: [String]? = ["eth0", "eth1"]) -> (interfaces: [InterfaceReading], limitations: [String])
    {
        InterfaceReader(sysfs: self.sysfs.root, queries: self.queries, clock: SystemMonotonicClock()).read(names: names)
    }

    @Test func ordinaryInterfaces() {
        let (interfaces, limitations) = self.read()
        #expect(limitations == [])
        #expect(interfaces.map(\.name) == ["eth0", "eth1"])
        #expect(interfaces.map(\.operationalState) == [.up, .up])
        #expect(interfaces.map(\.hasCarrier) == [true, true])
        #expect(interfaces.map(\.nature.hasDevice) == [true, true])
        #expect(interfaces[0].nature.hardwareAddress == [2, 0, 0, 0, 0, 2])
    }

    @Test(arguments: [("usb", nil), ("wwan", "wwan"), (nil, nil)] as [(String?, String?)])
    func onlyModemsOfTheWWANSubsystemHaveAKind(subsystem: String?, kind: String?) throws {
        try self.sysfs.add("eth0", 2, ["uevent": "DEVTYPE=wwan\n"])
        if let subsystem {
            try FileManager.default.createSymbolicLink(
                atPath: "\(self.sysfs.path("eth0"))/device/subsystem",
                withDestinationPath: "../../../class/\(subsystem)"
            )
        }
        let modem = self.read().interfaces[0]
        #expect(modem.nature.deviceType == "wwan")
        // As netlink has it (IFLA_INFO_KIND).
        #expect(modem.nature.kind == kind)
    }

    @Test func whatIsKnownOfSlowSysfsStaysTheSame() throws {
        let names = (0..<60).map { "if\($0)" }
        for (index, name) in names.enumerated() {
            try self.sysfs.add(name, index + 2)
            self.queries.cards[name] = FakeQueries.Card(index: UInt32(index + 2))
        }
        let clock = ManualClock()
        let reader = InterfaceReader(sysfs: self.sysfs.root, queries: self.queries, clock: clock)
        func known() -> (count: Int, isLimited: Bool) {
            let (interfaces, limitations) = reader.read(names: names)
            #expect(interfaces.count == 60)
            return (interfaces.count { $0.operationalState != nil }, limitations.contains { $0.contains("is slow") })
        }
        #expect(known() == (60, false))
        // Four questions for each interface, so that the time is over after half of them.
        self.queries.onQuestion = { _ in clock.advance(by: .milliseconds(2)) }
        #expect(known().isLimited)
        let settled = known()
        #expect((16..<60).contains(settled.count) && settled.isLimited)
        // Somewhat faster or slower, the outcome does not change.
        for step in 1...5 {
            self.queries.onQuestion = { _ in clock.advance(by: .microseconds(200 * step)) }
            #expect(known() == settled)
        }
        self.queries.onQuestion = { _ in }
        clock.advance(by: .seconds(60))
        #expect(known() == (60, false))
    }

    @Test(arguments: [
        ("", 1), ("\u{0}\u{1}\u{FF}", 1), ("\n", 3), ("up", 1), ("1 1", 1), ("-1", 1), ("x", 1 << 20), ("1", 1 << 20),
        ("\n", 1 << 20),
    ])
    func spoiledFilesTellNothing(_ part: String, count: Int) throws {
        let text = String(repeating: part, count: count)
        let files = ["operstate", "carrier", "carrier_up_count", "uevent", "iflink", "address"]
        try self.sysfs.add("eth0", 2, Dictionary(uniqueKeysWithValues: files.map { ($0, text) }))
        let (interfaces, limitations) = self.read()
        #expect(limitations == [])
        // The link and IFF_RUNNING are asked of the kernel in another way.
        #expect(interfaces.map(\.hasCarrier) == [true, true])
        #expect(interfaces[1].operationalState == .up)
    }

    @Test func indexThatCannotBeReadIsNotBelieved() throws {
        try self.sysfs.add("eth0", 2, ["ifindex": "", "operstate": "down\n", "carrier": "0\n"])
        let (interfaces, limitations) = self.read()
        #expect(limitations == [])
        #expect(interfaces[0].operationalState == nil)
        #expect(interfaces[0].hasCarrier == true)
    }

    @Test(arguments: ["ifindex", "operstate", "carrier", "carrier_up_count", "uevent", "address"])
    func pipeNeverBlocks(_ file: String) throws {
        try self.sysfs.makeFIFO("eth0/\(file)")
        let interfaces = self.read().interfaces
        #expect(interfaces.map(\.name) == ["eth0", "eth1"])
        #expect(interfaces.map(\.hasCarrier) == [true, true])
    }

    @Test func missingFilesAreAskedOfTheKernel() throws {
        try self.sysfs.remove("eth0")
        try self.sysfs.add("eth0", 2, ["operstate": nil, "carrier": nil])
        self.queries.cards["eth0"]?.flags = 0x1003
        self.queries.cards["eth0"]?.hasLink = false
        #expect(self.read().interfaces.map(\.operationalState) == [.down, .up])
        self.queries.cards["eth0"]?.hasLink = true
        #expect(self.read().interfaces.map(\.operationalState) == [.dormant, .up])
    }

    @Test func interfaceThatIsDownHasNoCarrier() throws {
        self.queries.cards["eth0"]?.flags = 0x1002
        #expect(self.read().interfaces.map(\.hasCarrier) == [false, true])
    }

    // MARK: Another namespace's sysfs

    @Test(arguments: [["eth0": 2, "eth1": 4], ["eth0": 2], ["eth0": 2, "eth1": 3, "eth2": 4]] as [[String: UInt32]])
    func foreignSysfsIsNotBelieved(_ own: [String: UInt32]) throws {
        try self.sysfs.add("eth0", 2, ["operstate": "down\n", "carrier": "0\n"])
        self.queries.cards = own.mapValues { FakeQueries.Card(index: $0) }
        let (interfaces, limitations) = self.read(own.keys.sorted())
        #expect(limitations.count == 1)
        #expect(limitations.first?.contains("another network namespace") == true)
        #expect(interfaces.map(\.name) == own.keys.sorted())
        #expect(interfaces.allSatisfy { $0.hasCarrier == true && $0.operationalState == nil })
        #expect(interfaces.allSatisfy { $0.nature.hasDevice == nil })
    }

    @Test func sameNamesAndIndicesButOtherAddresses() throws {
        try self.sysfs.add("eth1", 3, ["address": "02:00:00:00:00:99\n", "operstate": "down\n"])
        let (interfaces, limitations) = self.read()
        #expect(limitations.first?.contains("another network namespace") == true)
        #expect(interfaces.map(\.name) == ["eth0", "eth1"])
        #expect(interfaces.map(\.operationalState) == [nil, nil])
    }

    @Test func missingSysfsIsSaid() throws {
        let reader = InterfaceReader(sysfs: "/nonexistent", queries: self.queries, clock: SystemMonotonicClock())
        let (interfaces, limitations) = reader.read(names: ["eth0"])
        #expect(interfaces.map(\.name) == ["eth0"])
        #expect(limitations.first?.contains("there is no /nonexistent/class/net") == true)
    }

    @Test func plainFileAmongTheInterfaces() throws {
        try "bond0\n".write(toFile: self.sysfs.path("bonding_masters"), atomically: false, encoding: .utf8)
        #expect(self.read().limitations == [])
        #expect(self.read(nil).interfaces.map(\.name) == ["eth0", "eth1"])
    }

    // MARK: Races

    @Test func interfaceThatVanishesAtAnyMoment() throws {
        for moment in 0..<20 {
            try self.sysfs.add("eth0", 2)
            self.queries.cards["eth0"] = FakeQueries.Card(index: 2)
            var questions = 0
            self.queries.onQuestion = { [sysfs, queries] name in
                guard name == "eth0" else { return }
                questions += 1
                guard questions == moment + 1 else { return }
                queries.cards["eth0"] = nil
                try? sysfs.remove("eth0")
            }
            let (interfaces, limitations) = self.read()
            #expect(limitations == [], "at question \(moment)")
            #expect(interfaces.last?.name == "eth1")
            self.queries.onQuestion = { _ in }
        }
    }

    @Test func interfaceThatIsReplacedWhileItIsRead() throws {
        var questions = 0
        self.queries.onQuestion = { [sysfs, queries] name in
            guard name == "eth0" else { return }
            questions += 1
            guard questions == 4 else { return }
            queries.cards["eth0"] = FakeQueries.Card(index: 9)
            try? sysfs.add("eth0", 9)
        }
        #expect(self.read().interfaces.filter { $0.name == "eth0" }.allSatisfy { $0.index == 9 })
    }
}
