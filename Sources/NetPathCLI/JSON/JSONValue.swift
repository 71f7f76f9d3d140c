// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A JSON value (RFC 8259) whose objects keep the order of their keys.
enum JSONValue: Hashable, Sendable {
    /// A member of an object.
    struct Member: Hashable, Sendable {
        var key: String
        var value: JSONValue
    }

    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// The text on one line, without a final line feed.
    var line: String {
        var text = ""
        text.reserveCapacity(2048)
        self.write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let elements):
            text += "["
            for (position, element) in elements.enumerated() {
                if position > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (position, member) in members.enumerated() {
                if position > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        defer { text += "\"" }
        // Nearly every string is plain ASCII, and stands on the way of every event.
        if string.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
            text += string
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if scalar.isInert {
                    text.unicodeScalars.append(scalar)
                } else {
                    for unit in String(scalar).utf16 { text += Self.escape(unit) }
                }
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

// MARK: - Making values

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map(Member.init))
    }

    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }
}

extension JSONValue {
    /// A string, or null.
    static func optional(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }

    /// An integer, or null.
    static func optional(_ value: (some BinaryInteger)?) -> JSONValue {
        if let value { .integer(value) } else { .null }
    }

    /// A boolean, or null.
    static func optional(_ value: Bool?) -> JSONValue { value.map(JSONValue.bool) ?? .null }

    /// An integer of any size; what does not fit is the nearest that does.
    static func integer(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    /// A list of strings.
    static func strings(_ values: some Sequence<String>) -> JSONValue { .array(values.map(JSONValue.string)) }

    /// A string as it is, save for what could act on a terminal; everything else as JSON.
    var plainText: String { if case .string(let text) = self { text.printable(limit: .max) } else { self.line } }

    /// The members of an object; empty for everything else.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
