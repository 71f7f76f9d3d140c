// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension Masking {
    /// The quotes that sentences of backends and plugins put names in, and what ends them.
    private static let quotes: [Character: Character] = [
        "\"": "\"", "'": "'", "\u{201C}": "\u{201D}", "\u{201E}": "\u{201C}", "\u{2018}": "\u{2019}",
        "\u{00AB}": "\u{00BB}", "`": "`",
    ]
    /// What a command begins with that netpath proposes.
    private static let programs: Set<Substring> = [
        "ip", "iw", "netpath", "nmcli", "mmcli", "sudo", "sysctl", "systemctl",
    ]

    /// Masks what is private in sentences, such as reasons: what stands in quotes may be the name of a network.
    package mutating func maskProse(_ text: String) -> String {
        var output = ""
        var plain = ""
        var previous: Character = " "
        var rest = text[...]
        while let character = rest.first {
            rest = rest.dropFirst()
            // An apostrophe stands within a word, and what is quoted ends on its line.
            if let mark = Self.quotes[character], !previous.isLetter, !previous.isNumber,
                let end = rest.firstIndex(where: { $0 == mark || $0.isNewline }), rest[end] == mark,
                end > rest.startIndex
            {
                output += self.mask(plain) + String(character) + self.mask(quoted: String(rest[..<end])) + String(mark)
                plain = ""
                rest = rest[rest.index(after: end)...]
                previous = mark
                continue
            }
            plain.append(character)
            previous = character
        }
        return output + self.mask(plain)
    }

    private mutating func mask(quoted text: String) -> String {
        let masked = self.mask(text)
        if masked != text || Self.programs.contains(text.prefix { $0 != " " }) { return masked }
        return self.mask(text, as: .ssid)
    }
}
