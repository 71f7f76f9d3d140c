// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A JSON value (RFC 8259) whose objects keep the order of their keys.
package enum OrderedJSON: Hashable, Sendable {
    /// A member of an object.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: OrderedJSON

        package init(key: String, value: OrderedJSON) {
            self.key = key
            self.value = value
        }
    }

    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([OrderedJSON])
    case object([Member])

    /// The text on one line, without a final line feed.
    package var line: String {
        String(decoding: JSONText.line(self.write).dropLast(), as: UTF8.self)
    }

    /// Writes the value to a sink.
    func write(to sink: inout some JSONSink) {
        switch self {
        case .null: sink.null()
        case .bool(let value): sink.bool(value)
        case .integer(let value): sink.integer(value)
        case .string(let value): sink.string(value)
        case .array(let elements): sink.array(elements) { $1.write(to: &$0) }
        case .object(let members):
            sink.object { for member in members { $0.member(member.key, member.value.write) } }
        }
    }
}

/// Makes a value of the pieces of a document.
struct OrderedJSONBuilder: JSONSink {
    private enum Container {
        case array([OrderedJSON])
        case object([OrderedJSON.Member], key: String)
    }

    private var open: [Container] = []
    private var result: OrderedJSON = .null

    /// Makes the value that the body writes.
    static func value(_ body: (inout OrderedJSONBuilder) -> Void) -> OrderedJSON {
        var builder = OrderedJSONBuilder()
        body(&builder)
        return builder.result
    }

    private mutating func put(_ value: OrderedJSON) {
        switch self.open.popLast() {
        case .array(var elements):
            elements.append(value)
            self.open.append(.array(elements))
        case .object(var members, let key):
            members.append(OrderedJSON.Member(key: key, value: value))
            self.open.append(.object(members, key: ""))
        case nil: self.result = value
        }
    }

    mutating func null() { self.put(.null) }
    mutating func bool(_ value: Bool) { self.put(.bool(value)) }
    mutating func integer(_ value: Int64) { self.put(.integer(value)) }
    mutating func string(_ value: String) { self.put(.string(value)) }
    mutating func beginArray() { self.open.append(.array([])) }
    mutating func beginObject() { self.open.append(.object([], key: "")) }

    mutating func key(_ name: String) {
        if case .object(let members, _) = self.open.popLast() { self.open.append(.object(members, key: name)) }
    }

    mutating func endArray() {
        if case .array(let elements) = self.open.popLast() { self.put(.array(elements)) }
    }

    mutating func endObject() {
        if case .object(let members, _) = self.open.popLast() { self.put(.object(members)) }
    }
}

// MARK: - Making values

extension OrderedJSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    package init(dictionaryLiteral elements: (String, OrderedJSON)...) {
        self = .object(elements.map(Member.init))
    }

    package init(arrayLiteral elements: OrderedJSON...) {
        self = .array(elements)
    }
}

extension OrderedJSON {
    /// A string, or null.
    package static func optional(_ value: String?) -> OrderedJSON { value.map(OrderedJSON.string) ?? .null }

    /// An integer, or null.
    package static func optional(_ value: (some BinaryInteger)?) -> OrderedJSON {
        if let value { .integer(value) } else { .null }
    }

    /// A boolean, or null.
    package static func optional(_ value: Bool?) -> OrderedJSON { value.map(OrderedJSON.bool) ?? .null }

    /// An integer of any size; what does not fit is the nearest that does.
    package static func integer(_ value: some BinaryInteger) -> OrderedJSON { .integer(Int64(clamping: value)) }

    /// A list of strings.
    package static func strings(_ values: some Sequence<String>) -> OrderedJSON {
        .array(values.map(OrderedJSON.string))
    }

    /// A string as it is, save for what could act on a terminal; everything else as JSON.
    var plainText: String { if case .string(let text) = self { text.printable(limit: .max) } else { self.line } }

    /// The members of an object; empty for everything else.
    package var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
