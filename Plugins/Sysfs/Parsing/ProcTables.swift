// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// An IPv6 address as `/proc/net/if_inet6` shows it.
struct IPv6Line: Hashable {
    var interfaceIndex: UInt32
    var address: InterfaceAddress
    /// Whether it has a lifetime (no IFA_F_PERMANENT), as those of router advertisements have.
    var isDynamic: Bool

    /// Reads the whole table; nil when it is not one, or only the beginning of one.
    static func parse(_ text: Span<UInt8>, isComplete: Bool) -> [IPv6Line]? {
        guard isComplete else { return nil }
        var lines: [IPv6Line] = []
        var scanner = LineScanner()
        while scanner.nextLine(in: text) {
            let address = text.hexadecimal128(scanner.nextWord(in: text))
            let index = text.hexadecimal(scanner.nextWord(in: text))
            let length = text.hexadecimal(scanner.nextWord(in: text))
            let scope = text.hexadecimal(scanner.nextWord(in: text))
            let flags = text.hexadecimal(scanner.nextWord(in: text))
            guard !scanner.isCut, let address, let length, length <= 128, let scope, let flags, flags <= 0xFF,
                let index = index.flatMap(UInt32.init(exactly:)), index > 0
            else { return nil }
            lines.append(
                IPv6Line(
                    interfaceIndex: index,
                    address: InterfaceAddress(
                        AddressPrefix(InternetAddress(ipv6: address), length: Int(length)),
                        scope: Self.scope(scope),
                        state: AddressState(kernelFlags: UInt32(flags))
                    ),
                    isDynamic: flags & 0x80 == 0
                )
            )
        }
        return lines
    }

    /// The file has the IPV6_ADDR_* bits of the kernel where rtnetlink has RT_SCOPE_*.
    private static func scope(_ bits: UInt64) -> AddressScope {
        switch bits {
        case 0x10: .host
        case 0x20: .link
        case 0x40: .site
        default: .global
        }
    }
}

/// The names of the interfaces in `/proc/net/dev`.
enum DeviceList {
    /// Reads the list; nil when it is not one, or only the beginning of one.
    static func parse(_ text: Span<UInt8>, isComplete: Bool) -> [String]? {
        guard isComplete else { return nil }
        var scanner = LineScanner()
        guard scanner.nextLine(in: text), text.isWord("Inter-|", at: scanner.nextWord(in: text)),
            scanner.nextLine(in: text)
        else { return nil }
        var names: [String] = []
        while scanner.nextLine(in: text) {
            let word = scanner.nextWord(in: text)
            // The colon ends the name, and old kernels put no space behind it.
            var end = word.lowerBound
            while end < word.upperBound, text[end] != UInt8(ascii: ":") { end += 1 }
            guard end < word.upperBound, let name = text.interfaceName(word.lowerBound..<end) else { return nil }
            names.append(name)
        }
        return names
    }
}
