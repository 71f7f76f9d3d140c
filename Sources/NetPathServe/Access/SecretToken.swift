// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What those have to know who may see the state.
package struct SecretToken: Equatable, Sendable {
    /// What is shorter can be guessed.
    package static let minimum = 16

    private let bytes: [UInt8]

    /// Takes the text of a file: white space around it does not count.
    ///
    /// - Returns: Nil when it is too short, or holds what no header can.
    package init?(_ text: String) {
        let text = text.drop(while: \.isWhitespace)
        let bytes = Array(text.prefix(text.reversed().drop(while: \.isWhitespace).count).utf8)
        guard bytes.count >= Self.minimum, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.bytes = bytes
    }

    /// Whether a text is the token; takes as long whatever is wrong with it.
    package func matches(_ text: String) -> Bool { ConstantTime.areEqual(Array(text.utf8), self.bytes) }
}

/// Comparing without telling how much was right.
enum ConstantTime: Sendable {
    /// Whether two are the same; as fast as the first is long.
    @inline(never)
    static func areEqual(_ guess: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference: UInt8 = guess.count == secret.count ? 0 : 1
        for (position, byte) in guess.enumerated() {
            difference |= byte ^ secret[position % max(1, secret.count)]
        }
        return difference == 0 && !secret.isEmpty
    }
}
