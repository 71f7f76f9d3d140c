// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// All orders of a collection's elements.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard let last = elements.last else { return [[]] }
    return permutations(elements.dropLast()).flatMap { shorter in
        (0...shorter.count).map { position in
            var longer = shorter
            longer.insert(last, at: position)
            return longer
        }
    }
}
