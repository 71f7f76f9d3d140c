// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Reads untrusted JSON (RFC 8259): strictly, and never more of it than the limits allow.
///
/// Foundation's reader takes what is not JSON, keeps one of two members of the same name, and would be a third of the
/// program.
package struct JSONReader {
    /// How deep arrays and objects may lie in one another.
    package static let depthLimit = 32
    /// How many values a text may hold: what bounds the memory, since a value takes more than its bytes.
    package static let valueLimit = 16_384

    private let bytes: ArraySlice<UInt8>
    private let valueLimit: Int
    private var position: Int
    private var values = 0

    /// Reads one value that takes the whole text.
    package static func read(
        _ bytes: ArraySlice<UInt8>,
        valueLimit: Int = JSONReader.valueLimit
    ) throws(JSONFault) -> JSONNode {
        var reader = JSONReader(bytes: bytes, valueLimit: valueLimit, position: bytes.startIndex)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.endIndex else { throw reader.fault("has something after its end") }
        return value
    }

    // MARK: Bytes

    private func fault(_ text: String) -> JSONFault {
        JSONFault(description: text, offset: self.position - self.bytes.startIndex)
    }

    private var next: UInt8? { self.position < self.bytes.endIndex ? self.bytes[self.position] : nil }

    private mutating func skipSpace() {
        while let next, next == 0x20 || next == 0x09 || next == 0x0A || next == 0x0D { self.position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.next == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let text = word.description.utf8
        guard self.bytes[self.position...].starts(with: text) else { return false }
        self.position += text.count
        return true
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONFault) -> JSONNode {
        self.values += 1
        guard self.values <= self.valueLimit else { throw self.fault("holds more than \(self.valueLimit) values") }
        guard depth <= Self.depthLimit else { throw self.fault("is nested more than \(Self.depthLimit) levels deep") }
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "{"): return .object(try self.object(depth: depth))
        case UInt8(ascii: "["): return .array(try self.array(depth: depth))
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t") where self.take("true"): return .bool(true)
        case UInt8(ascii: "f") where self.take("false"): return .bool(false)
        case UInt8(ascii: "n") where self.take("null"): return .null
        case UInt8(ascii: "-"): return try self.number()
        case nil: throw self.fault("ends too early")
        case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): return try self.number()
        case let byte?:
            let isSign = (0x21...0x7E).contains(byte)
            let found = isSign ? "'\(Character(UnicodeScalar(byte)))'" : "a byte of the value \(byte)"
            throw self.fault("is not JSON: no value begins with \(found),")
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) -> JSONObject {
        var members: JSONObject = [:]
        var names: Set<String> = []
        self.position += 1
        self.skipSpace()
        if self.take(UInt8(ascii: "}")) { return members }
        while true {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\"") else { throw self.fault("lacks the name of a member") }
            let name = try self.string()
            self.skipSpace()
            guard self.take(UInt8(ascii: ":")) else { throw self.fault("lacks a colon") }
            // Which of the two counts differs from reader to reader.
            guard names.insert(name).inserted else { throw self.fault("has two members of one name") }
            members.append(name, try self.value(depth: depth + 1))
            self.skipSpace()
            if self.take(UInt8(ascii: "}")) { return members }
            guard self.take(UInt8(ascii: ",")) else { throw self.fault("lacks a comma or the end of an object") }
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) -> [JSONNode] {
        var elements: [JSONNode] = []
        self.position += 1
        self.skipSpace()
        if self.take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try self.value(depth: depth + 1))
            self.skipSpace()
            if self.take(UInt8(ascii: "]")) { return elements }
            guard self.take(UInt8(ascii: ",")) else { throw self.fault("lacks a comma or the end of a list") }
        }
    }

    private mutating func number() throws(JSONFault) -> JSONNode {
        let begin = self.position
        var isWhole = true
        _ = self.take(UInt8(ascii: "-"))
        if !self.take(UInt8(ascii: "0")) { try self.digits() }
        if self.take(UInt8(ascii: ".")) {
            isWhole = false
            try self.digits()
        }
        if self.take(UInt8(ascii: "e")) || self.take(UInt8(ascii: "E")) {
            isWhole = false
            if !self.take(UInt8(ascii: "+")) { _ = self.take(UInt8(ascii: "-")) }
            try self.digits()
        }
        guard self.position - begin <= 64 else { throw self.fault("has a number of more than 64 digits") }
        let text = String(decoding: self.bytes[begin..<self.position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw self.fault("has a number that is too large") }
        return .number(number)
    }

    private mutating func digits() throws(JSONFault) {
        let begin = self.position
        while let next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { self.position += 1 }
        guard self.position > begin else { throw self.fault("has a number without digits") }
    }
}

// MARK: - Text

extension JSONReader {
    private mutating func string() throws(JSONFault) -> String {
        self.position += 1
        var text: [UInt8] = []
        while true {
            let begin = self.position
            while let next, next >= 0x20, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\") { self.position += 1 }
            text += self.bytes[begin..<self.position]
            switch self.next {
            case UInt8(ascii: "\""):
                self.position += 1
                guard let text = String(validating: text, as: UTF8.self)
                else { throw self.fault("has text that is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): try self.escape(into: &text)
            case nil: throw self.fault("ends within text")
            default: throw self.fault("has a control character within text")
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        self.position += 1
        guard let letter = self.next else { throw self.fault("ends within text") }
        self.position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var units = [try self.codeUnit()]
            if UTF16.isLeadSurrogate(units[0]), self.take("\\u") { units.append(try self.codeUnit()) }
            guard let character = String(validating: units, as: UTF16.self)
            else { throw self.fault("has half a character") }
            text += character.utf8
        default: throw self.fault("has an unknown escape")
        }
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        let digits = self.bytes[self.position...].prefix(4)
        // `UInt16` would take a sign.
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw self.fault("has an escape without four hexadecimal digits") }
        self.position += 4
        return unit
    }
}
