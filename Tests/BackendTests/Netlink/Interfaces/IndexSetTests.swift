// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct IndexSetTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func isASortedSet(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var model: Set<UInt32> = []
        var tested = IndexSet()
        for _ in 0..<400 {
            // Few values, so that repeated insertions and futile removals are common; the extremes are among them.
            let index = [0, .max, UInt32.random(in: 1...40, using: &generator)].randomElement(using: &generator) ?? 0
            if Bool.random(using: &generator) {
                model.insert(index)
                tested.insert(index)
            } else {
                model.remove(index)
                tested.remove(index)
            }
            #expect(tested.indices == model.sorted())
            #expect(tested.first == model.min())
            #expect(Array(tested) == model.sorted())
        }
    }

    @Test func orderOfInsertionDoesNotMatter() {
        var ascending = IndexSet()
        var descending = IndexSet()
        for index in 1...100 as ClosedRange<UInt32> {
            ascending.insert(index)
            descending.insert(101 - index)
        }
        #expect(ascending == descending)
        #expect(ascending.hashValue == descending.hashValue)
    }
}
