// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// Reads values that are `Decodable` out of JSON; a member that is absent is nil.
struct NodeDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let node: JSONNode

    /// Of what is counted there is never so much: the next one has a number, too.
    private static let counterLimit = UInt64(1) << 62
    /// Longer than any that is meant, and short enough that sums of them have a value.
    private static let durations = Duration.seconds(-1 << 32)...Duration.seconds(1 << 32)

    private init(_ node: JSONNode) {
        self.node = node
    }

    /// Decodes a value, which may be an element of a list.
    ///
    /// - Throws: `DecodingError` when it is not one of this type.
    static func value<Value: Decodable>(
        _: Value.Type = Value.self,
        from node: JSONNode,
        isElement: Bool = false
    ) throws -> Value {
        // Not through containers of their own: these are nearly all there is.
        switch (Value.self, node) {
        case (is String.Type, .string(let text)): if let text = text as? Value { return text }
        case (is Bool.Type, .bool(let isTrue)): if let isTrue = isTrue as? Value { return isTrue }
        case (let type as any FixedWidthInteger.Type, .integer(let number)):
            let isCounter = type is Int.Type || (type is UInt64.Type && !isElement)
            if !isCounter || number.magnitude < Self.counterLimit, let number = type.init(exactly: number) as? Value {
                return number
            }
            throw Self.mismatch(Value.self, node)
        // Half of a duration.
        case (let type as any FixedWidthInteger.Type, .string(let text)) where isElement:
            if let number = type.init(text) as? Value { return number }
            throw Self.mismatch(Value.self, node)
        case (is Duration.Type, .array):
            let duration = try Duration(from: NodeDecoder(node))
            guard Self.durations.contains(duration), let duration = duration as? Value
            else { throw Self.mismatch(Value.self, node) }
            return duration
        case (is Double.Type, .number(let number)): if let number = number as? Value { return number }
        case (is Double.Type, .integer(let number)): if let number = Double(number) as? Value { return number }
        case (is String.Type, _), (is Bool.Type, _), (is any FixedWidthInteger.Type, _), (is Double.Type, _):
            throw Self.mismatch(Value.self, node)
        default: break
        }
        return try Value(from: NodeDecoder(node))
    }

    private static func mismatch(_ type: any Any.Type, _ node: JSONNode) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [], debugDescription: "found \(node.kind)"))
    }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = self.node else {
            throw Self.mismatch(JSONObject.self, self.node)
        }
        return KeyedDecodingContainer(Keyed(members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = self.node else {
            throw Self.mismatch([JSONNode].self, self.node)
        }
        return Unkeyed(elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let codingPath: [any CodingKey] = []
        let members: JSONObject

        var allKeys: [Key] { self.members.keys.compactMap { Key(stringValue: $0) } }

        private func node(_ key: any CodingKey) -> JSONNode { self.members[key.stringValue] ?? .null }

        func contains(_ key: Key) -> Bool { self.members[key.stringValue] != nil }
        func decodeNil(forKey key: Key) -> Bool { self.node(key) == .null }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try NodeDecoder.value(type, from: self.node(key))
        }

        private func decoder(_ key: any CodingKey) -> NodeDecoder { NodeDecoder(self.node(key)) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try self.decoder(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try self.decoder(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { NodeDecoder(.object(self.members)) }
        func superDecoder(forKey key: Key) throws -> any Decoder { self.decoder(key) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        let codingPath: [any CodingKey] = []
        let elements: [JSONNode]
        var currentIndex = 0

        var count: Int? { self.elements.count }
        var isAtEnd: Bool { self.currentIndex == self.elements.count }

        private mutating func next() throws -> JSONNode {
            guard !self.isAtEnd else {
                let context = DecodingError.Context(codingPath: [], debugDescription: "the list ends early")
                throw DecodingError.valueNotFound(JSONNode.self, context)
            }
            defer { self.currentIndex += 1 }
            return self.elements[self.currentIndex]
        }

        mutating func decodeNil() throws -> Bool {
            guard !self.isAtEnd, self.elements[self.currentIndex] == .null else { return false }
            self.currentIndex += 1
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try NodeDecoder.value(type, from: try self.next(), isElement: true)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            try NodeDecoder(try self.next()).container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try NodeDecoder(try self.next()).unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder { NodeDecoder(try self.next()) }
    }
}

extension NodeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { self.node == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Self.value(type, from: self.node)
    }
}
