// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Everything beyond the uplinks: answers, on every Ethernet interface of its namespace, for every address.
///
/// It sends the answer out of the interface that the question came in through, so a datagram comes back exactly if it
/// left and the cable is whole both ways. The namespace's own network code takes no part: the answers come from a
/// hardware address that no interface has.
struct AnsweringRouter {
    /// Addresses inside of tunnels, see ``Answer/innerAddresses``.
    let innerAddresses: [SocketAddress]

    /// Where the fields of `struct sockaddr_ll` are (packet(7)).
    private enum Offset {
        static let hardwareType = 8
        static let packetType = 10
        static let size = 20
    }

    func run() -> Never {
        // ETH_P_ALL in the order of the network; interfaces that come later are heard, too.
        let descriptor = socket(AF_PACKET, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0x0300)
        guard descriptor >= 0 else { fail("AF_PACKET: errno \(errno)") }
        let innerAddresses = self.innerAddresses.map(\.bytes)
        say(#"{"ready":true}"#)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var address = [UInt8](repeating: 0, count: Offset.size)
        while true {
            let count = self.receive(descriptor, &buffer, &address)
            // ARPHRD_ETHER, and not PACKET_OUTGOING, which is what this namespace sends itself.
            guard count > 0, address[Offset.hardwareType] == 1, address[Offset.packetType] != 4 else { continue }
            var answer = Answer(innerAddresses: innerAddresses, bytes: Array(buffer[..<count]))
            if answer.answerFrame(answer.bytes.indices) { self.send(descriptor, answer.bytes, address) }
        }
    }

    private func receive(_ descriptor: Int32, _ buffer: inout [UInt8], _ address: inout [UInt8]) -> Int {
        var size = socklen_t(Offset.size)
        return unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe address.withUnsafeMutableBytes { address in
                unsafe recvfrom(
                    descriptor,
                    buffer.baseAddress,
                    buffer.count,
                    0,
                    address.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    &size
                )
            }
        }
    }

    private func send(_ descriptor: Int32, _ frame: [UInt8], _ address: [UInt8]) {
        _ = unsafe frame.withUnsafeBytes { frame in
            unsafe address.withUnsafeBytes { address in
                unsafe sendto(
                    descriptor,
                    frame.baseAddress,
                    frame.count,
                    0,
                    address.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(address.count)
                )
            }
        }
    }
}
