// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Takes a JSON document (RFC 8259) piece by piece, in the order it is written.
///
/// A document that is described once can so become text at once, on the way of every event, or a value to look into:
/// building the value first and writing it afterwards costs five times as much (200,000 instructions a line).
///
/// Not an `Encoder`: `JSONEncoder` sorts the keys or shuffles them, and a person reads these lines from left to right.
protocol JSONSink {
    mutating func null()
    mutating func bool(_ value: Bool)
    mutating func integer(_ value: Int64)
    mutating func string(_ value: String)
    mutating func beginArray()
    mutating func endArray()
    mutating func beginObject()
    /// Begins a member of an object; its value follows.
    mutating func key(_ name: String)
    mutating func endObject()
}

extension JSONSink {
    /// Writes an object, whose members the body writes.
    mutating func object(_ members: (inout Self) -> Void) {
        self.beginObject()
        members(&self)
        self.endObject()
    }

    /// Writes an array, each of whose elements the body writes.
    mutating func array<Element>(_ elements: some Sequence<Element>, _ body: (inout Self, Element) -> Void) {
        self.beginArray()
        for element in elements { body(&self, element) }
        self.endArray()
    }

    /// Writes a string, or null.
    mutating func string(_ value: String?) {
        if let value { self.string(value) } else { self.null() }
    }

    // MARK: Members

    /// Writes a member whose value the body writes.
    mutating func member(_ key: String, _ value: (inout Self) -> Void) {
        self.key(key)
        value(&self)
    }

    /// Writes a member that is a string, or null.
    mutating func member(_ key: String, _ value: String?) {
        self.key(key)
        self.string(value)
    }

    /// Writes a member that is a boolean, or null.
    mutating func member(_ key: String, _ value: Bool?) {
        self.key(key)
        if let value { self.bool(value) } else { self.null() }
    }

    /// Writes a member that is an integer, or null; what does not fit is the nearest that does.
    mutating func member(_ key: String, _ value: (some BinaryInteger)?) {
        self.key(key)
        if let value { self.integer(Int64(clamping: value)) } else { self.null() }
    }

    /// Writes a member that is an array, each of whose elements the body writes.
    mutating func member<Element>(
        _ key: String,
        _ elements: some Sequence<Element>,
        _ body: (inout Self, Element) -> Void
    ) {
        self.key(key)
        self.array(elements, body)
    }

    /// Writes a member that is a list of strings.
    mutating func member(_ key: String, _ values: some Sequence<String>) {
        self.member(key, values) { $0.string($1) }
    }
}
