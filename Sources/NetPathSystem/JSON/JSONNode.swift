// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A JSON value (RFC 8259) that was read from outside.
package indirect enum JSONNode: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that is no integer, or too large for one.
    case number(Double)
    case string(String)
    case array([JSONNode])
    case object([String: JSONNode])

    /// The member of an object; nil when it is absent or null, or this is no object.
    package subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// What kind of value it is, for people.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// Why a text is no JSON, or more of it than is taken.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, to be read after "it".
    package var description: String
    /// The byte at which that was noticed, from 0.
    package var offset: Int
}
