// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension AddressPrefix {
    /// Parses an address and the length of its prefix in CIDR notation, such as `192.0.2.7/24`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let slash = text.lastIndex(of: "/"), let address = InternetAddress(text[..<slash]) else { return nil }
        let digits = text[text.index(after: slash)...]
        // Int() takes signs and leading zeros.
        guard let length = Int(digits), "\(length)" == digits, (0...address.bitWidth).contains(length)
        else { return nil }
        self.init(address, length: length)
    }
}

// Not inet_pton(3): this module has no C.
extension InternetAddress {
    /// Parses the textual form: dotted decimal for IPv4, RFC 4291 section 2.2 for IPv6; nil for anything else.
    ///
    /// A zone (`%eth0`), a prefix length, a port or leading zeros in an IPv4 byte are refused.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if bytes.contains(UInt8(ascii: ":")) {
            guard let bits = Self.parseIPv6(bytes) else { return nil }
            self.init(ipv6: bits)
        } else {
            guard let bits = Self.parseIPv4(bytes[...]) else { return nil }
            self.init(ipv4: bits)
        }
    }

    private static func parseIPv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        var (bits, value): (UInt32, UInt32) = (0, 0)
        var (digits, dots) = (0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // A leading zero may mean octal, or not (RFC 6943, 3.1.1).
                guard digits == 0 || value > 0 else { return nil }
                digits += 1
                value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
                guard value <= 255 else { return nil }
            case UInt8(ascii: "."):
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | value
                dots += 1
                (digits, value) = (0, 0)
            default: return nil
            }
        }
        guard digits > 0, dots == 3 else { return nil }
        return bits << 8 | value
    }

    private static func parseIPv6(_ text: [UInt8]) -> UInt128? {
        let colon = UInt8(ascii: ":")
        var gap: Int?
        var index = 0
        while index + 1 < text.count {
            if text[index] == colon, text[index + 1] == colon {
                guard gap == nil else { return nil }
                gap = index
                index += 1
            }
            index += 1
        }
        guard let gap else {
            guard let groups = Self.groups(text[...]), groups.count == 8 else { return nil }
            return Self.join(groups)
        }
        // A dotted IPv4 address is the end of the text, so it never stands before the gap.
        guard !text[..<gap].contains(UInt8(ascii: ".")), let head = Self.groups(text[..<gap]),
            let tail = Self.groups(text[(gap + 2)...]), head.count + tail.count <= 7
        else { return nil }
        return Self.join(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (position, part) in parts.enumerated() {
            if position == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let bits = Self.parseIPv4(part) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(part.count), part.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                    let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    private static func join(_ groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
    }
}

extension InternetAddress: CustomStringConvertible {
    /// The canonical text: dotted decimal for IPv4, RFC 5952 for IPv6.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(39)
        self.write(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the canonical text byte by byte: every event has some addresses, and numbers that are made into texts
    /// which are joined cost ten times as much.
    func write(to text: inout [UInt8]) {
        switch self.family {
        case .ipv4: self.writeDotted(to: &text)
        // RFC 5952 section 5: addresses whose low 32 bits hold an IPv4 address keep the dotted form.
        case .ipv6 where self.high == 0 && self.low >> 32 == 0xFFFF:
            text.append(contentsOf: "::ffff:".utf8)
            self.writeDotted(to: &text)
        case .ipv6: self.writeGroups(to: &text)
        }
    }

    private func writeDotted(to text: inout [UInt8]) {
        for shift in stride(from: UInt64(24), through: 0, by: -8) {
            text.append(decimal: UInt8(truncatingIfNeeded: self.low >> shift))
            if shift > 0 { text.append(UInt8(ascii: ".")) }
        }
    }

    private func writeGroups(to text: inout [UInt8]) {
        let gap = self.longestGap
        var position = 0
        while position < 8 {
            if position == gap.lowerBound, !gap.isEmpty {
                text.append(UInt8(ascii: ":"))
                text.append(UInt8(ascii: ":"))
                position = gap.upperBound
                continue
            }
            if position > 0, position != gap.upperBound { text.append(UInt8(ascii: ":")) }
            text.append(hexadecimal: self.group(position))
            position += 1
        }
    }

    /// The groups that are left out: the longest run of zeros that are more than one, the first of equals (RFC 5952, 4.2).
    private var longestGap: Range<Int> {
        var longest = 0..<0
        var start = 0
        for position in 0..<8 {
            if self.group(position) != 0 {
                start = position + 1
            } else if position + 1 - start > max(1, longest.count) {
                longest = start..<position + 1
            }
        }
        return longest
    }

    private func group(_ position: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (position < 4 ? self.high : self.low) &>> UInt64(16 * (3 - position & 3)))
    }
}

extension [UInt8] {
    mutating func append(decimal number: UInt8) {
        if number >= 100 { self.append(UInt8(ascii: "0") + number / 100) }
        if number >= 10 { self.append(UInt8(ascii: "0") + number / 10 % 10) }
        self.append(UInt8(ascii: "0") + number % 10)
    }

    fileprivate mutating func append(hexadecimal number: UInt16) {
        var shift: UInt16 = number > 0xFFF ? 12 : number > 0xFF ? 8 : number > 0xF ? 4 : 0
        while true {
            let digit = UInt8(truncatingIfNeeded: number &>> shift & 0xF)
            self.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            if shift == 0 { return }
            shift -= 4
        }
    }
}
