// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension Masking {
    /// Masks what is private in a text; what is around it stays.
    package mutating func mask(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        var previous = ""
        // What the next words are, by those before them.
        var kinds: ArraySlice<Kind> = []
        while index < bytes.count {
            guard Self.isOfWord(bytes[index]) else {
                output.append(bytes[index])
                if !" \t".utf8.contains(bytes[index]) { (previous, kinds) = ("", []) }
                index += 1
                continue
            }
            if let end = Self.endOfKey(in: bytes, from: index) {
                output += self.mask(Self.text(bytes[index..<end]), as: .token).utf8
                index = end
                continue
            }
            var end = index
            while end < bytes.count, Self.isOfWord(bytes[end]) { end += 1 }
            // A name may have blanks, and stands in no quotes in `ssid=My Home`.
            if let separator = Self.endOfNetworkKey(in: bytes[index..<end]) { end = separator }
            let word = Self.text(bytes[index..<end])
            let kind = kinds.popFirst()
            if kinds.isEmpty { kinds = Self.kinds(after: word, previous) }
            previous = Self.plain(word)
            if word.hasSuffix(":"), bytes[end...].starts(with: "//".utf8) {
                end = Self.endOfURL(in: bytes, from: end)
                output += self.maskURL(Self.text(bytes[index..<end])).utf8
            } else if Self.isUser(in: bytes, at: index) {
                output += self.mask(word, as: .user).utf8
            } else if let kind, !Self.isPlain(word, kind) {
                // A secret may hold any sign.
                if kind == .token {
                    while end < bytes.count, bytes[end] > 0x20, !"\"',;)".utf8.contains(bytes[end]) { end += 1 }
                }
                while end > index + 1, ".:".utf8.contains(bytes[end - 1]) { end -= 1 }
                let value = Self.text(bytes[index..<end])
                let masked = self.mask(word: value)
                output += (masked == value ? self.mask(value, as: kind) : masked).utf8
            } else if let (lead, value, next) = Self.secretValue(after: word, in: bytes, from: end) {
                output += bytes[index..<end] + lead
                let kind: Kind = Self.plain(word).hasSuffix("ssid") ? .ssid : .token
                output += self.mask(Self.text(value), as: kind).utf8
                end = next
            } else {
                output += self.mask(word: word).utf8
            }
            index = end
        }
        return Self.text(output[...])
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// What words consist of: what an address, a name or a token may.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: ".-_:%@+=~".utf8.contains(byte)
        }
    }

    /// Where a key ends that is written in base64 (RFC 4648) with its padding, as that of a WireGuard tunnel; nil when none
    /// begins here.
    private static func endOfKey(in bytes: [UInt8], from start: Int) -> Int? {
        var end = start
        while end < bytes.count, self.isOfWord(bytes[end]) || bytes[end] == UInt8(ascii: "/") {
            guard bytes[end] < 0x80, !".-_:%@~".utf8.contains(bytes[end]) else { return nil }
            end += 1
        }
        guard end - start >= 24, bytes[end - 1] == UInt8(ascii: "=") else { return nil }
        return bytes[start..<end].contains { 0x30...0x39 ~= $0 } ? end : nil
    }

    // MARK: Secrets after a keyword

    /// Where `ssid=` or `ssid:` ends within a word; nil when it does not begin so.
    private static func endOfNetworkKey(in word: ArraySlice<UInt8>) -> Int? {
        guard let separator = word.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }),
            self.isNetworkKey(self.text(word[..<separator]).lowercased())
        else { return nil }
        return separator + 1
    }

    /// Whether a word is followed by the name of a Wi-Fi network, and not by the address of its station.
    private static func isNetworkKey(_ keyword: String) -> Bool {
        keyword.hasSuffix("ssid") && !keyword.hasSuffix("bssid")
    }

    /// The value in `psk: x`, `ssid = "x y"`, `ssid x y` or `Bearer x`, what stands before it, and where it ends.
    private static func secretValue(
        after word: String,
        in bytes: [UInt8],
        from start: Int
    ) -> (lead: ArraySlice<UInt8>, value: ArraySlice<UInt8>, end: Int)? {
        let keyword = self.plain(word)
        let isScheme = keyword == "bearer"
        guard isScheme || keyword.hasSuffix("ssid") || self.secretKeys.contains(keyword) else { return nil }
        var index = start
        let isNetwork = self.isNetworkKey(keyword)
        var isSeparated = isScheme || word.utf8.count > keyword.utf8.count
        while index < bytes.count, " \t\"':=".utf8.contains(bytes[index]) {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else {
                if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "=") { isSeparated = true }
                continue
            }
            // In quotes.
            guard let end = bytes[index...].firstIndex(of: byte), end > index else { return nil }
            // The quote may be the end of the keyword's own, as in JSON.
            guard isSeparated || bytes[index - 2] == UInt8(ascii: " ") else { continue }
            return (bytes[start..<index], bytes[index..<end], end)
        }
        // A blank is enough before the name of a network.
        guard isSeparated || isNetwork && index > start, index < bytes.count, !(index == start && isScheme)
        else { return nil }
        // The name of a network may hold anything, and reaches to the end of the line.
        let ends = isNetwork ? "\n\r" : " \t\n\r\"',;)"
        var end = bytes[index...].firstIndex { ends.utf8.contains($0) } ?? bytes.count
        // What follows the name of a scheme is the secret (RFC 9110, 11.4).
        if keyword == "authorization", end < bytes.count, bytes[end] == UInt8(ascii: " "),
            ["basic", "bearer", "digest", "negotiate"].contains(self.text(bytes[index..<end]).lowercased())
        {
            index = end + 1
            end = bytes[index...].firstIndex { ends.utf8.contains($0) } ?? bytes.count
        }
        return end > index ? (bytes[start..<index], bytes[index..<end], end) : nil
    }

    // MARK: URLs

    private static func endOfURL(in bytes: [UInt8], from start: Int) -> Int {
        var end = bytes[start...].firstIndex { $0 <= 0x20 || $0 == 0x7F || "\"<>`'".utf8.contains($0) } ?? bytes.count
        // Of the sentence.
        while end > start + 2, ".,;:!?)]}".utf8.contains(bytes[end - 1]) { end -= 1 }
        return end
    }

    /// Keeps the scheme and the port.
    private mutating func maskURL(_ text: String) -> String {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        var scheme = parts[0].dropLast()
        var lead = ""
        if let begin = scheme.lastIndex(where: { !($0.isASCII && ($0.isLetter || $0.isNumber) || "+-.".contains($0)) })
        {
            // What stands before, such as `url=`.
            lead = self.mask(word: String(scheme[...begin]))
            scheme = scheme[scheme.index(after: begin)...]
        }
        let rest = parts[2]
        let hostEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        var authority = rest[..<hostEnd]
        var path = String(rest[hostEnd...])
        if let at = authority.lastIndex(of: "@") {
            path += String(authority[...at])
            authority = authority[authority.index(after: at)...]
        }
        let isPlain = path.isEmpty || path == "/"
        let host = authority.isEmpty ? "" : self.maskHost(String(authority))
        return "\(lead)\(scheme)://\(host)" + (isPlain ? path : "/" + self.mask(path, as: .url))
    }

    // MARK: Words

    private mutating func mask(word: String) -> String {
        let bytes = Array(word.utf8)
        // Nearly all words: shorter than any of these, or of letters alone.
        if bytes.count < 2 { return word }
        if let masked = self.maskWhole(word) ?? self.maskNumber(word) { return masked }
        if word.first == "~", word.dropFirst().first?.isLetter == true {
            return "~" + self.mask(String(word.dropFirst()), as: .user)
        }
        if bytes.count >= 20, bytes.last == UInt8(ascii: "=") { return self.mask(word, as: .token) }
        // What ends a sentence.
        if let last = bytes.last, ".:-=%@+~".utf8.contains(last) {
            return self.mask(word: String(word.dropLast())) + Self.text([last])
        }
        if let sign = word.firstIndex(of: "%"), InternetAddress(word[..<sign]) != nil {
            return self.mask(word: String(word[..<sign])) + "%"
                + self.mask(word: String(word[word.index(after: sign)...]))
        }
        if let sign = word.firstIndex(of: "=") {
            let (key, value) = (String(word[..<sign]), String(word[word.index(after: sign)...]))
            let lower = key.lowercased()
            if lower.hasSuffix("ssid") { return key + "=" + self.mask(value, as: .ssid) }
            if ["user", "username", "login", "identity"].contains(lower) {
                return key + "=" + self.mask(value, as: .user)
            }
            if Self.secretKeys.contains(lower) { return key + "=" + self.mask(value, as: .token) }
            return self.mask(word: key) + "=" + self.mask(word: value)
        }
        if word.contains("@") { return self.mask(word, as: .token) }
        if let masked = self.maskColons(bytes) { return masked }
        if Self.looksLikeToken(bytes) { return self.mask(word, as: .token) }
        return self.maskDotted(bytes)
    }

    /// Masks a word that is something as a whole; nil when it is none.
    private mutating func maskWhole(_ word: String) -> String? {
        if let kind = self.secret(word) { return self.mask(word, as: kind) }
        if let masked = self.maskHardware(word) { return masked }
        if let address = InternetAddress(word) {
            let mask = self.mask(address)
            return mask == address ? word : mask.description
        }
        // Names that hold hardware addresses: systemd.net-naming-scheme(7).
        if word.utf8.count == 15, ["enx", "wlx", "wwx"].contains(word.prefix(3)) {
            let bytes = Self.octets(Array(word.dropFirst(3).utf8))
            return bytes.map {
                String(word.prefix(3)) + Self.hexadecimal(self.addresses.mask(hardware: $0), separator: "")
            }
        }
        return Self.isHostName(word) ? self.mask(word, as: .host) : nil
    }

    /// Masks `00:1b:63:84:45:dd`, also with hyphens, the beginning of one, `001b.6384.45dd` and `001b638445dd`.
    private mutating func maskHardware(_ word: String) -> String? {
        let separator = word.first { !$0.isHexDigit }
        let groups = separator.map { word.split(separator: $0, omittingEmptySubsequences: false) } ?? [word[...]]
        let size = groups[0].utf8.count
        let isForm =
            switch (size, groups.count, separator) {
            case (2, 6..., ":"?), (2, 6..., "-"?), (4, 3, "."?), (4, 3, ":"?), (4, 3, "-"?): true
            // Shorter ones are the beginning of one, or a time of day, or a date.
            case (2, 3..., ":"?): word.contains(where: \.isLetter)
            // A number has no letter, and no zero before it.
            case (12, 1, nil): word.first == "0" || word.contains(where: \.isLetter)
            default: false
            }
        guard isForm, groups.allSatisfy({ $0.utf8.count == size }), let bytes = Self.octets(Array(groups.joined().utf8))
        else { return nil }
        let mask = Self.hexadecimal(self.addresses.mask(hardware: bytes), separator: "")
        return stride(from: 0, to: mask.utf8.count, by: size).map { mask.dropFirst($0).prefix(size) }
            .joined(separator: separator.map { String($0) } ?? "")
    }

    private static func octets(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard values.count == digits.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    static func hexadecimal(_ bytes: [UInt8], separator: String) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
    }

    /// Masks what has colons around and within: `via:fe80::1`, `8000.02:00:5e:10:00:01`, `example.org:443`.
    private mutating func maskColons(_ bytes: [UInt8]) -> String? {
        let colon = UInt8(ascii: ":")
        guard bytes.contains(colon) else { return nil }
        let isOfAddress = { (byte: UInt8) in byte == colon || Character(UnicodeScalar(byte)).isHexDigit }
        for (index, byte) in bytes.enumerated()
        where isOfAddress(byte) && (index == 0 || Self.isMark(bytes[index - 1])) {
            let run = bytes[index...].prefix(while: isOfAddress)
            let colons = run.count { $0 == colon }
            guard colons >= 2, run.count < bytes.count else { continue }
            let text = Self.text(run)
            if self.maskWhole(text) == nil, !Self.isOddAddress(text) { continue }
            return self.mask(word: Self.text(bytes[..<index])) + self.mask(word: text)
                + self.mask(word: Self.text(bytes[run.endIndex...]))
        }
        let text = Self.text(bytes)
        if Self.isOddAddress(text) { return self.mask(text, as: .token) }
        guard let first = bytes.firstIndex(of: colon) else { return nil }
        return self.mask(word: Self.text(bytes[..<first])) + ":" + self.mask(word: Self.text(bytes[(first + 1)...]))
    }

    /// Whether a word may begin after a byte.
    private static func isMark(_ byte: UInt8) -> Bool {
        byte < 0x80 && !(Character(UnicodeScalar(byte)).isLetter || 0x30...0x39 ~= byte) && byte != UInt8(ascii: ":")
    }

    /// Whether a text could be a part of an address, and is no time of day.
    private static func isOddAddress(_ text: String) -> Bool {
        guard text.allSatisfy({ $0 == ":" || $0.isHexDigit }) else { return false }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        return colons >= 5 || colons >= 2 && text.contains { $0.isLetter }
    }

    /// Masks addresses of IPv4 that something else is joined to, as in `10.0.0.1-10.0.0.9`.
    private mutating func maskDotted(_ bytes: [UInt8]) -> String {
        let isOfAddress = { (byte: UInt8) in byte == UInt8(ascii: ".") || 0x30...0x39 ~= byte }
        var output = ""
        var rest = bytes[...]
        while let first = rest.first {
            let isAddress = isOfAddress(first)
            let part = Self.text(rest.prefix { isOfAddress($0) == isAddress })
            rest = rest.dropFirst(part.utf8.count)
            output += isAddress ? self.maskDots(part) : part
        }
        return output
    }

    private mutating func maskDots(_ text: String) -> String {
        let core = text.drop { $0 == "." }
        let end = core.lastIndex { $0 != "." }.map { core.index(after: $0) } ?? core.startIndex
        guard let address = InternetAddress(core[..<end]) else {
            // More than an address, as `1.10.0.0.1`.
            return text.utf8.count { $0 == UInt8(ascii: ".") } > 3 ? self.mask(text, as: .token) : text
        }
        return "\(text[..<core.startIndex])\(self.mask(address))\(core[end...])"
    }

    // MARK: Names and tokens

    /// What ends the names of files, and is no domain.
    private static let fileSuffixes: Set<String> = [
        "conf", "yaml", "yml", "json", "jsonl", "sock", "service", "socket", "lock", "txt", "log", "sqlite", "swift",
    ]

    private static func isHostName(_ word: String) -> Bool {
        let labels = word.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last, last.count >= 2 else { return false }
        let isDomain = last.allSatisfy(\.isLetter) || last.lowercased().hasPrefix("xn--")
        guard isDomain, !Self.fileSuffixes.contains(last.lowercased()) else { return false }
        return labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        }
    }

    /// Whether a word is so long and mixed that no person has written it by hand.
    private static func looksLikeToken(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 16 else { return false }
        let digits = bytes.count { 0x30...0x39 ~= $0 }
        let letters = bytes.count { 0x41...0x5A ~= $0 & 0xDF }
        let isHexadecimal = bytes.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        if isHexadecimal { return letters > 0 && digits > 0 || bytes.count >= 32 }
        let isPlain = bytes.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 & 0xDF || "-_+".utf8.contains($0) }
        return isPlain && bytes.count >= 20 && digits > 0 && letters > 0
    }
}
