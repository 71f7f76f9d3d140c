// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// A message about an entry of a bridge's forwarding database, as the kernel builds it.
private struct ForwardingMessage {
    var type: UInt16 = 29
    var address: [UInt8] = [2, 0, 0, 0, 0, 1]
    /// NUD_REACHABLE.
    var state: UInt16 = 0x02
    var vlan: UInt16?

    var bytes: [UInt8] {
        var message = NeighbourMessage(type: self.type, interfaceIndex: 7, address: .fixture("192.0.2.1")).bytes
        let header: [UInt8] = [7, 0, 0, 0, 7, 0, 0, 0, UInt8(self.state & 0xFF), UInt8(self.state >> 8), 0, 0]
        var body = header + [10, 0, 2, 0] + self.address + [0, 0] + [8, 0, 9, 0, 10, 0, 0, 0]
        if let vlan { body += [6, 0, 5, 0, UInt8(vlan & 0xFF), UInt8(vlan >> 8), 0, 0] }
        message = Array(message.prefix(16)) + body
        message[0] = UInt8(message.count)
        return message
    }
}

@Suite struct ForwardingTests {
    private static let known: [UInt8] = [2, 0, 0, 0, 0, 1]
    private static let stale: UInt16 = 0x04

    private func read(_ bytes: [UInt8]) -> ForwardingUpdate? {
        var update: ForwardingUpdate?
        NetlinkMessage.forEach(in: bytes) { update = ForwardingUpdate($0) }
        return update
    }

    @Test func entriesAreRead() throws {
        let withdrawn = try #require(self.read(ForwardingMessage().bytes))
        #expect(withdrawn.key == .init(bridge: 10, vlan: 0, address: Self.known))
        #expect(withdrawn.port == 7 && withdrawn.isWithdrawn && !withdrawn.isLocal)
        #expect(try #require(self.read(ForwardingMessage(vlan: 5).bytes)).key.vlan == 5)
        #expect(try !#require(self.read(ForwardingMessage(state: Self.stale).bytes)).isWithdrawn, "of old age")
        #expect(try !#require(self.read(ForwardingMessage(type: 28).bytes)).isWithdrawn)
        #expect(try #require(self.read(ForwardingMessage(state: 0x80).bytes)).isLocal)
    }

    @Test func whatIsNoEntryOfABridgeIsNotRead() {
        #expect(self.read(NeighbourMessage(address: .fixture("192.0.2.1")).bytes) == nil)
        #expect(self.read(ForwardingMessage(address: [2, 0, 0, 1]).bytes) == nil, "another link layer")
        let bytes = ForwardingMessage(vlan: 5).bytes
        for length in 16..<44 {
            var cut = Array(bytes.prefix(length))
            cut[0] = UInt8(length)
            #expect(self.read(cut) == nil)
        }
    }

    private func passes(
        _ message: [UInt8],
        _ addresses: Set<[UInt8]>? = [Self.known],
        unknown: Set<InternetAddress> = [],
        learning: Bool = false,
        failed: Bool = false
    ) throws -> Bool {
        let filter = EventFilter(
            .init(
                gateways: [.fixture("192.0.2.1")],
                followsRecovery: failed,
                hardwareAddresses: addresses,
                unknownGateways: unknown,
                followsForwarding: learning
            )
        )
        return try BPFMachine(filter.instructions).run(on: message).passes
    }

    @Test(arguments: [false, true])
    func onlyEntriesOfGatewaysPass(failed: Bool) throws {
        #expect(try self.passes(ForwardingMessage().bytes, failed: failed))
        #expect(try !self.passes(ForwardingMessage().bytes, nil, failed: failed), "no gateway is behind a bridge")
        #expect(try !self.passes(ForwardingMessage(state: Self.stale).bytes, failed: failed))
        #expect(try !self.passes(ForwardingMessage(type: 28).bytes, failed: failed))
        #expect(try self.passes(ForwardingMessage(type: 28).bytes, learning: true, failed: failed))
        for other in [[2, 0, 0, 0, 0, 2], [3, 0, 0, 0, 0, 1], [2, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]] as [[UInt8]] {
            for type in [28, 29] as [UInt16] {
                let message = ForwardingMessage(type: type, address: other)
                #expect(try !self.passes(message.bytes, learning: true, failed: failed))
            }
        }
        let bytes = ForwardingMessage().bytes
        for length in 16..<bytes.count - 18 { #expect(try !self.passes(Array(bytes.prefix(length)))) }
    }

    /// More than a filter compares with: all entries pass, and none that grew old.
    @Test func entriesOfManyGatewaysPass() throws {
        let many = Set((1...9).map { [2, 0, 0, 0, 1, $0] as [UInt8] })
        #expect(try self.passes(ForwardingMessage().bytes, many))
        #expect(try self.passes(ForwardingMessage(type: 28).bytes, many, learning: true))
        #expect(try !self.passes(ForwardingMessage(type: 28).bytes, many))
        #expect(try !self.passes(ForwardingMessage(state: Self.stale).bytes, many))
    }

    /// A gateway on a bridge whose hardware address is not known yet.
    @Test func gatewaysThatAreFoundPass() throws {
        let message = NeighbourMessage(address: .fixture("192.0.2.1"))
        #expect(try !self.passes(message.bytes), "it is known")
        #expect(try self.passes(message.bytes, unknown: [.fixture("192.0.2.1")]))
        #expect(try !self.passes(message.bytes, unknown: [.fixture("192.0.2.9")]))
        #expect(try self.passes(NeighbourMessage(address: .fixture("192.0.2.1"), state: 0x20).bytes), "it has failed")
    }

    @Test func qdiscsPassWhereTheyMatter() throws {
        // RTM_NEWQDISC, RTM_DELQDISC; RTM_NEWTCLASS to RTM_DELCHAIN.
        func passes(_ type: UInt16) throws -> Bool {
            var bytes = NeighbourMessage(type: type, address: .fixture("192.0.2.1")).bytes
            bytes[16] = 0
            return try BPFMachine(EventFilter(.init(qdiscs: true)).instructions).run(on: bytes).passes
        }
        for type in [36, 37] as [UInt16] { #expect(try passes(type)) }
        for type in [40, 41, 44, 45, 48, 49, 100, 101] as [UInt16] { #expect(try !passes(type)) }
    }
}
