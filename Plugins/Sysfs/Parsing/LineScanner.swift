// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Walks over the words of the kernel's text tables, one line at a time.
///
/// Whatever the bytes are, every call moves on and none reads past the end. The text is not stored but handed to every
/// call: it lies in a buffer that is used again.
struct LineScanner {
    private var position = 0
    private var end = 0

    /// Whether the line ends with the text and not with a line break, so that something may be missing.
    private(set) var isCut = false

    /// Goes to the next line; false when there is none.
    mutating func nextLine(in text: Span<UInt8>) -> Bool {
        self.position = self.end
        guard self.position < text.count else { return false }
        var end = self.position
        while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
        self.isCut = end == text.count
        // The break belongs to the line it ends, and is no word.
        self.end = min(end + 1, text.count)
        return true
    }

    /// Goes to the next word of the line and tells where it is; empty when there is none.
    mutating func nextWord(in text: Span<UInt8>) -> Range<Int> {
        while self.position < self.end, Self.isBlank(text[self.position]) { self.position += 1 }
        let start = self.position
        while self.position < self.end, !Self.isBlank(text[self.position]) { self.position += 1 }
        return start..<self.position
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
    }
}

extension Span<UInt8> {
    /// A decimal number in a range of the text; nil for anything else and for numbers beyond 64 bits.
    func decimal(_ range: Range<Int>) -> UInt64? {
        guard (1...19).contains(range.count), range.upperBound <= self.count else { return nil }
        var number: UInt64 = 0
        for position in range {
            let byte = self[position]
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    /// A hexadecimal number of at most 64 bits.
    func hexadecimal(_ range: Range<Int>) -> UInt64? {
        guard (1...16).contains(range.count), range.upperBound <= self.count else { return nil }
        var number: UInt64 = 0
        for position in range {
            guard let digit = Self.digit(self[position]) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }

    /// 32 hexadecimal digits, the notation of IPv6 addresses in procfs.
    func hexadecimal128(_ range: Range<Int>) -> UInt128? {
        guard range.count == 32, let high = self.hexadecimal(range.prefix(16)),
            let low = self.hexadecimal(range.suffix(16))
        else { return nil }
        return UInt128(high) << 64 | UInt128(low)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Whether a range of the text is this word.
    func isWord(_ word: String, at range: Range<Int>) -> Bool {
        guard range.count == word.utf8.count, range.upperBound <= self.count else { return false }
        for (position, byte) in zip(range, word.utf8) where self[position] != byte { return false }
        return true
    }

    /// The text of a range; nil unless the kernel would accept it as the name of an interface.
    func interfaceName(_ range: Range<Int>) -> String? {
        guard (1...15).contains(range.count), range.upperBound <= self.count else { return nil }
        for position in range {
            let byte = self[position]
            guard byte > 0x20, byte != UInt8(ascii: "/"), byte != UInt8(ascii: ":") else { return nil }
        }
        let name = self.string(range)
        return name == "." || name == ".." ? nil : name
    }

    /// The text of a range.
    func string(_ range: Range<Int>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        for position in range { bytes.append(self[position]) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
