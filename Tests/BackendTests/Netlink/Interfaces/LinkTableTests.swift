// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct LinkTableTests {
    @Test func driverAndHardwareAddressAreKept() {
        var table = LinkTable()
        table.event(.full(3, "wwan0") { $0.hardwareAddress = [2, 0, 0, 0, 0, 7] })
        table.classify(3, .type(.cellular), hints: InterfaceHints(hasDevice: true, driver: "cdc_mbim"))
        table.event(.partial(3, flags: []))
        #expect(table.reported(3)?.hardwareAddress == [2, 0, 0, 0, 0, 7])
        #expect(table.reported(3)?.driver == "cdc_mbim")
    }

    /// Its messages never carry a kind.
    @Test func l2tpIsATunnelByItsDeviceType() {
        var table = LinkTable()
        for _ in 0..<2 {
            table.event(.full(3, "l2tpeth0"))
            #expect(table.unclassified == [3])
            table.classify(3, .type(.other), hints: InterfaceHints(deviceType: "l2tpeth"))
            #expect(table.reported(3)?.hasTunnelKind == true)
        }
        table.event(.partial(3, flags: .up))
        #expect(table.reported(3)?.hasTunnelKind == true)
    }

    @Test func partialMessagesKeepWhatTheyDoNotCarry() throws {
        var table = LinkTable()
        table.event(
            .full(3, "wlan0") {
                $0.underlyingIndex = 9
                $0.sawRouterAdvertisement = true
            }
        )
        table.classify(3, .type(.wifi), hints: .hardware)
        table.apply(.on(3, "192.0.2.7/24"))
        let before = try #require(table.reported(3))
        table.event(.partial(3, flags: [.up, .multicast]))
        let after = try #require(table.reported(3))
        #expect(after == before.changed { $0.flags = [.up, .multicast] })
        #expect(table.unclassified.isEmpty)
    }

    @Test func partialMessageAboutAStrangerIsIgnored() {
        var table = LinkTable()
        table.event(.partial(3, flags: .up))
        table.apply(.on(3, "192.0.2.7/24"))
        table.remove(.on(3, "192.0.2.7/24"))
        table.removeLink(3)
        table.classify(3, .type(.wifi), hints: nil)
        #expect(table.entries.isEmpty)
        #expect(table.reportable(including: [3]).isEmpty)
    }

    @Test func absentAttributesOfAFullMessageAreGone() {
        var table = LinkTable()
        table.event(.full(3, "port") { $0.controllerIndex = 9 })
        table.event(.full(3, "port"))
        #expect(table.reported(3)?.controllerIndex == nil)
    }

    @Test func renamedInterfaceIsClassifiedAnew() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        #expect(table.unclassified == [3])
        table.classify(3, .type(.wired), hints: .hardware)
        table.apply(.on(3, "192.0.2.7/24"))
        #expect(table.unclassified.isEmpty)
        table.event(.full(3, "eth0"))
        #expect(table.unclassified.isEmpty)
        table.event(.full(3, "lan"))
        #expect(table.unclassified == [3])
        #expect(table.reported(3)?.name == "lan")
        #expect(table.reported(3)?.addresses.count == 1)
        #expect(table.principals == [3])
    }

    @Test func changeOfTheLinkLayerIsClassifiedAnew() {
        var table = LinkTable()
        var modem = LinkUpdate.full(3, "wwan0")
        table.event(modem)
        table.classify(3, .type(.cellular), hints: .hardware)
        modem.hardwareType = 65534
        table.event(modem)
        #expect(table.unclassified == [3])
    }

    @Test func radioSwitchIsReadAgainWhenTheInterfaceGoesUpOrDown() {
        var table = LinkTable()
        table.event(.full(3, "wlan0"))
        table.event(.full(4, "eth0"))
        table.classify(3, .type(.wifi), hints: InterfaceHints(isWireless: true, isRadioBlocked: false))
        table.classify(4, .type(.wired), hints: .hardware)
        table.event(.full(3, "wlan0", flags: [], hasCarrier: false))
        table.event(.full(4, "eth0", flags: [], hasCarrier: false))
        // Blocking takes the interface down; wired ones have no radio to ask about.
        #expect(table.unclassified == [3])
        // Until somebody has read sysfs it stays what it was.
        #expect(table.reported(3)?.type == .wifi)
        table.classify(3, .type(.wifi), hints: InterfaceHints(isWireless: true, isRadioBlocked: true))
        #expect(table.reported(3)?.isRadioBlocked == true)
        table.event(.full(3, "wlan0", hasCarrier: false))
        #expect(table.unclassified == [3])
        table.event(.full(3, "wlan0", hasCarrier: true))
        table.classify(3, .type(.wifi), hints: InterfaceHints(isWireless: true, isRadioBlocked: false))
        table.event(.full(3, "wlan0", hasCarrier: false))
        #expect(table.unclassified.isEmpty, "carrier says nothing of the switch")
    }

    @Test func reusedIndexInheritsNothing() {
        var table = LinkTable()
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        table.classify(3, .type(.wired), hints: .hardware)
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true))
        table.setDefaultRoutes(3, [InterfaceRoute(family: .ipv4)])
        table.removeLink(3)
        #expect(table.entries.isEmpty)
        #expect(table.principals.isEmpty)
        #expect(table.unclassified.isEmpty)
        table.event(.full(3, "tun0", kind: "tun"), at: 200)
        var expected = NetworkInterface(index: 3, name: "tun0", type: .other, flags: .up)
        expected.kind = "tun"
        expected.hasCarrier = true
        expected.operationalState = .up
        expected.expectsConfiguration = false
        #expect(table.reported(3) == expected)
        #expect(table.reported(3)?.carrierSince == .second(200))
        #expect(table.unclassified == [3])
    }

    @Test func removalForgetsTheNewcomer() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        table.removeLink(3)
        #expect(table.unclassified.isEmpty)
    }

    @Test func bridgePortIsHiddenWhileItIsOne() {
        var table = LinkTable()
        table.event(.full(9, "br0", kind: "bridge"))
        table.event(.full(3, "eth0"))
        table.classify(3, .type(.wired), hints: .hardware)
        table.classify(9, .asLower, hints: nil)
        #expect(table.principals == [3])
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        #expect(table.principals.isEmpty)
        #expect(table.reportable(including: []).map(\.index) == [9])
        table.event(.full(3, "eth0"))
        #expect(table.principals == [3])
        #expect(table.reportable(including: []).map(\.index) == [3, 9])
    }

    // MARK: Members of bridges and bonds

    @Test func portThatLosesItsCarrierPutsTheBridgesWordInDoubt() {
        var table = LinkTable()
        table.event(.full(9, "br0", kind: "bridge"))
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        table.event(.full(4, "eth1") { $0.controllerIndex = 9 })
        _ = table.takeOutdated()
        table.event(.full(3, "eth0", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.outdated.isEmpty, "the other port carries on")
        table.event(.full(4, "eth1", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.takeOutdated() == [9])
        #expect(table.outdated.isEmpty)
        table.event(.full(9, "br0", kind: "bridge", hasCarrier: false))
        table.event(.full(4, "eth1") { $0.controllerIndex = 9 })
        #expect(table.takeOutdated() == [9], "and the other way round")
        table.event(.full(9, "br0", kind: "bridge"))
        table.event(.full(4, "eth1"))
        #expect(table.takeOutdated() == [9], "the port that is left has no carrier")
    }

    @Test func removedPortPutsTheBridgesWordInDoubt() {
        var table = LinkTable()
        table.event(.full(9, "br0", kind: "bridge"))
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        _ = table.takeOutdated()
        table.removeLink(3)
        #expect(table.takeOutdated() == [9])
    }

    @Test func dumpsAndOtherControllersAreTakenAtTheirWord() {
        var table = LinkTable()
        table.apply(.full(9, "br0", kind: "bridge"), now: nil)
        table.apply(.full(3, "eth0", hasCarrier: false) { $0.controllerIndex = 9 }, now: nil)
        #expect(table.outdated.isEmpty)
        // A VRF has a carrier whatever its members have.
        table.event(.full(10, "vrf0", kind: "vrf"))
        table.event(.full(4, "eth1", hasCarrier: false) { $0.controllerIndex = 10 })
        #expect(table.outdated.isEmpty)
    }

    @Test func bondWithoutAnyMemberThatHasACarrierHasNone() {
        var table = LinkTable()
        table.event(.full(9, "bond0", kind: "bond"))
        #expect(table.reported(9)?.hasCarrier == true, "its own word, as long as it has no members")
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        table.event(.full(4, "eth1", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.hasCarrier == true)
        // Without link monitoring (miimon 0) there is no message about the bond.
        table.event(.full(3, "eth0", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.hasCarrier == false)
        table.event(.full(4, "eth1") { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.hasCarrier == true)
        table.event(.partial(4, flags: []))
        #expect(table.reported(9)?.hasCarrier == false, "a member that is down carries nothing")
    }

    @Test func bondThatWatchesNothingStaysWithItsActiveMember() {
        func bond(_ change: BondAttributes, hasCarrier: Bool = true) -> LinkUpdate {
            .full(9, "bond0", kind: "bond", hasCarrier: hasCarrier) { $0.bond = change }
        }
        var table = LinkTable()
        table.event(bond(BondAttributes(activeMember: 3, isUnwatched: true)))
        table.event(.full(3, "eth0") { $0.controllerIndex = 9 })
        table.event(.full(4, "eth1") { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.bondFault == nil)
        table.event(.full(3, "eth0", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.bondFault == .activeMember("eth0"))
        #expect(table.reported(9)?.hasCarrier == false)
        table.event(bond(BondAttributes(activeMember: 4, isUnwatched: true)))
        #expect(table.reported(9)?.hasCarrier == true, "somebody changed it by hand")
        table.event(bond(BondAttributes(activeMember: 3)))
        #expect(table.reported(9)?.hasCarrier == true, "one that watches is about to change by itself")
        table.event(bond(BondAttributes(activeMember: 77, isUnwatched: true)))
        #expect(table.reported(9)?.hasCarrier == true, "a member that is not known")
        table.event(bond(BondAttributes(leastLinks: 2), hasCarrier: false))
        #expect(table.reported(9)?.bondFault == .fewerLinks(than: 2))
        table.event(.full(4, "eth1", hasCarrier: false) { $0.controllerIndex = 9 })
        #expect(table.reported(9)?.bondFault == nil, "none has a link")
    }

    // MARK: PPPoE

    @Test func deviceUnderAPPPoESessionIsItsParent() {
        let list = "Id       Address              Device\n00000100 52:54:00:12:34:56     eth0\n"
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        #expect(!table.needsSessions)
        table.event(.full(7, "ppp0", kind: "ppp", hasCarrier: nil))
        #expect(table.needsSessions)
        table.setSessions(PPPoESessions(parsing: list))
        #expect(!table.needsSessions)
        #expect(table.reported(7)?.underlyingIndex == 3)
        table.event(.full(7, "ppp0", kind: "ppp", hasCarrier: nil))
        #expect(table.reported(7)?.underlyingIndex == 3, "no message says so")
        table.event(.full(8, "ppp1", kind: "ppp", hasCarrier: nil))
        table.setSessions(PPPoESessions(parsing: list))
        #expect(table.reported(7)?.underlyingIndex == nil, "either of them")
        table.removeLink(8)
        #expect(table.needsSessions)
        table.setSessions(PPPoESessions(parsing: list))
        #expect(table.reported(7)?.underlyingIndex == 3)
    }

    // MARK: Radio switches

    @Test func turnedRadioSwitchesConcernTheInterfacesThatHaveOne() {
        var table = LinkTable()
        table.event(.full(3, "wlan0"))
        table.event(.full(4, "eth0"))
        table.classify(3, .type(.wifi), hints: InterfaceHints(isWireless: true, isRadioBlocked: false))
        table.classify(4, .type(.wired), hints: .hardware)
        table.doubtRadioSwitches()
        #expect(table.unclassified == [3])
    }

    // MARK: Addresses

    @Test func addressesAreSortedAndReplaced() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        for text in ["2001:db8::7/64", "192.0.2.9/24", "fe80::1/64", "192.0.2.7/24", "192.0.2.7/32"] {
            table.apply(.on(3, text))
        }
        func addresses() -> [String] { table.reported(3)?.addresses.map(\.prefix.description) ?? [] }
        #expect(
            addresses() == ["192.0.2.7/24", "192.0.2.7/32", "192.0.2.9/24", "2001:db8::7/64", "fe80::1/64"]
        )
        table.apply(.on(3, "192.0.2.7/24", state: .deprecated))
        #expect(addresses().count == 5)
        #expect(table.reported(3)?.addresses.first?.state == .deprecated)
        table.remove(.on(3, "192.0.2.7/24"))
        table.remove(.on(3, "192.0.2.8/24"))
        #expect(addresses() == ["192.0.2.7/32", "192.0.2.9/24", "2001:db8::7/64", "fe80::1/64"])
    }

    @Test func ipv4AddressesWithDifferentPeersAreTwo() {
        var table = LinkTable()
        table.event(.full(3, "ppp0"))
        for peer in ["10.0.0.2", "10.0.0.3", "10.0.0.2"] { table.apply(.on(3, "10.0.0.1/32", peer: peer)) }
        table.apply(.on(3, "10.0.0.1/32"))
        #expect(table.reported(3)?.addresses.count == 3)
        table.remove(.on(3, "10.0.0.1/32", peer: "10.0.0.3"))
        table.remove(.on(3, "10.0.0.1/32"))
        table.remove(.on(3, "10.0.0.1/32", peer: "10.0.0.9"))
        #expect(table.reported(3)?.addresses.map(\.prefix) == [.fixture("10.0.0.1/32")])
        table.remove(.on(3, "10.0.0.1/32", peer: "10.0.0.2"))
        #expect(table.reported(3)?.addresses == [])
    }

    @Test func ipv6AddressIsOneWhateverItsPeer() {
        var table = LinkTable()
        table.event(.full(3, "ppp0"))
        // `ip -6 address change` gives it another one.
        table.apply(.on(3, "2001:db8::1/128", peer: "2001:db8::2"))
        table.apply(.on(3, "2001:db8::1/128", peer: "2001:db8::3", state: .deprecated))
        #expect(table.reported(3)?.addresses.map(\.state) == [.deprecated])
        table.remove(.on(3, "2001:db8::1/128"))
        #expect(table.reported(3)?.addresses == [])
    }

    @Test func whatAnInterruptedDumpDoesNotShowIsKept() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        table.event(.full(4, "eth1") { $0.controllerIndex = 5 })
        table.event(.full(5, "br0", kind: "bridge"))
        for index in 3...5 as ClosedRange<UInt32> { table.classify(index, .type(.wired), hints: .hardware) }
        table.apply(.on(3, "192.0.2.7/24"))
        table.apply(.on(3, "192.0.2.8/24", state: .deprecated))
        var fresh = LinkTable()
        fresh.apply(.full(3, "lan"), now: nil)
        fresh.apply(.on(3, "192.0.2.8/24"))
        fresh.apply(.full(6, "eth2"), now: nil)
        var interrupted = fresh
        interrupted.inherit(from: table, keepsMissing: true)
        #expect(interrupted.entries.keys.sorted() == [3, 4, 5, 6])
        #expect(interrupted.reported(3)?.name == "lan", "what it does show is true")
        #expect(interrupted.reported(3)?.addresses.map(\.state) == [[], []])
        #expect(interrupted.members(of: 5) == [4])
        #expect(interrupted.unclassified == [3, 6])
        // The next one, which nothing interrupts.
        fresh.inherit(from: interrupted)
        #expect(fresh.entries.keys.sorted() == [3, 6])
        #expect(fresh.reported(3)?.addresses.map(\.prefix) == [.fixture("192.0.2.8/24")])
    }

    @Test func sameAddressOnTwoInterfacesIsTwoAddresses() {
        var table = LinkTable()
        table.event(.full(3, "br0"))
        table.event(.full(4, "br1"))
        table.apply(.on(3, "fe80::1/64"))
        table.apply(.on(4, "fe80::1/64"))
        table.remove(.on(3, "fe80::1/64"))
        #expect(table.reported(3)?.addresses == [])
        #expect(table.reported(4)?.addresses.count == 1)
    }

    @Test func renewalsChangeNothing() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true, createdAt: 50))
        table.apply(.on(3, "fe80::1/64", createdAt: 40))
        let before = table.reportable(including: [])
        table.apply(.on(3, "192.0.2.7/24", isDynamic: true, createdAt: 90))
        table.apply(.on(3, "fe80::1/64", createdAt: 40))
        #expect(table.reportable(including: []) == before)
        #expect(table.unclassified == [3])
    }

    /// Of an advertisement whose flags M and O are 0 the kernel says nothing but what it makes of it.
    @Test func anAdvertisementHasTheInterfaceReadAgainOnce() {
        var table = LinkTable()
        table.event(.full(5, "eth5"))
        table.event(.full(6, "eth6") { $0.sawRouterAdvertisement = true })
        for index: UInt32 in [5, 6, 7] { table.noteAdvertisement(index) }
        #expect(table.takeOutdated() == [5])
    }

    @Test func tentativeBecomesValid() {
        var table = LinkTable()
        table.event(.full(3, "eth0"))
        table.apply(.on(3, "2001:db8::7/64", state: .tentative))
        #expect(table.reported(3)?.addresses.map(\.isUsable) == [false])
        table.apply(.on(3, "2001:db8::7/64"))
        #expect(table.reported(3)?.addresses.map(\.isUsable) == [true])
    }

    @Test func configurationIsExpectedWhereItWasSeen() {
        var table = LinkTable()
        for index in 3...6 as ClosedRange<UInt32> { table.event(.full(index, "eth\(index)")) }
        table.apply(.on(4, "192.0.2.7/24", isDynamic: true))
        table.remove(.on(4, "192.0.2.7/24", isDynamic: true))
        table.event(.full(5, "eth5") { $0.sawRouterAdvertisement = true })
        // Lifetimes of IPv6 addresses come with router advertisements, which are seen by themselves.
        table.apply(.on(6, "2001:db8::7/64", isDynamic: true))
        let expectations = table.reportable(including: []).map(\.expectsConfiguration)
        #expect(expectations == [false, true, true, false])
    }
}
