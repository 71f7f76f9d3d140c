// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A generator that gives the same numbers for the same seed on every machine (SplitMix64).
///
/// A property test that prints its seed can be repeated.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    package init(seed: UInt64) {
        self.state = seed
    }

    /// Returns the next 64 bits.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var word = self.state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
