// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What of evidence and settings is not coded as its parts are. The form is that of recordings, not of netpath's JSON.

extension MonotonicTime: Codable {
    /// How far from the boot a moment may lie that is decoded: 73 years.
    package static let codedLimit = Int64(1) << 61

    /// Reads nanoseconds since boot.
    ///
    /// - Throws: `DecodingError` when no clock that counts from a boot shows it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let nanoseconds = try container.decode(Int64.self)
        guard nanoseconds.magnitude < Self.codedLimit.magnitude else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(nanoseconds) is no moment")
        }
        self.init(nanoseconds: nanoseconds)
    }

    /// Writes nanoseconds since boot.
    public func encode(to encoder: any Encoder) throws {
        try self.nanoseconds.encode(to: encoder)
    }
}

extension EqualityIgnored: Codable where Value: Codable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        try self.wrappedValue.encode(to: encoder)
    }
}

extension Shared: Codable where Value: Codable {
    package convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }

    package func encode(to encoder: any Encoder) throws {
        try self.value.encode(to: encoder)
    }
}

extension InternetAddress: Codable {
    /// Reads the text of an address.
    ///
    /// - Throws: `DecodingError` when it is none.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(of: "an address") { InternetAddress($0) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        try self.description.encode(to: encoder)
    }
}

extension AddressPrefix: Codable {
    /// Reads CIDR notation.
    ///
    /// - Throws: `DecodingError` when it is none.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(of: "a prefix") { AddressPrefix($0) }
    }

    /// Writes CIDR notation.
    public func encode(to encoder: any Encoder) throws {
        try self.description.encode(to: encoder)
    }
}

extension GlobPattern: Codable {
    /// Reads a pattern as it was written.
    ///
    /// - Throws: `DecodingError` when it is none.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(of: "a pattern") { GlobPattern($0) }
    }

    /// Writes the pattern as it was written.
    public func encode(to encoder: any Encoder) throws {
        try self.description.encode(to: encoder)
    }
}

extension Decoder {
    /// Reads a value from its text.
    fileprivate func value<Value>(of kind: String, from read: (String) -> Value?) throws -> Value {
        let container = try self.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = read(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not \(kind)")
        }
        return value
    }
}
