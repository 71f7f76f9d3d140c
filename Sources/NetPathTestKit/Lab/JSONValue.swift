// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

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
    /// - Throws: Foundation's error when the text is not JSON.
    public init(json: String) throws {
        // Not JSONDecoder: for each value it would have to try one type after the other, with an error for each wrong
        // guess, which takes seconds for a line about thousands of interfaces.
        self = Self.converting(
            try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        )
    }

    private static func converting(_ value: Any) -> JSONValue {
        switch value {
        case let text as String: .string(text)
        case let number as NSNumber: isBoolean(number) ? .bool(number.boolValue) : .number(number.doubleValue)
        case let elements as [Any]: .array(elements.map(converting))
        case let members as [String: Any]: .object(members.mapValues(converting))
        default: .null
        }
    }

    /// Whether Foundation made the number from `true` or `false`: only its class tells it from 1 or 0.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        type(of: number) == type(of: NSNumber(value: true))
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
