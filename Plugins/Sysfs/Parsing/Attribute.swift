// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Reads the values of sysfs attributes (`Documentation/ABI/testing/sysfs-class-net`).
enum Attribute {
    /// A decimal number; nil for anything else, negative numbers included, which stand for "unknown".
    static func number(_ text: Span<UInt8>) -> UInt32? {
        var scanner = LineScanner()
        guard scanner.nextLine(in: text) else { return nil }
        let word = scanner.nextWord(in: text)
        guard scanner.nextWord(in: text).isEmpty else { return nil }
        return text.decimal(word).flatMap(UInt32.init(exactly:))
    }

    /// The first word; nil when there is none or it is longer than any name the kernel gives.
    static func word(_ text: Span<UInt8>) -> String? {
        text.interfaceName(Self.firstWord(text))
    }

    /// The operational state; nil for words the kernel does not use.
    static func operationalState(_ text: Span<UInt8>) -> OperationalState? {
        let word = Self.firstWord(text)
        return OperationalState.allCases.first { text.isWord($0.name.lowercased(), at: word) }
    }

    /// The bytes of a link-layer address such as `02:00:5e:10:00:01`; nil when there is none.
    static func hardwareAddress(_ text: Span<UInt8>) -> [UInt8]? {
        let word = Self.firstWord(text)
        var bytes: [UInt8] = []
        var position = word.lowerBound
        while position + 2 <= word.upperBound, bytes.count < 32 {
            guard let byte = text.hexadecimal(position..<position + 2) else { return nil }
            bytes.append(UInt8(byte))
            position += 2
            if position == word.upperBound { return bytes }
            guard text[position] == UInt8(ascii: ":") else { return nil }
            position += 1
        }
        return nil
    }

    /// Where the first word is; empty when there is none.
    private static func firstWord(_ text: Span<UInt8>) -> Range<Int> {
        var scanner = LineScanner()
        return scanner.nextLine(in: text) ? scanner.nextWord(in: text) : 0..<0
    }

    /// The value of DEVTYPE in a `uevent`; nil when there is none.
    static func deviceType(_ text: Span<UInt8>) -> String? {
        let key = "DEVTYPE="
        var scanner = LineScanner()
        while scanner.nextLine(in: text) {
            let word = scanner.nextWord(in: text)
            guard word.count > key.utf8.count else { continue }
            let value = word.dropFirst(key.utf8.count)
            if text.isWord(key, at: word.lowerBound..<value.lowerBound) { return text.interfaceName(value) }
        }
        return nil
    }
}
