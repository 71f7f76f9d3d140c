// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Values found by interface index: a sorted list.
///
/// Every event makes these anew, mostly for a handful of interfaces: three dictionaries cost as much as the rest of an
/// evaluation.
package struct InterfaceMap<Value> {
    private let indices: [UInt32]
    /// As many as there are indices: each may be replaced, in its place.
    var values: [Value]

    /// Makes a map of indices in ascending order and their values; of equal indices the first one counts.
    init(_ indices: [UInt32], _ values: [Value]) {
        self.indices = indices
        self.values = values
    }

    package subscript(_ index: UInt32) -> Value? { self.position(of: index).map { self.values[$0] } }

    /// Where in ``values`` the value of an index is: what needs a part of a large value copies no more than that.
    func position(of index: UInt32) -> Int? {
        let position = self.indices.sortedPosition(of: index)
        return position < self.indices.count && self.indices[position] == index ? position : nil
    }
}

extension [UInt32] {
    /// In a sorted list, the position of the first element that is not smaller.
    package func sortedPosition(of element: UInt32) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
