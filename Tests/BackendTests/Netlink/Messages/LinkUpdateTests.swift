// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

private typealias Octets = MessageOctets

@Suite struct LinkUpdateTests {
    private func details(
        _ name: String,
        _ state: OperationalState,
        carrier: Bool?,
        kind: String?,
        _ change: (inout LinkUpdate.Details) -> Void = { _ in }
    ) -> LinkUpdate.Details {
        var details = LinkUpdate.Details(
            name: name,
            operationalState: state,
            hasCarrier: carrier,
            kind: kind,
            hasParentDevice: false,
            sawRouterAdvertisement: false
        )
        change(&details)
        return details
    }

    /// The first message of a fixture without its address, which differs from one recording to the next, and without its
    /// history.
    private func first(_ name: String) throws -> LinkUpdate? {
        var update = try Fixture.first(name, LinkUpdate.init)
        update?.details?.hardwareAddress = nil
        update?.details?.hasHadCarrier = nil
        return update
    }

    private let ethernet: InterfaceFlags = [.broadcast, .multicast]

    @Test func vethThatIsUp() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("far0", .up, carrier: true, kind: "veth") { $0.underlyingIndex = 3 }
        )
        #expect(try self.first("newlink-veth-up") == expected)
    }

    @Test func hardwareAddress() throws {
        let veth = try #require(try Fixture.first("newlink-veth-up", LinkUpdate.init))
        #expect(veth.details?.hardwareAddress == [0xA2, 0x56, 0x0E, 0x74, 0xC5, 0x53])
        let tun = try #require(try Fixture.first("newlink-tun-no-carrier", LinkUpdate.init))
        #expect(tun.details?.hardwareAddress == nil)
    }

    @Test func whetherThereEverWasACarrier() throws {
        #expect(try Fixture.first("newlink-veth-up", LinkUpdate.init)?.details?.hasHadCarrier == true)
        #expect(try Fixture.first("newlink-veth-created", LinkUpdate.init)?.details?.hasHadCarrier == false)
        func update(flags: UInt32, _ attributes: [UInt8]...) -> LinkUpdate? {
            typealias Octets = MessageOctets
            let header = [0, 0] + Octets.half(1) + Octets.word(7) + Octets.word(flags) + Octets.word(0)
            let name = [Octets.attribute(3, Array("eth7".utf8) + [0]), Octets.attribute(16, [0])]
            return Octets.read(Octets.message(16, header: header, name + attributes), LinkUpdate.init)
        }
        typealias Octets = MessageOctets
        let carrier = Octets.attribute(33, [1])
        #expect(update(flags: 1, carrier)?.details?.hasHadCarrier == nil, "a kernel that does not count")
        #expect(update(flags: 1, carrier, Octets.attribute(47, 0))?.details?.hasHadCarrier == true)
        #expect(update(flags: 0, carrier, Octets.attribute(47, 0))?.details?.hasHadCarrier == false, "only a claim")
        #expect(update(flags: 0, Octets.attribute(47, 3))?.details?.hasHadCarrier == true)
        #expect(update(flags: 0, Octets.attribute(47, [3]))?.details?.hasHadCarrier == nil, "cut short")
    }

    @Test func vethAtCreationHasNoPeerYet() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet,
            hardwareType: 1,
            details: details("far0", .down, carrier: false, kind: "veth")
        )
        #expect(try self.first("newlink-veth-created") == expected)
    }

    @Test func peerInAnotherNamespaceIsNoParent() throws {
        let expected = LinkUpdate(
            index: 11,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("up3", .down, carrier: false, kind: "veth") { $0.isParentElsewhere = true }
        )
        #expect(try self.first("newlink-veth-peer-elsewhere") == expected)
    }

    @Test func bridgePortNamesItsBridge() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("far0", .up, carrier: true, kind: "veth") {
                $0.underlyingIndex = 3
                $0.controllerIndex = 4
            }
        )
        #expect(try self.first("newlink-bridge-port") == expected)
        var renamed = expected
        renamed.details?.name = "port0"
        #expect(try self.first("newlink-renamed") == renamed)
    }

    /// Before the message of AF_UNSPEC, which says the same of the carrier.
    @Test(arguments: [true, false]) func aBridgeSaysThatItsPortHasNoCarrier(hasCarrier: Bool) throws {
        // struct ifinfomsg: AF_BRIDGE, index 7, IFF_UP, IFF_LOWER_UP where there is a carrier; IFLA_PROTINFO with IFLA_BRPORT_STATE.
        let flags = Octets.word(hasCarrier ? 0x10001 : 1)
        let state = Octets.attribute(1, [hasCarrier ? 3 : 0])
        let message = Octets.message(
            16,
            header: [7, 0] + Octets.half(1) + Octets.word(7) + flags + Octets.word(0),
            [Octets.attribute(12, state)]
        )
        let port = try #require(Octets.read(message, LinkUpdate.port))
        #expect(port == (7, hasCarrier ? .everything : .nothing, hasCarrier))
    }

    @Test func tunWithoutProcess() throws {
        let expected = LinkUpdate(
            index: 7,
            flags: [.up, .pointToPoint, .noARP, .multicast],
            hardwareType: 65534,
            details: details("tun0", .down, carrier: false, kind: "tun")
        )
        #expect(try self.first("newlink-tun-no-carrier") == expected)
    }

    @Test func stackedInterfacesNameTheirParent() throws {
        let macvlan = LinkUpdate(
            index: 9,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("mv0", .up, carrier: true, kind: "macvlan") { $0.underlyingIndex = 3 }
        )
        #expect(try self.first("newlink-macvlan") == macvlan)
        let vxlan = LinkUpdate(
            index: 8,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("vx0", .unknown, carrier: true, kind: "vxlan") {
                $0.tunnel = TunnelAttributes(local: .fixture("198.18.0.2"), linkIndex: 3, port: 4789, learns: true)
            }
        )
        #expect(try self.first("newlink-vxlan") == vxlan)
    }

    @Test func bondNamesItsActiveMember() throws {
        let expected = LinkUpdate(
            index: 7,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("bond0", .up, carrier: true, kind: "bond") {
                // The message does not say whether it watches links, which means nothing.
                $0.bond = BondAttributes(activeMember: 3)
            }
        )
        #expect(try self.first("newlink-bond") == expected)
    }

    /// The attribute's number is a bridge's hello time, and something else for other kinds.
    @Test func onlyABondHasAnActiveMember() throws {
        var datagram = try #require(Fixture.datagrams("newlink-bond").first)
        let kind = try #require(datagram.firstRange(of: Array("bond\0".utf8)))
        datagram.replaceSubrange(kind, with: Array("none\0".utf8))
        var update: LinkUpdate?
        NetlinkMessage.forEach(in: datagram) { update = LinkUpdate($0) }
        #expect(update?.details?.kind == "none")
        #expect(update?.details?.bond == nil)
    }

    @Test func routerAdvertisementIsSeen() throws {
        let expected = LinkUpdate(
            index: 13,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("up4", .up, carrier: true, kind: "veth") {
                $0.underlyingIndex = 12
                $0.sawRouterAdvertisement = true
            }
        )
        #expect(try self.first("newlink-ra-received") == expected)
    }

    @Test func wirelessEventsSayNothingOfTheirDetails() throws {
        let expected = LinkUpdate(index: 3, flags: ethernet.union(.up), hardwareType: 1, details: nil)
        #expect(try self.first("newlink-wireless-event") == expected)
    }

    @Test(arguments: ["dellink-bridge-port", "newlink-inet6-settings"])
    func otherFamiliesAreNotLinks(name: String) throws {
        let decoded = try Fixture.decode(name, LinkUpdate.init)
        #expect(decoded == [nil])
    }

    @Test func removedLink() throws {
        let decoded = try Fixture.first("dellink-veth") { $0.type == 17 ? LinkUpdate($0) : nil }
        #expect(decoded?.index == 11)
        #expect(decoded?.details?.name == "up3")
    }

    @Test func dumpHoldsEveryLinkAndItsEnd() throws {
        let messages = try Fixture.decode("dump-links") { ($0.error, LinkUpdate($0)) }
        #expect(messages.compactMap { $0?.1?.index } == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(
            messages.compactMap { $0?.1?.details?.name }
                == ["lo", "far0", "up0", "br0", "far1", "up1", "tun0", "vx0", "mv0"]
        )
        #expect(messages.dropLast().allSatisfy { $0?.0 == nil })
        #expect(messages.last??.0 == 0)
        #expect(messages.last??.1 == nil)
        let loopback = LinkUpdate(
            index: 1,
            flags: [.up, .loopback],
            hardwareType: 772,
            details: details("lo", .unknown, carrier: true, kind: nil)
        )
        var first = try #require(messages.first??.1)
        #expect(first.details?.hardwareAddress == [0, 0, 0, 0, 0, 0])
        first.details?.hardwareAddress = nil
        first.details?.hasHadCarrier = nil
        #expect(first == loopback)
    }
}
