// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Whatever the bytes are, decoding gives something or nothing; run with the address sanitizer now and then.
@Suite struct DecoderRobustnessTests {
    /// Decodes every message and returns how many there were, so that nothing is optimised away.
    @discardableResult
    private func survive(_ datagram: [UInt8]) -> Int {
        var count = 0
        NetlinkMessage.forEach(in: datagram) { message in
            _ = DecodedMessage(message)
            count += 1
        }
        return count
    }

    private func patchLength(of message: inout [UInt8], to length: Int) {
        for position in 0..<min(4, message.count) {
            message[position] = UInt8(truncatingIfNeeded: length >> (8 * position))
        }
    }

    private func messages(of datagram: [UInt8]) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var rest = datagram[...]
        while rest.count >= 16 {
            let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            messages.append(Array(rest.prefix(length)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    @Test func fixturesAreThere() {
        #expect(Fixture.names.count >= 38)
    }

    @Test(arguments: Fixture.names)
    func everyPrefixIsSurvived(name: String) throws {
        for datagram in try Fixture.datagrams(name) {
            let complete = self.survive(datagram)
            #expect(complete > 0)
            for length in 0..<datagram.count {
                // A message that is longer than what there is of it is not handed on.
                #expect(self.survive(Array(datagram.prefix(length))) <= complete)
            }
        }
    }

    @Test(arguments: Fixture.names)
    func everyPrefixWithAMatchingLengthIsSurvived(name: String) throws {
        for message in try Fixture.datagrams(name).flatMap(self.messages(of:)) {
            for length in 0..<message.count {
                var prefix = Array(message.prefix(length))
                self.patchLength(of: &prefix, to: length)
                #expect(self.survive(prefix) == (length >= 16 ? 1 : 0))
            }
        }
    }

    @Test(arguments: Fixture.names)
    func mutationsAreSurvived(name: String) throws {
        var generator = SeededGenerator(seed: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ UInt32($1) }))
        for message in try Fixture.datagrams(name).flatMap(self.messages(of:)).prefix(3) {
            for _ in 0..<1500 {
                var mutant = message
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let position = Int.random(in: 0..<mutant.count, using: &generator)
                    // Lengths and types of attributes break at the edges of their ranges.
                    let edges: [UInt8] = [
                        0, 1, 2, 3, 4, 5, 8, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &generator),
                    ]
                    mutant[position] = edges.randomElement(using: &generator) ?? 0
                }
                self.survive(mutant)
            }
        }
    }
}
