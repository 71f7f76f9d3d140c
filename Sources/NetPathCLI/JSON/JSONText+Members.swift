// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

// Here, where they are called: a generic function of another module would not be specialized.
extension JSONText {
    /// Writes an object, whose members the body writes.
    mutating func object(_ members: (inout JSONText) -> Void) {
        self.beginObject()
        members(&self)
        self.endObject()
    }

    // MARK: Members

    /// Writes a member whose value the body writes.
    mutating func member(_ key: StaticString, _ value: (inout JSONText) -> Void) {
        self.key(key)
        value(&self)
    }

    /// Writes a member that is a string, or null.
    mutating func member(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { self.string(value) } else { self.null() }
    }

    /// Writes a member that is a boolean, or null.
    mutating func member(_ key: StaticString, _ value: Bool?) {
        self.key(key)
        if let value { self.bool(value) } else { self.null() }
    }

    /// Writes a member that is an integer, or null; what does not fit is the nearest that does.
    mutating func member(_ key: StaticString, _ value: (some BinaryInteger)?) {
        self.key(key)
        if let value { self.integer(Int64(clamping: value)) } else { self.null() }
    }

    /// Writes a member that is an array, each of whose elements the body writes, or null.
    mutating func member<Element>(
        _ key: StaticString,
        _ elements: (some Sequence<Element>)?,
        _ body: (inout JSONText, Element) -> Void
    ) {
        self.key(key)
        guard let elements else { return self.null() }
        self.beginArray()
        for element in elements { body(&self, element) }
        self.endArray()
    }

    /// Writes a member that is a list of strings.
    mutating func member(_ key: StaticString, _ values: some Sequence<String>) {
        self.member(key, values) { $0.string($1) }
    }
}
