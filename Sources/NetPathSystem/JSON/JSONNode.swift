// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A JSON value (RFC 8259): one that was read, or one to write.
package enum JSONNode: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that is no integer, or too large for one.
    case number(Double)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)

    /// The member of an object; nil when it is absent or null, or this is no object, to which none can be added.
    package subscript(name: String) -> JSONNode? {
        get {
            guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
            return value
        }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
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

    /// The members of an object; empty for everything else.
    package var members: [JSONObject.Member] { if case .object(let object) = self { Array(object) } else { [] } }

    /// Writes the value, the members of objects in the order in which they stand.
    package func write(to text: inout JSONText) {
        switch self {
        case .null: text.null()
        case .bool(let value): text.bool(value)
        case .integer(let value): text.integer(value)
        case .number(let value): text.number(value)
        case .string(let value): text.string(value)
        case .array(let elements):
            text.beginArray()
            for element in elements { element.write(to: &text) }
            text.endArray()
        case .object(let members):
            text.beginObject()
            for member in members {
                text.key(member.key)
                member.value.write(to: &text)
            }
            text.endObject()
        }
    }
}

/// The members of an object, in the order in which they stand; which order that is makes no difference between two.
package struct JSONObject: Hashable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    package typealias Member = (key: String, value: JSONNode)

    private var members: [Member]

    /// Members of different names.
    package init(_ members: [Member]) {
        self.members = members
    }

    package init(dictionaryLiteral elements: (String, JSONNode)...) {
        self.members = elements.map { (key: $0, value: $1) }
    }

    package var count: Int { self.members.count }
    package var keys: [String] { self.members.map(\.key) }

    package subscript(name: String) -> JSONNode? {
        get { self.members.first { $0.key == name }?.value }
        set {
            guard let index = self.members.firstIndex(where: { $0.key == name }) else {
                if let newValue { self.append(name, newValue) }
                return
            }
            if let newValue { self.members[index].value = newValue } else { self.members.remove(at: index) }
        }
    }

    /// Adds a member of a name that is not there.
    package mutating func append(_ key: String, _ value: JSONNode) { self.members.append((key: key, value: value)) }

    package func makeIterator() -> IndexingIterator<[Member]> { self.members.makeIterator() }

    package static func == (first: Self, second: Self) -> Bool {
        guard first.members.count == second.members.count else { return false }
        // Nearly always in the same order, in which no name has to be looked for.
        return zip(first.members, second.members).allSatisfy { $0.key == $1.key }
            ? zip(first.members, second.members).allSatisfy { $0.value == $1.value }
            : first.members.allSatisfy { second[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.members.count) }
}

/// Why a text is no JSON, or more of it than is taken.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, to be read after "it".
    package var description: String
    /// The byte at which that was noticed, from 0.
    package var offset: Int
}

// MARK: - Making values

extension JSONNode: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    package init(dictionaryLiteral elements: (String, JSONNode)...) {
        self = .object(elements.map { (key: $0, value: $1) })
    }

    package init(arrayLiteral elements: JSONNode...) {
        self = .array(elements)
    }
}

extension JSONNode {
    /// An object of members of different names.
    package static func object(_ members: [JSONObject.Member]) -> JSONNode { .object(JSONObject(members)) }

    /// A string, or null.
    package static func optional(_ value: String?) -> JSONNode { value.map(JSONNode.string) ?? .null }

    /// An integer, or null.
    package static func optional(_ value: (some BinaryInteger)?) -> JSONNode {
        if let value { .integer(value) } else { .null }
    }

    /// A boolean, or null.
    package static func optional(_ value: Bool?) -> JSONNode { value.map(JSONNode.bool) ?? .null }

    /// An integer of any size; what does not fit is the nearest that does.
    package static func integer(_ value: some BinaryInteger) -> JSONNode { .integer(Int64(clamping: value)) }

    /// A list of strings.
    package static func strings(_ values: some Sequence<String>) -> JSONNode { .array(values.map(JSONNode.string)) }
}
