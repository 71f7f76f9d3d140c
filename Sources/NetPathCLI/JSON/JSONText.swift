// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// JSON as text: the octets of one line.
struct JSONText: JSONSink {
    private(set) var octets: [UInt8] = []
    /// Whether the next piece needs a comma before it.
    private var followsValue = false

    /// Writes a document and a line feed.
    static func line(_ body: (inout JSONText) -> Void) -> [UInt8] {
        var text = JSONText()
        // A path with one interface has about 900 octets.
        text.octets.reserveCapacity(2_000)
        body(&text)
        text.octets.append(UInt8(ascii: "\n"))
        return text.octets
    }

    private mutating func separate() {
        if self.followsValue { self.octets.append(UInt8(ascii: ",")) }
        self.followsValue = true
    }

    private mutating func begin(_ bracket: Unicode.Scalar) {
        self.separate()
        self.octets.append(UInt8(ascii: bracket))
        self.followsValue = false
    }

    private mutating func end(_ bracket: Unicode.Scalar) {
        self.octets.append(UInt8(ascii: bracket))
        self.followsValue = true
    }

    private mutating func literal(_ text: String) {
        self.separate()
        self.octets += text.utf8
    }

    mutating func beginArray() { self.begin("[") }
    mutating func endArray() { self.end("]") }
    mutating func beginObject() { self.begin("{") }
    mutating func endObject() { self.end("}") }
    mutating func null() { self.literal("null") }
    mutating func bool(_ value: Bool) { self.literal(value ? "true" : "false") }
    mutating func integer(_ value: Int64) { self.literal(String(value)) }

    mutating func key(_ name: String) {
        self.string(name)
        self.octets.append(UInt8(ascii: ":"))
        self.followsValue = false
    }

    mutating func string(_ value: String) {
        self.separate()
        self.octets.append(UInt8(ascii: "\""))
        // Nearly every string is plain ASCII.
        if Self.isPlain(value.utf8.span) {
            self.octets += value.utf8
        } else {
            for scalar in value.unicodeScalars { self.append(scalar) }
        }
        self.octets.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        for position in text.indices {
            let octet = text[position]
            if octet < 0x20 || octet > 0x7E || octet == 0x22 || octet == 0x5C { return false }
        }
        return true
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": self.octets += "\\\"".utf8
        case "\\": self.octets += "\\\\".utf8
        case "\n": self.octets += "\\n".utf8
        case "\r": self.octets += "\\r".utf8
        case "\t": self.octets += "\\t".utf8
        default:
            if scalar.isInert {
                self.octets += String(scalar).utf8
            } else {
                for unit in String(scalar).utf16 { self.octets += Self.escape(unit).utf8 }
            }
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension Unicode.Scalar {
    /// Whether a terminal only shows the scalar.
    ///
    /// RFC 8259 asks for the escape of U+0000 to U+001F alone; C1 controls and bidirectional overrides act on a
    /// terminal as well, and their escape is the same string to a parser.
    fileprivate var isInert: Bool {
        if self.isASCII { return (0x20..<0x7F).contains(self.value) }
        return switch self.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
