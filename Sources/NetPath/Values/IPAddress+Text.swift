// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension IPAddress {
    /// Parses the textual form: dotted decimal for IPv4, RFC 4291 section 2.2 for IPv6; nil for anything else.
    ///
    /// A zone (`%eth0`), a prefix length, a port or leading zeros in an IPv4 octet are refused.
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
        var (bits, octet): (UInt32, UInt32) = (0, 0)
        var (digits, dots) = (0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // A leading zero may mean octal, or not (RFC 6943, 3.1.1).
                guard digits == 0 || octet > 0 else { return nil }
                digits += 1
                octet = octet * 10 + UInt32(byte - UInt8(ascii: "0"))
                guard octet <= 255 else { return nil }
            case UInt8(ascii: "."):
                guard digits > 0, dots < 3 else { return nil }
                bits = bits << 8 | octet
                dots += 1
                (digits, octet) = (0, 0)
            default: return nil
            }
        }
        guard digits > 0, dots == 3 else { return nil }
        return bits << 8 | octet
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

extension IPAddress: CustomStringConvertible {
    /// The canonical text: dotted decimal for IPv4, RFC 5952 for IPv6.
    public var description: String {
        switch self.family {
        case .ipv4: Self.dotted(UInt32(truncatingIfNeeded: self.bits))
        case .ipv6: self.canonicalIPv6
        }
    }

    private static func dotted(_ bits: UInt32) -> String {
        // Octet by octet: every event has some, and numbers made into texts that are joined cost three times as much.
        var text: [UInt8] = []
        text.reserveCapacity(15)
        for shift in stride(from: 24, through: 0, by: -8) {
            let number = UInt8(truncatingIfNeeded: bits >> UInt32(shift))
            if number >= 100 { text.append(UInt8(ascii: "0") + number / 100) }
            if number >= 10 { text.append(UInt8(ascii: "0") + number / 10 % 10) }
            text.append(UInt8(ascii: "0") + number % 10)
            if shift > 0 { text.append(UInt8(ascii: ".")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private var canonicalIPv6: String {
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: self.bits >> (16 * (7 - $0))) }
        // RFC 5952 section 5: addresses whose low 32 bits hold an IPv4 address keep the dotted form.
        if self.bits >> 32 == 0xFFFF {
            return "::ffff:\(IPAddress(ipv4: UInt32(truncatingIfNeeded: self.bits)))"
        }
        var longest = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > longest.count, end - start > 1 { longest = start..<end }
            start = max(end, start + 1)
        }
        func text(_ part: some Sequence<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return text(groups) }
        return "\(text(groups[..<longest.lowerBound]))::\(text(groups[longest.upperBound...]))"
    }
}
