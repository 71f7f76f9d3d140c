// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// The UDP sockets of the network namespace, those of the kernel included, as procfs shows them to everybody.
enum UDPSockets {
    /// Whether some socket is bound to a port, or to any where that is nil; nil where not everything can be read.
    static func isBound(to port: UInt16?, procfs: String = "/proc/thread-self/net") -> Bool? {
        let limit = 1 << 22
        let texts = ["udp", "udp6"].compactMap { FileAccess.contents("\(procfs)/\($0)", limit: limit) }
        let ports = texts.map { Self.ports(in: $0) }
        if ports.contains(where: { port.map($0.contains) ?? !$0.isEmpty }) { return true }
        return texts.isEmpty || texts.contains { $0.utf8.count >= limit } ? nil : false
    }

    /// The local ports in the text of the kernel (`udp4_seq_show` of `net/ipv4/udp.c`): after a heading lines such as
    /// `  45: 00000000:CA6C 00000000:0000 07 …`.
    static func ports(in text: String) -> Set<UInt16> {
        let lines = text.split(separator: "\n").dropFirst()
        return Set(
            lines.compactMap { line in
                let words = line.split(separator: " ", maxSplits: 2)
                guard words.count == 3, let colon = words[1].lastIndex(of: ":") else { return nil }
                return UInt16(words[1][words[1].index(after: colon)...], radix: 16)
            }
        )
    }
}
