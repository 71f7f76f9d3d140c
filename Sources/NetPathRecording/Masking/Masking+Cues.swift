// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What follows certain words of a sentence or a command is private, though its form does not tell.
extension Masking {
    /// The words, in lower case and without hyphens before them, and what the words after them are.
    private static let cues: [String: [Kind]] = {
        var cues: [String: [Kind]] = ["wpa_passphrase": [.ssid, .token]]
        let words: [(Kind, String)] = [
            (.token, "password passwd passphrase passcode psk -p imsi imei iccid msisdn phone tel telephone"),
            (.token, "--token --secret --key --pin"), (.user, "user username login account identity"),
            (.ssid, "network wifi wi-fi wlan netz hotspot"),
        ]
        for (kind, list) in words { for word in list.split(separator: " ") { cues[String(word)] = [kind] } }
        for pair in ["connected to", "associate with", "associated with", "joined network", "wifi connect"] {
            cues[pair] = [.ssid]
        }
        return cues
    }()

    /// Words that follow such a word in sentences, and are no names.
    private static let plainWords = Set(
        """
        a about access account address agent alone an and answered answers are as asked asks at be before beside besides \
        by can card changed changes changing client configuration connect connection device does down ended ends error \
        exists expired fails failed file first for from group had has have hidden id identities in incorrect interface \
        interfaces invalid is it its key later link list lose lost makes manager matters may missing mode must name named \
        names namespace namespaces needed needs no not nothing number of off on only or order output password path port \
        prompt radio range refused refuses required route runs said says scan security see service setting settings state \
        status stopped takes tells that the this through timeout to token too typed under unknown unreachable until up \
        user wants was were where which who whose wifi with within without works wrong yet
        """.split(separator: " ").map(String.init)
    )
    /// How names of interfaces begin that end with a number.
    private static let interfaces = [
        "eth", "en", "wl", "ww", "tun", "tap", "br", "veth", "wg", "ppp", "bond", "usb", "lo",
    ]

    /// What the words are that follow two words.
    static func kinds(after word: String, _ previous: String) -> ArraySlice<Kind> {
        let plain = Self.plain(word)
        let kinds = self.cues["\(previous) \(plain)"] ?? self.cues[word.lowercased()]
        return (kinds ?? self.cues[String(plain.drop { $0 == "-" })] ?? [])[...]
    }

    /// A word as cues are written.
    static func plain(_ word: String) -> String {
        var word = Substring(word.lowercased())
        while word.last == ":" || word.last == "=" { word.removeLast() }
        return String(word)
    }

    /// Whether a word after a cue is one of the sentence, or says what it is itself.
    static func isPlain(_ word: String, _ kind: Kind) -> Bool {
        let lower = word.lowercased()
        if self.plainWords.contains(lower.trimmingMarks) { return true }
        switch kind {
        case .user: return word == "root" || word.allSatisfy(\.isNumber)
        case .ssid:
            let isNumbered = word.trimmingMarks.last?.isNumber == true && word.allSatisfy { !$0.isUppercase }
            return isNumbered && self.interfaces.contains { word.hasPrefix($0) }
        default: return false
        }
    }

    /// Whether the word that begins after an index of a text is a user's name: `/home/NAME`, `~NAME`, `uid=1000(NAME)`.
    static func isUser(in bytes: [UInt8], at index: Int) -> Bool {
        let before = bytes[..<index]
        for folder in ["/home/", "/Users/", "\\Users\\"]
        where before.suffix(folder.utf8.count).elementsEqual(folder.utf8) {
            return true
        }
        guard before.last == UInt8(ascii: "(") else { return false }
        let rest = before.dropLast()
        let digits = rest.reversed().prefix { 0x30...0x39 ~= $0 }.count
        return digits > 0 && [UInt8(ascii: "="), UInt8(ascii: ",")].contains(rest.dropLast(digits).last)
    }

    /// Masks what is private by its form in a certain context: an address in hexadecimal, numbers of devices and of people.
    mutating func maskNumber(_ word: String) -> String? {
        let isPlus = word.first == "+"
        let digits = isPlus ? word.dropFirst() : word[...]
        if digits.allSatisfy({ $0.isASCII && $0.isNumber }) {
            let limits = isPlus ? 8...15 : 14...22
            return limits.contains(digits.utf8.count) ? self.mask(word, as: .token) : nil
        }
        // A DHCP client identifier: the type of the hardware, and its address.
        if word.utf8.count == 14, word.hasPrefix("01"), word.allSatisfy(\.isHexDigit) {
            return self.mask(word, as: .token)
        }
        guard word.utf8.count == 10, word.lowercased().hasPrefix("0x"), let bits = UInt32(word.dropFirst(2), radix: 16)
        else { return nil }
        let masked = String(UInt32(truncatingIfNeeded: self.mask(InternetAddress(ipv4: bits)).bits), radix: 16)
        return word.prefix(2) + String(repeating: "0", count: 8 - masked.utf8.count) + masked
    }
}

extension String {
    fileprivate var trimmingMarks: String {
        var text = self[...]
        while let last = text.last, ".:=".contains(last) { text.removeLast() }
        return String(text)
    }
}
