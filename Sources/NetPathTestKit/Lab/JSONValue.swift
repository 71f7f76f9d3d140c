// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// A JSON value, easy to look into and to compare with literals.
///
/// ```swift
/// #expect(line["reason"]?["code"] == "noRoute")
/// ```
public enum JSONValue: Sendable, Hashable {
    /// JSON's null, which is not the same as an absent member.
    case null
    /// A truth value.
    case bool(Bool)
    /// A number.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// Reads JSON text.
    ///
    /// - Parameter json: The text.
    /// - Throws: An error that says what is wrong when the text is not JSON.
    public init(json: String) throws {
        self.init(try JSONReader.read(Array(json.utf8)[...], valueLimit: .max))
    }

    private init(_ node: JSONNode) {
        self =
            switch node {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .number(Double(value))
            case .number(let value): .number(value)
            case .string(let value): .string(value)
            case .array(let elements): .array(elements.map(JSONValue.init))
            case .object(let members):
                .object(Dictionary(uniqueKeysWithValues: members.map { ($0.key, JSONValue($0.value)) }))
            }
    }

    /// The member of an object, or nil when it is absent or this is not an object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The element of a list, or nil when there is none or this is not a list.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }

    /// The text, or nil when this is not a text.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number, or nil when this is not a number.
    public var number: Double? { if case .number(let value) = self { value } else { nil } }

    /// The truth value, or nil when this is not one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements, none when this is not a list.
    public var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes a number.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }

    /// Makes a number.
    public init(floatLiteral value: Double) { self = .number(value) }

    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes a list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
