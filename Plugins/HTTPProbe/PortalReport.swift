// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a network says of its own portal (RFC 8908, 5).
struct PortalReport: Hashable, Sendable {
    /// Whether somebody has to sign in.
    var isCaptive: Bool
    /// Where.
    var userPortalURL: String?

    /// Reads an answer of the interface; nil when it says nothing of the kind.
    init?(_ bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        guard let members = scanner.object(), case .boolean(let isCaptive)? = members["captive"] else { return nil }
        self.isCaptive = isCaptive
        if case .text(let url)? = members["user-portal-url"] { self.userPortalURL = WebAddress(url)?.text }
    }
}

/// Reads the members of one object of JSON (RFC 8259); what is nested is passed over.
private struct JSONScanner {
    enum Value: Hashable {
        case boolean(Bool)
        case text(String)
        case other
    }

    private var rest: ArraySlice<UInt8>
    private static let depthLimit = 16

    init(_ bytes: [UInt8]) {
        self.rest = bytes[...]
    }

    /// The members of the object that is all there is; nil when it is none.
    mutating func object() -> [String: Value]? {
        var members: [String: Value] = [:]
        guard self.takes("{") else { return nil }
        if !self.takes("}") {
            repeat {
                guard let key = self.string(), self.takes(":"), let value = self.value(depth: 1) else { return nil }
                members[key] = value
            } while self.takes(",")
            guard self.takes("}") else { return nil }
        }
        self.skipSpace()
        return self.rest.isEmpty ? members : nil
    }

    private mutating func value(depth: Int) -> Value? {
        guard depth < Self.depthLimit else { return nil }
        self.skipSpace()
        switch self.rest.first {
        case UInt8(ascii: "\""): return self.string().map(Value.text)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return self.skipNested(depth: depth) ? .other : nil
        default:
            let word = self.rest.prefix { !",]} \t\r\n".utf8.contains($0) }
            self.rest = self.rest.dropFirst(word.count)
            switch String(decoding: word, as: UTF8.self) {
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            case "": return nil
            default: return .other
            }
        }
    }

    private mutating func skipNested(depth: Int) -> Bool {
        let isObject = self.takes("{")
        if !isObject, !self.takes("[") { return false }
        let end = isObject ? "}" : "]"
        if self.takes(end) { return true }
        repeat {
            if isObject, self.string() == nil || !self.takes(":") { return false }
            if self.value(depth: depth + 1) == nil { return false }
        } while self.takes(",")
        return self.takes(end)
    }

    private mutating func string() -> String? {
        guard self.takes("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = self.rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.rest.popFirst() else { return nil }
                switch escaped {
                case UInt8(ascii: "u"):
                    let digits = self.rest.prefix(4)
                    guard digits.count == 4, let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
                    else { return nil }
                    self.rest = self.rest.dropFirst(4)
                    // Half of a pair stands for nothing that could be in an address.
                    bytes += Array(String(Unicode.Scalar(number).map(Character.init) ?? "\u{FFFD}").utf8)
                case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
                    bytes.append(UInt8(ascii: " "))
                default: bytes.append(escaped)
                }
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func skipSpace() { self.rest = self.rest.drop { " \t\r\n".utf8.contains($0) } }

    /// Takes one character after any space.
    private mutating func takes(_ character: String) -> Bool {
        self.skipSpace()
        guard self.rest.first == character.utf8.first else { return false }
        self.rest = self.rest.dropFirst()
        return true
    }
}
