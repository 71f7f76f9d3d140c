// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// What tunnels say of their own packets, by the attributes of `linux/if_tunnel.h` and `linux/if_link.h`.
@Suite struct TunnelAttributesTests {
    private typealias Octets = MessageOctets

    private func read(_ kind: String, _ attributes: [UInt8]...) -> TunnelAttributes? {
        Octets.read(Octets.tunnel(kind, attributes), LinkUpdate.init)?.details?.tunnel
    }

    @Test(arguments: ["gre", "gretap"])
    func genericRoutingEncapsulation(kind: String) {
        let found = self.read(
            kind,
            Octets.attribute(1, 3),
            Octets.attribute(6, "192.0.2.7"),
            Octets.attribute(7, "203.0.113.9"),
            Octets.attribute(20, 77)
        )
        let expected = TunnelAttributes(
            remote: .fixture("203.0.113.9"),
            local: .fixture("192.0.2.7"),
            mark: 77,
            linkIndex: 3
        )
        #expect(found == expected)
    }

    @Test func overIPv6() {
        let gre = self.read("ip6gre", Octets.attribute(6, "2001:db8::7"), Octets.attribute(7, "2001:db8::9"))
        #expect(gre == TunnelAttributes(remote: .fixture("2001:db8::9"), local: .fixture("2001:db8::7")))
        let dualStackLite = self.read("ip6tnl", Octets.attribute(3, "2001:db8::9"), Octets.attribute(1, 2))
        #expect(dualStackLite == TunnelAttributes(remote: .fixture("2001:db8::9"), linkIndex: 2))
    }

    @Test(arguments: ["ipip", "sit"])
    func ipInIP(kind: String) {
        let found = self.read(kind, Octets.attribute(2, "192.0.2.7"), Octets.attribute(3, "203.0.113.9"))
        #expect(found == TunnelAttributes(remote: .fixture("203.0.113.9"), local: .fixture("192.0.2.7")))
    }

    @Test func othersWithNumbersOfTheirOwn() {
        let vti = self.read("vti", Octets.attribute(5, "203.0.113.9"), Octets.attribute(6, 8))
        #expect(vti == TunnelAttributes(remote: .fixture("203.0.113.9"), mark: 8))
        #expect(self.read("vxlan", Octets.attribute(2, "203.0.113.9"))?.remote == .fixture("203.0.113.9"))
        #expect(self.read("vxlan", Octets.attribute(16, "2001:db8::9"))?.remote == .fixture("2001:db8::9"))
        #expect(self.read("geneve", Octets.attribute(2, "203.0.113.9"))?.remote == .fixture("203.0.113.9"))
        #expect(self.read("geneve", Octets.attribute(7, "2001:db8::9"))?.remote == .fixture("2001:db8::9"))
        #expect(self.read("vxlan", Octets.attribute(15, [0x12, 0xB5]))?.port == 4789)
        #expect(self.read("geneve", Octets.attribute(5, [0x17, 0xC1]))?.port == 6081)
        #expect(self.read("vxlan", Octets.attribute(15, [0x12]))?.port == nil)
        #expect(self.read("vxlan", Octets.attribute(7, [1]))?.learns == true)
        #expect(self.read("vxlan", Octets.attribute(7, [0]))?.learns == false)
        #expect(self.read("dummy", Octets.attribute(2, "203.0.113.9")) == nil)
    }

    @Test func whatIsNotSetIsNotKnown() {
        let anywhere = self.read(
            "gre",
            Octets.attribute(1, 0),
            Octets.attribute(6, "0.0.0.0"),
            Octets.attribute(7, "0.0.0.0"),
            Octets.attribute(20, 0)
        )
        #expect(anywhere == TunnelAttributes())
        #expect(self.read("geneve") == TunnelAttributes())
    }

    @Test func cutShort() {
        let whole = Octets.tunnel("geneve", [Octets.attribute(2, "203.0.113.9"), Octets.attribute(7, "2001:db8::9")])
        for length in 0..<whole.count {
            var part = Array(whole.prefix(length))
            // A message that says it is as long as what is there.
            if length >= 4 { part.replaceSubrange(0..<4, with: Octets.word(UInt32(length))) }
            let remote = Octets.read(part, LinkUpdate.init)?.details?.tunnel?.remote
            #expect(remote == nil || remote == .fixture("203.0.113.9"))
        }
        #expect(self.read("geneve", Octets.attribute(2, [203, 0]))?.remote == nil)
        #expect(self.read("geneve", Octets.attribute(2, [UInt8](repeating: 1, count: 7))) == TunnelAttributes())
    }

    // MARK: The forwarding database of a VXLAN

    private func entry(_ attributes: [UInt8]...) -> [UInt8] {
        // struct ndmsg: AF_BRIDGE, index 7, NUD_PERMANENT, NTF_SELF.
        Octets.message(28, header: [7, 0, 0, 0] + Octets.word(7) + [0x80, 0, 2, 0], attributes)
    }

    @Test func forwardingEntries() {
        let entry = self.entry(
            Octets.attribute(2, [0, 0, 0, 0, 0, 0]),
            Octets.attribute(1, "203.0.113.9"),
            Octets.attribute(8, 3),
            Octets.attribute(6, [0x12, 0xB6])
        )
        #expect(
            Octets.read(entry, ForwardingEntry.init)
                == ForwardingEntry(remote: .fixture("203.0.113.9"), linkIndex: 3, port: 4790)
        )
        #expect(Octets.read(entry, ForwardingEntry.owner) == 7)
        let local = self.entry(Octets.attribute(2, [2, 0, 0, 0, 0, 1]))
        #expect(Octets.read(local, ForwardingEntry.init) == nil)
        #expect(Octets.read(entry, ForwardingEntry.isDefault) == true)
        #expect(Octets.read(local, ForwardingEntry.isDefault) == false)
        #expect(Octets.read(self.entry(Octets.attribute(1, "203.0.113.9")), ForwardingEntry.isDefault) == false)
    }

    // MARK: Counters and routes

    @Test func receivedPackets() {
        let header = [0, 0] + Octets.half(1) + Octets.word(7) + Octets.word(1) + Octets.word(0)
        let counters = Octets.attribute(23, [5, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 9, count: 184))
        #expect(Octets.read(Octets.message(16, header: header, [counters]), LinkUpdate.receivedPackets) == 5)
        let cut = Octets.attribute(23, [5])
        #expect(Octets.read(Octets.message(16, header: header, [cut]), LinkUpdate.receivedPackets) == nil)
    }

    @Test func routesOfTables() {
        func route(length: UInt8, _ attributes: [UInt8]...) -> TableRoute? {
            // struct rtmsg: AF_INET, table 254, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST.
            let header: [UInt8] = [2, length, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
            return Octets.read(Octets.message(24, header: header, attributes), TableRoute.init)
        }
        let gateway = Octets.attribute(5, "192.0.2.1")
        let device = Octets.attribute(4, 3)
        #expect(route(length: 8, Octets.attribute(1, "10.0.0.0"), gateway, device)?.gatewayed == [3])
        #expect(route(length: 8, Octets.attribute(1, "10.0.0.0"), gateway, device)?.isToHost == false)
        #expect(route(length: 32, Octets.attribute(1, "10.0.0.9"), gateway, device)?.isToHost == true)
        #expect(route(length: 32, Octets.attribute(1, "10.0.0.9"), device)?.direct == [3])
        #expect(route(length: 24, Octets.attribute(1, "192.0.2.0"), device)?.gatewayed == [])
        #expect(route(length: 0, gateway, device) == nil)
    }
}
