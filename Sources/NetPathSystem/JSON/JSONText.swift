// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Writes a JSON document (RFC 8259) piece by piece, in the order it stands: the bytes of one line.
///
/// To build a value first and write it afterwards costs five times as much (200,000 instructions a line), and every event
/// passes here.
///
/// Not an `Encoder`: `JSONEncoder` sorts the keys or shuffles them, and a person reads these lines from left to right.
package struct JSONText {
    /// The text, and room for more behind it.
    ///
    /// Not appended to: an array looks after itself at every byte.
    private var room: [UInt8]
    private var count = 0
    /// Whether the next piece needs a comma before it.
    private var followsValue = false

    private init(room: consuming [UInt8]) {
        self.room = room
    }

    /// Writes a document and a line feed into an array from its beginning on, and lengthens it where that is needed.
    ///
    /// - Returns: How many bytes were written.
    package static func line(in room: inout [UInt8], _ body: (inout JSONText) -> Void) -> Int {
        // Taken, not copied, and given back.
        var text = JSONText(room: exchange(&room, with: []))
        body(&text)
        text.put(UInt8(ascii: "\n"))
        room = text.room
        return text.count
    }

    /// Writes a document and a line feed.
    package static func line(_ body: (inout JSONText) -> Void) -> [UInt8] {
        var room: [UInt8] = []
        let count = self.line(in: &room, body)
        return Array(room[..<count])
    }

    private mutating func makeRoom(_ bytes: Int) {
        let missing = self.count + bytes - self.room.count
        if missing > 0 { self.room.append(contentsOf: repeatElement(0, count: missing + self.room.count)) }
    }

    private mutating func put(_ byte: UInt8) {
        if self.count == self.room.count { self.makeRoom(1) }
        self.room[self.count] = byte
        self.count += 1
    }

    private mutating func put(_ text: String) {
        for byte in text.utf8 { self.put(byte) }
    }

    private mutating func separate() {
        if self.followsValue { self.put(UInt8(ascii: ",")) }
        self.followsValue = true
    }

    private mutating func begin(_ bracket: Unicode.Scalar) {
        self.separate()
        self.put(UInt8(ascii: bracket))
        self.followsValue = false
    }

    private mutating func end(_ bracket: Unicode.Scalar) {
        self.put(UInt8(ascii: bracket))
        self.followsValue = true
    }

    package mutating func beginArray() { self.begin("[") }
    package mutating func endArray() { self.end("]") }
    package mutating func beginObject() { self.begin("{") }
    package mutating func endObject() { self.end("}") }
    package mutating func null() { self.put("null", as: .literal) }
    package mutating func bool(_ value: Bool) { self.put(value ? "true" : "false", as: .literal) }

    /// Writes a number; null where it is none.
    package mutating func number(_ value: Double) { self.putPlain(value.isFinite ? "\(value)" : "null", as: .literal) }

    package mutating func integer(_ value: Int64) {
        self.separate()
        if value < 0 { self.put(UInt8(ascii: "-")) }
        var unit: UInt64 = 1
        while value.magnitude / unit >= 10 { unit *= 10 }
        while unit > 0 {
            self.put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value.magnitude / unit % 10))
            unit /= 10
        }
    }

    /// Begins a member of an object, whose name the program has, in characters that stand for themselves; its value follows.
    package mutating func key(_ name: StaticString) { self.put(name, as: .key) }

    /// Begins a member of an object; its value follows.
    package mutating func key(_ name: String) {
        if self.putPlain(name, as: .key) { return }
        self.string(name)
        self.put(UInt8(ascii: ":"))
        self.followsValue = false
    }

    /// Writes a value that is JSON already.
    package mutating func json(_ text: String) {
        self.separate()
        self.put(text)
    }

    package mutating func string(_ value: String) {
        // Nearly every string is plain ASCII.
        if self.putPlain(value, as: .string) { return }
        self.separate()
        self.put(UInt8(ascii: "\""))
        for scalar in value.unicodeScalars { self.append(scalar) }
        self.put(UInt8(ascii: "\""))
    }

    /// What goes around a text.
    private enum Role {
        case literal
        case string
        case key
    }

    /// Writes a text whose bytes stand for themselves; returns false, and writes nothing, when they do not.
    @discardableResult
    private mutating func putPlain(_ text: String, as role: Role) -> Bool {
        unsafe text.utf8.span.withUnsafeBytes { text in
            // From the space to the tilde but for the quote and the backslash; small letters are found first.
            let isPlain = unsafe text.allSatisfy { byte in
                byte &- 0x5D <= 0x21 || byte &- 0x23 <= 0x38 || byte &- 0x20 <= 0x01
            }
            if isPlain { unsafe self.put(text, as: role) }
            return isPlain
        }
    }

    /// Writes what the program itself says: most of a line.
    private mutating func put(_ text: StaticString, as role: Role) {
        text.withUTF8Buffer { unsafe self.put(UnsafeRawBufferPointer($0), as: role) }
    }

    /// Writes a text as it is, and what goes around it.
    private mutating func put(_ text: UnsafeRawBufferPointer, as role: Role) {
        let count = text.count
        // A comma, two quotes and a colon.
        self.makeRoom(count &+ 4)
        var end = self.count
        let followsValue = self.followsValue
        unsafe self.room.withUnsafeMutableBytes { room in
            guard let room = room.baseAddress else { return }
            if followsValue {
                unsafe room.storeBytes(of: UInt8(ascii: ","), toByteOffset: end, as: UInt8.self)
                end &+= 1
            }
            // What the text or the next piece then overwrites costs less than to ask twice.
            unsafe room.storeBytes(of: UInt8(ascii: "\""), toByteOffset: end, as: UInt8.self)
            if role != .literal { end &+= 1 }
            if let text = text.baseAddress { unsafe (room + end).copyMemory(from: text, byteCount: count) }
            end &+= count
            unsafe room.storeBytes(of: UInt8(ascii: "\""), toByteOffset: end, as: UInt8.self)
            unsafe room.storeBytes(of: UInt8(ascii: ":"), toByteOffset: end &+ 1, as: UInt8.self)
            if role != .literal { end &+= role == .key ? 2 : 1 }
        }
        self.count = end
        self.followsValue = role != .key
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": self.put("\\\"")
        case "\\": self.put("\\\\")
        case "\n": self.put("\\n")
        case "\r": self.put("\\r")
        case "\t": self.put("\\t")
        default:
            // RFC 8259 asks for the escape of U+0000 to U+001F alone; C1 controls and bidirectional overrides act on a
            // terminal as well, and their escape is the same string to a parser.
            if scalar.isPrintable {
                self.put(String(scalar))
            } else {
                for unit in String(scalar).utf16 { self.put(Self.escape(unit)) }
            }
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
