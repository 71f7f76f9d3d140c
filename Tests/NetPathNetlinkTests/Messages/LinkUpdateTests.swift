// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathNetlink

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

    private let ethernet: InterfaceFlags = [.broadcast, .multicast]

    @Test func vethThatIsUp() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("far0", .up, carrier: true, kind: "veth") { $0.parentIndex = 3 }
        )
        #expect(try Fixture.first("newlink-veth-up", LinkUpdate.init) == expected)
    }

    @Test func vethAtCreationHasNoPeerYet() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet,
            hardwareType: 1,
            details: details("far0", .down, carrier: false, kind: "veth")
        )
        #expect(try Fixture.first("newlink-veth-created", LinkUpdate.init) == expected)
    }

    @Test func peerInAnotherNamespaceIsNoParent() throws {
        let expected = LinkUpdate(
            index: 11,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("up3", .down, carrier: false, kind: "veth")
        )
        #expect(try Fixture.first("newlink-veth-peer-elsewhere", LinkUpdate.init) == expected)
    }

    @Test func bridgePortNamesItsBridge() throws {
        let expected = LinkUpdate(
            index: 2,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("far0", .up, carrier: true, kind: "veth") {
                $0.parentIndex = 3
                $0.controllerIndex = 4
            }
        )
        #expect(try Fixture.first("newlink-bridge-port", LinkUpdate.init) == expected)
        var renamed = expected
        renamed.details?.name = "port0"
        #expect(try Fixture.first("newlink-renamed", LinkUpdate.init) == renamed)
    }

    @Test func tunWithoutProcess() throws {
        let expected = LinkUpdate(
            index: 7,
            flags: [.up, .pointToPoint, .noARP, .multicast],
            hardwareType: 65534,
            details: details("tun0", .down, carrier: false, kind: "tun")
        )
        #expect(try Fixture.first("newlink-tun-no-carrier", LinkUpdate.init) == expected)
    }

    @Test func stackedInterfacesNameTheirParent() throws {
        let macvlan = LinkUpdate(
            index: 9,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("mv0", .up, carrier: true, kind: "macvlan") { $0.parentIndex = 3 }
        )
        #expect(try Fixture.first("newlink-macvlan", LinkUpdate.init) == macvlan)
        let vxlan = LinkUpdate(
            index: 8,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("vx0", .unknown, carrier: true, kind: "vxlan")
        )
        #expect(try Fixture.first("newlink-vxlan", LinkUpdate.init) == vxlan)
    }

    @Test func bondNamesItsActiveMember() throws {
        let expected = LinkUpdate(
            index: 7,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("bond0", .up, carrier: true, kind: "bond") { $0.activeMember = 3 }
        )
        #expect(try Fixture.first("newlink-bond", LinkUpdate.init) == expected)
    }

    @Test func routerAdvertisementIsSeen() throws {
        let expected = LinkUpdate(
            index: 13,
            flags: ethernet.union(.up),
            hardwareType: 1,
            details: details("up4", .up, carrier: true, kind: "veth") {
                $0.parentIndex = 12
                $0.sawRouterAdvertisement = true
            }
        )
        #expect(try Fixture.first("newlink-ra-received", LinkUpdate.init) == expected)
    }

    @Test func wirelessEventsSayNothingOfTheirDetails() throws {
        let expected = LinkUpdate(index: 3, flags: ethernet.union(.up), hardwareType: 1, details: nil)
        #expect(try Fixture.first("newlink-wireless-event", LinkUpdate.init) == expected)
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
        #expect(messages.first??.1 == loopback)
    }
}
