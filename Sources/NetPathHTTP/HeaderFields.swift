// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The fields of a request or a response, in order; names compare without regard to case (RFC 9110, 5.1).
public struct HeaderFields: Hashable, Sendable, Codable, ExpressibleByDictionaryLiteral {
    /// A field.
    public struct Field: Hashable, Sendable, Codable {
        /// The name, as it was given.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The fields, in order; names may repeat.
    public var fields: [Field]

    /// Creates headers of fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Creates headers as they are written in code.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.fields = elements.map { Field(name: $0, value: $1) }
    }

    /// The first value of that name; setting replaces all values of it, and nil removes them.
    public subscript(name: String) -> String? {
        get { self.fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            let name = (name, name.lowercased())
            self.fields.removeAll { $0.name.lowercased() == name.1 }
            if let newValue { self.fields.append(Field(name: name.0, value: newValue)) }
        }
    }
}
