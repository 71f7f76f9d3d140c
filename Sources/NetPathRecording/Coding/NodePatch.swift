// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// What differs between two values of JSON, as JSON.
///
/// Like a merge patch (RFC 7396), in which an object holds the members that differ, and null removes one; beyond it, an
/// array that differs in some elements is an object of their positions, and `#` its new length. What may not be taken for
/// such an object stands in an array of its own: `[value]` is the value.
extension JSONNode {
    /// The length of an array in a patch.
    private static let lengthKey = "#"

    /// What makes this value of another one; nil when they are equal.
    func patch(from old: JSONNode) -> JSONNode? {
        if self == old { return nil }
        switch (old, self) {
        case (.object(let old), .object(let new)):
            var patch: JSONObject = [:]
            for (key, value) in new {
                let change = if let before = old[key] { value.patch(from: before) } else { value.replacement }
                if let change { patch.append(key, change) }
            }
            for key in old.keys where new[key] == nil { patch.append(key, .null) }
            return .object(patch)
        case (.array(let old), .array(let new)) where !old.isEmpty && !new.isEmpty:
            var patch: JSONObject = [:]
            for (position, value) in new.enumerated() {
                let change = position < old.count ? value.patch(from: old[position]) : value.replacement
                if let change { patch.append("\(position)", change) }
            }
            if old.count != new.count { patch.append(Self.lengthKey, .integer(new.count)) }
            return .object(patch)
        default: return self.replacement
        }
    }

    /// A patch that puts this value in place of any other.
    private var replacement: JSONNode {
        switch self {
        case .object, .array, .null: .array([self])
        case .bool, .integer, .number, .string: self
        }
    }

    /// Applies a patch.
    func patched(by patch: JSONNode) -> JSONNode {
        switch (self, patch) {
        case (_, .array(let value)): return value.first ?? .null
        case (.object(var members), .object(let changes)):
            for (key, change) in changes {
                members[key] = change == .null ? nil : (members[key] ?? .null).patched(by: change)
            }
            return .object(members)
        case (.array(var elements), .object(let changes)):
            if case .integer(let length)? = changes[Self.lengthKey] {
                // No file can make a list longer than what it holds for it.
                let length = max(0, min(Int(clamping: length), elements.count + changes.count))
                elements = Array(elements.prefix(length))
                elements += Array(repeating: .null, count: length - elements.count)
            }
            for (key, change) in changes {
                guard let position = Int(key), elements.indices.contains(position) else { continue }
                elements[position] = elements[position].patched(by: change)
            }
            return .array(elements)
        default: return patch
        }
    }
}
