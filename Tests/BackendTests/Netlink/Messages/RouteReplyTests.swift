// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct RouteReplyTests {
    /// Every field of an answer.
    private struct Fields: Hashable {
        var type: UInt8 = 1
        var nextHops: [NextHop]
        var nextHopID: UInt32?
        var source: InternetAddress?
        var metric: UInt32 = 0
        var table: UInt32 = 254
        var expiresIn: Duration?
    }

    private func reply(
        _ nextHops: [NextHop],
        nextHopID: UInt32? = nil,
        source: String? = nil,
        metric: UInt32 = 0,
        table: UInt32 = 254,
        expiresIn: Duration? = nil
    ) -> Fields {
        Fields(
            nextHops: nextHops,
            nextHopID: nextHopID,
            source: source.map(InternetAddress.fixture),
            metric: metric,
            table: table,
            expiresIn: expiresIn
        )
    }

    private func nextHop(_ index: UInt32, _ gateway: String?, isDown: Bool = false) -> NextHop {
        NextHop(interfaceIndex: index, gateway: gateway.map(InternetAddress.fixture), isDown: isDown)
    }

    private func decode(_ name: String) throws -> [Fields?] {
        try Fixture.decode(name) { message in
            RouteReply(message).map { reply in
                Fields(
                    type: reply.type,
                    nextHops: reply.nextHops,
                    nextHopID: reply.nextHopID,
                    source: reply.source,
                    metric: reply.metric,
                    table: reply.table,
                    expiresIn: reply.expiresIn
                )
            }
        }
    }

    @Test func ipv4() throws {
        #expect(try decode("route-ipv4") == [reply([nextHop(3, "198.18.0.1")], metric: 100)])
        // The flags of a plain lookup say RTM_F_CLONED, whose bits must not look like a dead hop.
        #expect(try decode("route-ipv4-source") == [reply([nextHop(3, "198.18.0.1")], source: "198.18.0.2")])
        #expect(try decode("route-ipv4-large-table") == [reply([nextHop(3, nil)], table: 51820)])
    }

    @Test func ipv6() throws {
        let expected = reply(
            [nextHop(13, "fe80::38ad:21ff:fe58:9581")],
            metric: 1024,
            expiresIn: .milliseconds(1_798_990 + 30)
        )
        #expect(try decode("route-ipv6-ra") == [expected])
        #expect(
            try decode("route-ipv6-source") == [reply([nextHop(3, "fe80::1")], source: "2001:db8::2", metric: 1024)]
        )
    }

    @Test func multipath() throws {
        func nextHop(_ index: UInt32, _ gateway: String, isDown: Bool = false, weight: UInt32 = 1) -> NextHop {
            var nextHop = self.nextHop(index, gateway, isDown: isDown)
            nextHop.weight = weight
            return nextHop
        }
        #expect(
            try decode("route-ipv4-multipath") == [
                reply([nextHop(3, "198.18.0.1"), nextHop(6, "198.18.1.1", weight: 2)])
            ]
        )
        #expect(
            try decode("route-ipv4-multipath-linkdown")
                == [reply([nextHop(3, "198.18.0.1"), nextHop(6, "198.18.1.1", isDown: true, weight: 2)])]
        )
        #expect(
            try decode("route-ipv6-multipath") == [reply([nextHop(6, "fe80::2"), nextHop(3, "fe80::1")], metric: 1024)]
        )
    }

    @Test func gatewayOfTheOtherFamily() throws {
        #expect(try decode("route-ipv4-via-ipv6") == [reply([nextHop(3, "fe80::1")])])
    }

    @Test func nextHopObjectWithoutLegs() throws {
        #expect(try decode("route-ipv4-nexthop-object") == [reply([], nextHopID: 9)])
    }

    @Test(arguments: [
        ("route-none", 101), ("route-throw", 101), ("route-blackhole", 22), ("route-unreachable", 113),
        ("route-prohibit", 13), ("nexthop-none", 2),
    ])
    func refusalsCarryTheirNumber(name: String, number: Int32) throws {
        #expect(try Fixture.decode(name, \.error) == [number])
    }

    @Test func answersAreNoErrors() throws {
        #expect(try Fixture.decode("route-ipv4") { $0.error == nil ? true : nil } == [true])
    }

    @Test func smallestErrorNumberDoesNotOverflow() throws {
        var datagram = try #require(try Fixture.datagrams("route-none").first)
        datagram.replaceSubrange(16..<20, with: [0, 0, 0, 0x80])
        NetlinkMessage.forEach(in: datagram) { #expect($0.error != 0) }
    }
}

@Suite struct NextHopReplyTests {
    private func expect(
        _ name: String,
        isBlackhole: Bool = false,
        nextHop: NextHop? = nil,
        members: [UInt32] = [],
        location: SourceLocation = #_sourceLocation
    ) throws {
        let decoded = try Fixture.decode(name, NextHopReply.init)
        #expect(decoded.count == 1, sourceLocation: location)
        let reply = try #require(decoded.first ?? nil, sourceLocation: location)
        #expect(reply.isBlackhole == isBlackhole, sourceLocation: location)
        #expect(reply.nextHop == nextHop, sourceLocation: location)
        #expect(reply.members.allSatisfy { $0.weight ?? 0 > 0 })
        #expect(reply.members.map(\.id) == members, sourceLocation: location)
    }

    @Test func singleHop() throws {
        try self.expect("nexthop-single", nextHop: NextHop(interfaceIndex: 3, gateway: .fixture("198.18.0.1")))
        try self.expect("nexthop-ipv6", nextHop: NextHop(interfaceIndex: 3, gateway: .fixture("fe80::1")))
    }

    @Test func group() throws {
        try self.expect("nexthop-group", members: [7, 8])
    }

    @Test func blackhole() throws {
        try self.expect("nexthop-blackhole", isBlackhole: true)
    }
}
