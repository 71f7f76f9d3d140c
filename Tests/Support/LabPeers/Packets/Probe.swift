// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Asks addresses for an answer, as programs do that know nothing of routes: connects a UDP socket and sends.
struct Probe {
    /// Groups of addresses; the answer of one whole group is enough.
    let groups: [[String]]
    let port: UInt16
    let options: DatagramSocket.Options
    /// How often in succession the kernel has to refuse to connect to an address until nobody waits for it; nil is never.
    let refusals: Int?

    /// Asks until a group has answered, nothing is worth waiting for or the time is over, and prints what answered.
    func run(within bound: Duration) -> Never {
        let deadline = ContinuousClock.now + bound
        let addresses = self.groups.joined().map { text in
            (text: text, address: numericAddress(text, port: self.port))
        }
        var sockets: [(text: String, socket: DatagramSocket)] = []
        var answered: Set<String> = []
        var refused: [String: Int] = [:]
        var nextTry = ContinuousClock.now
        while !self.groups.contains(where: { answered.isSuperset(of: $0) }), .now < deadline {
            let isHopeless = self.refusals.map { limit in
                addresses.allSatisfy { answered.contains($0.text) || refused[$0.text, default: 0] >= limit }
            }
            if isHopeless == true { break }
            if .now >= nextTry {
                // Each time a socket of its own: which source it has is decided when it connects. The others stay, since
                // an answer may take its time.
                for (text, address) in addresses where !answered.contains(text) {
                    guard let socket = DatagramSocket(address.family, self.options) else { continue }
                    guard socket.connect(to: address) else {
                        close(socket.descriptor)
                        refused[text, default: 0] += 1
                        continue
                    }
                    refused[text] = 0
                    socket.send([0x6e, 0x65, 0x74])
                    sockets.append((text, socket))
                }
                nextTry = .now + .milliseconds(60)
            }
            let remaining = min(nextTry, deadline) - .now
            let readable = FileDescriptor.poll(readable: sockets.map(\.socket.descriptor), timeout: remaining)
            var buffer = [UInt8](repeating: 0, count: 64)
            for (entry, isReadable) in zip(sockets, readable) where isReadable {
                if receive(from: entry.socket.descriptor, into: &buffer) != nil { answered.insert(entry.text) }
            }
        }
        say("{\"answered\":[\(answered.sorted().map { "\"\($0)\"" }.joined(separator: ","))]}")
        exit(0)
    }
}
