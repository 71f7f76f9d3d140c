// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Messages of WireGuard as `linux/wireguard.h` describes them.
@Suite struct WireGuardDeviceTests {
    private typealias Octets = MessageOctets

    /// One message of an answer: the device's mark, and peers.
    private func message(mark: UInt32? = nil, port: UInt16? = nil, _ peers: [UInt8]...) -> [UInt8] {
        let own =
            (mark.map { [Octets.attribute(7, $0)] } ?? []) + (port.map { [Octets.attribute(6, Octets.half($0))] } ?? [])
        return Octets.message(30, header: [0, 1, 0, 0], own + [Octets.attribute(8, peers.flatMap { $0 })])
    }

    private func peer(_ key: UInt8, _ endpoint: [UInt8]? = nil, _ allowed: (String, UInt8)...) -> [UInt8] {
        let networks = allowed.flatMap { address, length in
            let bytes = InternetAddress.fixture(address).bytes
            return Octets.attribute(
                0,
                Octets.attribute(1, Octets.half(bytes.count == 4 ? 2 : 10)) + Octets.attribute(2, bytes)
                    + Octets.attribute(3, [length])
            )
        }
        let parts =
            Octets.attribute(1, [UInt8](repeating: key, count: 32)) + (endpoint.map { Octets.attribute(4, $0) } ?? [])
            + Octets.attribute(9, networks)
        return Octets.attribute(0, parts)
    }

    private func socket(_ address: String, zone: UInt32 = 0) -> [UInt8] {
        let bytes = InternetAddress.fixture(address).bytes
        return bytes.count == 4
            ? [2, 0, 0xCA, 0x6C] + bytes + [UInt8](repeating: 0, count: 8)
            : [10, 0, 0xCA, 0x6C, 0, 0, 0, 0] + bytes + Octets.word(zone)
    }

    private func read(_ messages: [UInt8]...) -> WireGuardDevice {
        var device = WireGuardDevice()
        for message in messages { NetlinkMessage.forEach(in: message) { device.read($0) } }
        return device
    }

    private func endpoints(_ device: WireGuardDevice, _ destination: String = "9.0.0.1") -> [String] {
        device.packets(towards: [.fixture(destination)]).map { flow in
            "\(flow.destination)" + (flow.interface.map { "%\($0)" } ?? "")
        }
    }

    @Test func thePeerThatTakesEverything() {
        let device = self.read(
            self.message(
                mark: 51_820,
                self.peer(1, self.socket("203.0.113.9"), ("0.0.0.0", 0)),
                self.peer(2, self.socket("2001:db8::9"), ("10.0.0.0", 8))
            )
        )
        #expect(device.mark == 51_820)
        #expect(self.endpoints(device) == ["203.0.113.9"])
        #expect(self.endpoints(device, "10.1.2.3") == ["2001:db8::9"], "the longest prefix")
        // What another tunnel sends through this one.
        #expect(self.endpoints(device, "2600::1") == ["203.0.113.9", "2001:db8::9"])
    }

    @Test func packetsAsItSendsThem() {
        let peer = self.peer(1, self.socket("203.0.113.9"), ("0.0.0.0", 0))
        let packets = self.read(self.message(mark: 7, port: 40_000, peer)).packets(towards: [.fixture("9.0.0.1")])
        #expect(packets.map(\.transport) == [.udp(from: 40_000, to: 51_820)])
        #expect(packets.map(\.mark) == [7])
        #expect(self.read(self.message(port: 0, peer)).port == nil)
    }

    @Test func answerInSeveralMessages() {
        let device = self.read(
            self.message(mark: 0, self.peer(1, self.socket("203.0.113.9"), ("10.0.0.0", 8))),
            self.message(self.peer(1, nil, ("0.0.0.0", 1)), self.peer(2, self.socket("203.0.113.10"), ("10.0.0.0", 8)))
        )
        #expect(device.mark == nil)
        #expect(self.endpoints(device) == ["203.0.113.9"])
    }

    @Test func linkLocalEnd() {
        let device = self.read(self.message(self.peer(1, self.socket("fe80::9", zone: 3), ("::", 0))))
        #expect(self.endpoints(device, "2600::1") == ["fe80::9%3"])
    }

    @Test func peersThatNobodyKnowsTheAddressOf() {
        let unknown = self.peer(1, nil, ("0.0.0.0", 0))
        #expect(self.endpoints(self.read(self.message(unknown))).isEmpty)
        let other = self.peer(2, self.socket("203.0.113.9"), ("10.0.0.0", 8))
        #expect(self.endpoints(self.read(self.message(unknown, other))).isEmpty, "the other peer takes none of it")
    }

    @Test func cutShort() {
        let whole = self.message(mark: 7, self.peer(1, self.socket("203.0.113.9"), ("0.0.0.0", 0)))
        for length in 4..<whole.count {
            let part = Octets.word(UInt32(length)) + whole[4..<length]
            let found = self.endpoints(self.read(part))
            #expect(found.isEmpty || found == ["203.0.113.9"])
        }
        #expect(self.endpoints(self.read(self.message(self.peer(1, [2, 0, 1], ("0.0.0.0", 0))))).isEmpty)
        #expect(self.endpoints(self.read(self.message(self.peer(1, [10, 0, 1, 1, 1, 1], ("0.0.0.0", 0))))).isEmpty)
    }

    // MARK: Its socket

    @Test func socketsOfTheNamespace() {
        // As net/ipv4/udp.c and net/ipv6/udp.c write them.
        let ipv4 = """
               sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
             1045: 00000000:CA6C 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 0 2 0000000000000000 0

            """
        let ipv6 = """
              sl  local_address                         remote_address                        st tx_queue rx_queue
              77: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 07 00000000:00000000

            """
        #expect(UDPSockets.ports(in: ipv4) == [51_820])
        #expect(UDPSockets.ports(in: ipv6) == [53])
        for length in 0..<ipv4.count { #expect(UDPSockets.ports(in: String(ipv4.prefix(length))).count <= 1) }
        #expect(UDPSockets.isBound(to: 51_820, procfs: "/nonexistent") == nil)
    }

    // MARK: L2TP

    @Test func pppOverL2TP() {
        // As net/l2tp/l2tp_ppp.c writes it.
        let text = """
            PPPoL2TP driver info, V2.0
            TUNNEL name, [ user data ], session count, ...
            TUNNEL 'tunl 1', Y 2
             00000000 0/0/0 0/0/0
              SESSION 'sess 1/2' 0A000001/1701 0001/0002 -> 0003/0004 1 Y
               0/0/L/-/- 00000000 0
               interface ppp0

            """
        #expect(L2TPSessions.interfaces(in: text) == ["ppp0"])
        #expect(L2TPSessions.interfaces(in: "").isEmpty)
        #expect(L2TPSessions.interfaces(procfs: "/nonexistent").isEmpty)
    }
}
