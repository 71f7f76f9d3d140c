// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A checksum of octets, for damage and not against malice.
///
/// Every step is a bijection of what was before, so that a single damaged word of eight octets never goes unnoticed,
/// and other damage does once in 2^64 cases.
enum Checksum {
    static func of(_ octets: Data) -> Int64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(octets.count)
        let span = octets.span
        var index = 0
        while index + 8 <= span.count {
            var word: UInt64 = 0
            for place in 0..<8 { word |= UInt64(span[index + place]) << UInt64(place * 8) }
            self.mix(word, into: &hash)
            index += 8
        }
        var word: UInt64 = 0
        while index < span.count {
            word = word << 8 | UInt64(span[index])
            index += 1
        }
        self.mix(word, into: &hash)
        return Int64(bitPattern: hash)
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}
