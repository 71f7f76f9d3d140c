// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Bridges and what they stand on.
@Suite struct LinkTableMemberTests {
    private func port(
        _ index: UInt32,
        _ name: String,
        kind: String?,
        of bridge: UInt32,
        carrier: Bool = true
    )
        -> LinkUpdate
    {
        .full(index, name, kind: kind, hasCarrier: carrier) { $0.controllerIndex = bridge }
    }

    private func table() -> LinkTable {
        var table = LinkTable()
        table.event(.full(10, "vmbr0", kind: "bridge"))
        table.classify(10, .asLower, hints: nil)
        return table
    }

    @Test func typeIsThatOfTheHardwarePort() {
        var table = self.table()
        // The machine's tap has the lower index, and more of them than anybody looks at.
        for index in 11..<60 as Range<UInt32> {
            table.event(port(index, "tap\(index)", kind: "tun", of: 10))
            table.classify(index, .type(.other), hints: nil)
        }
        #expect(table.reported(10)?.type == .other)
        table.event(port(90, "eno1", kind: nil, of: 10))
        table.classify(90, .type(.wired), hints: .hardware)
        #expect(table.reported(10)?.type == .wired)
        #expect(table.reported(10)?.foundation == .hardware)
        table.event(port(90, "eno1", kind: nil, of: 10, carrier: false))
        #expect(table.reported(10)?.type == .wired, "also while its cable is out")
        table.removeLink(90)
        #expect(table.reported(10)?.type == .other)
        #expect(table.reported(10)?.foundation == .tunnels)
    }

    @Test func aVLANOnABondIsHardware() {
        var table = self.table()
        table.event(.full(2, "eno1") { $0.controllerIndex = 3 })
        table.classify(2, .type(.wired), hints: .hardware)
        table.event(.full(3, "bond0", kind: "bond"))
        table.classify(3, .asLower, hints: nil)
        table.event(
            .full(4, "bond0.5", kind: "vlan") { ($0.underlyingIndex, $0.controllerIndex) = (3, 10) }
        )
        table.classify(4, .asLower, hints: nil)
        #expect(table.hardwareMembers(of: 10) == [4])
        #expect(table.reported(10)?.foundation == .hardware)
    }

    @Test func whatStandsOnATunnelIsOne() {
        var table = self.table()
        table.event(.full(20, "gretap1", kind: "gretap"))
        table.event(.full(21, "gretap1.5", kind: "vlan") { ($0.underlyingIndex, $0.controllerIndex) = (20, 10) })
        #expect(table.reported(10)?.foundation == .tunnels)
        #expect(table.tunnel(under: 21) == 20)
        // The other end of a pair is not below.
        table.event(.full(22, "veth0", kind: "veth") { ($0.underlyingIndex, $0.controllerIndex) = (20, 10) })
        #expect(table.reported(10)?.foundation == nil)
        // A stack that looks like a loop.
        table.event(.full(30, "a", kind: "vlan") { $0.underlyingIndex = 31 })
        table.event(.full(31, "b", kind: "vlan") { $0.underlyingIndex = 30 })
        #expect(table.tunnel(under: 30) == nil)
    }

    @Test func portsThatDiscardAreNone() {
        var table = self.table()
        #expect(table.hasPorts(10) == false)
        #expect(table.hasPorts(99) == nil)
        table.event(port(11, "dummy0", kind: "dummy", of: 10))
        #expect(table.reported(10)?.hasPorts == false)
        table.event(port(12, "tap0", kind: "tun", of: 10))
        #expect(table.reported(10)?.hasPorts == true)
        table.event(.full(12, "tap0", kind: "tun"))
        #expect(table.hasPorts(10) == false, "it has left")
    }

    @Test func portsThatDoNotForward() {
        var table = self.table()
        table.event(port(11, "tap0", kind: "tun", of: 10))
        #expect(table.forwards(11, in: 10) && !table.forwards(11, in: 12) && !table.forwards(13, in: 10))
        table.event(.full(11, "tap0", kind: "tun") { ($0.controllerIndex, $0.port) = (10, .nothing) })
        #expect(!table.forwards(11, in: 10), "a spanning tree blocks it")
        #expect(table.membersWithoutCarrier(of: 10) == [])
        table.setPort(11, .everything, hasCarrier: true)
        #expect(table.forwards(11, in: 10))
        table.setPort(99, .nothing, hasCarrier: false)
        table.setPort(11, .nothing, hasCarrier: false)
        #expect(table.membersWithoutCarrier(of: 10) == ["tap0"], "its bridge knows before anybody else")
        table.event(port(11, "tap0", kind: "tun", of: 10))
        #expect(table.membersWithoutCarrier(of: 10) == [] && table.forwards(11, in: 10))
        table.event(port(11, "tap0", kind: "tun", of: 10, carrier: false))
        #expect(table.membersWithoutCarrier(of: 10) == ["tap0"])
    }

    @Test func bridgesAreFoundBelowAndBeside() {
        var table = self.table()
        table.event(.full(20, "vmbr0.5", kind: "vlan") { $0.underlyingIndex = 10 })
        table.event(.full(21, "mac0", kind: "macvlan") { $0.underlyingIndex = 20 })
        table.event(.full(22, "eth0"))
        #expect(table.bridge(below: 10)?.bridge == 10)
        #expect(table.bridge(below: 10)?.vlan == nil)
        #expect(table.bridge(below: 21)?.bridge == 10)
        #expect(table.bridge(below: 21)?.vlan == 20)
        #expect(table.bridge(below: 22) == nil)
        #expect(table.bridge(below: 99) == nil)
        // A stack that looks like a loop.
        table.event(.full(30, "a", kind: "vlan") { $0.underlyingIndex = 31 })
        table.event(.full(31, "b", kind: "vlan") { $0.underlyingIndex = 30 })
        #expect(table.bridge(below: 30) == nil)
        // A pair of veths leads to the next bridge.
        table.event(.full(40, "br1", kind: "bridge"))
        for (index, peer, bridge) in [(41, 42, 10), (42, 41, 40)] as [(UInt32, UInt32, UInt32)] {
            table.event(
                .full(index, "veth\(index)", kind: "veth") { ($0.underlyingIndex, $0.controllerIndex) = (peer, bridge) }
            )
        }
        #expect(table.bridges(connectedTo: 10) == [10, 40])
        #expect(table.bridges(connectedTo: 40) == [40, 10])
        #expect(table.bridge(behind: 41) == 40)
        #expect(table.bridge(behind: 22) == nil)
    }
}
