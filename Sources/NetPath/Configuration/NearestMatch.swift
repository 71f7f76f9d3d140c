// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Finds what was probably meant by a misspelled word.
///
/// - Parameters:
///   - word: The word as it was written.
///   - candidates: The words that would have been right.
/// - Returns: The nearest candidate, the first of equally near ones, `nil` when none is near enough to be meant.
package func nearestMatch(to word: String, among candidates: [String]) -> String? {
    let letters = Array(word.lowercased().unicodeScalars.prefix(64))
    // One slip in three letters: `ecs` may mean `dns`, but two letters that agree in one are a coincidence.
    let tolerance = max(1, letters.count / 3)
    guard letters.count > 1 else { return nil }
    let distances = candidates.map { editDistance(letters, Array($0.lowercased().unicodeScalars.prefix(64))) }
    guard let best = distances.indices.min(by: { distances[$0] < distances[$1] }) else { return nil }
    return distances[best] <= tolerance ? candidates[best] : nil
}

/// Counts the insertions, deletions, substitutions and swaps of neighbours that make one word the other.
///
/// - Parameters:
///   - first: One word.
///   - second: The other word.
/// - Returns: The optimal string alignment distance.
package func editDistance<Element: Equatable>(_ first: [Element], _ second: [Element]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for row in first.indices {
        var current = [row + 1]
        for column in second.indices {
            let isSame = first[row] == second[column]
            var distance = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (isSame ? 0 : 1))
            if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                distance = min(distance, beforePrevious[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforePrevious, previous) = (previous, current)
    }
    return previous[second.count]
}
