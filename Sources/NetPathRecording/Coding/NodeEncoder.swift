// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// Makes JSON of values that are `Encodable`; what is nil is left out.
///
/// Foundation's encoder would be a third of the program, and makes text, of which no differences can be taken.
struct NodeEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let slot: Slot

    /// Where a value is put together.
    final class Slot {
        var value = JSONNode.null
        /// What is in it where it is an object, or a list.
        var members: [String: Slot]?
        var elements: [Slot]?

        var node: JSONNode {
            if let elements { return .array(elements.map(\.node)) }
            guard let members else { return self.value }
            return .object(
                members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.node) }
                    .filter { $0.value != .null }
            )
        }

        func member(_ key: any CodingKey) -> Slot {
            let slot = Slot()
            self.members?[key.stringValue] = slot
            return slot
        }

        func element() -> Slot {
            let slot = Slot()
            self.elements?.append(slot)
            return slot
        }

        func put(_ value: some Encodable) throws {
            // Not through containers of their own: these are nearly all there is.
            switch value {
            case let value as String: self.value = .string(value)
            case let value as Bool: self.value = .bool(value)
            case let value as any BinaryInteger:
                // What does not fit, as half of an attosecond count, is kept as text.
                self.value = Int64(exactly: value).map(JSONNode.integer) ?? .string("\(value)")
            case let value as Double: self.value = .number(value)
            default: try value.encode(to: NodeEncoder(slot: self))
            }
        }
    }

    private init(slot: Slot) {
        self.slot = slot
    }

    /// Encodes a value.
    static func node(of value: some Encodable) throws -> JSONNode {
        let slot = Slot()
        try slot.put(value)
        return slot.node
    }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        if self.slot.members == nil { self.slot.members = [:] }
        return KeyedEncodingContainer(Keyed(slot: self.slot))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if self.slot.elements == nil { self.slot.elements = [] }
        return Unkeyed(slot: self.slot)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let codingPath: [any CodingKey] = []
        let slot: Slot

        func encodeNil(forKey _: Key) {}
        func encode(_ value: some Encodable, forKey key: Key) throws { try self.slot.member(key).put(value) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            NodeEncoder(slot: self.slot.member(key)).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            NodeEncoder(slot: self.slot.member(key)).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { NodeEncoder(slot: self.slot) }
        func superEncoder(forKey key: Key) -> any Encoder { NodeEncoder(slot: self.slot.member(key)) }
    }

    private struct Unkeyed: UnkeyedEncodingContainer {
        let codingPath: [any CodingKey] = []
        let slot: Slot

        var count: Int { self.slot.elements?.count ?? 0 }

        func encodeNil() { _ = self.slot.element() }
        func encode(_ value: some Encodable) throws { try self.slot.element().put(value) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            NodeEncoder(slot: self.slot.element()).container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            NodeEncoder(slot: self.slot.element()).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { NodeEncoder(slot: self.slot.element()) }
    }
}

extension NodeEncoder: SingleValueEncodingContainer {
    func encodeNil() { self.slot.value = .null }
    func encode(_ value: some Encodable) throws { try self.slot.put(value) }
}
