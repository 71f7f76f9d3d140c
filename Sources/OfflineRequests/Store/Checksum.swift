// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A checksum of bytes, for damage and not against malice.
///
/// Every step is a bijection of what was before, so that a single damaged word of eight bytes never goes unnoticed, and
/// other damage does once in 2^64 cases. That of a request is the exclusive or of those of its parts.
struct Checksum: Sendable {
    private(set) var value: Int64 = 0

    static func of(_ text: String) -> Int64 { Self.of(Data(text.utf8)) }

    /// The checksum of bytes; zero where there are none.
    static func of(_ bytes: Data?) -> Int64 {
        var checksum = Checksum()
        if let bytes { for piece in bytes.pieces { checksum.add(piece) } }
        return checksum.value
    }

    /// Adds a piece.
    mutating func add(_ piece: Data) {
        var hash = 0x9E37_79B9_7F4A_7C15 ^ UInt64(piece.count)
        let span = piece.span
        var index = 0
        while index + 8 <= span.count {
            var word: UInt64 = 0
            for place in 0..<8 { word |= UInt64(span[index + place]) << UInt64(place * 8) }
            Self.mix(word, into: &hash)
            index += 8
        }
        var word: UInt64 = 0
        while index < span.count {
            word = word << 8 | UInt64(span[index])
            index += 1
        }
        Self.mix(word, into: &hash)
        self.value = (self.value << 1 | (self.value >> 63 & 1)) ^ Int64(bitPattern: hash)
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}
