// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
package import NetPathSystem

/// Puts something else in place of what is private in texts and values: the same thing in every place.
///
/// What a text holds is told by its form, such as an address or the name of a host, and by what stands before it, such as
/// `ssid=`; what has neither, such as the name of this machine, is to be named. In doubt something is masked.
package struct Masking: Sendable {
    /// What is masked.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case ipv4 = "IPv4 addresses"
        case ipv6 = "IPv6 addresses"
        case hardware = "hardware addresses"
        case host = "host names"
        case url = "addresses of pages"
        case ssid = "names of Wi-Fi networks"
        case token = "tokens and identifiers"
        case user = "names of users"
        case argument = "arguments of commands"

        /// How the masks of names begin.
        fileprivate var prefix: String {
            switch self {
            case .ipv4, .ipv6, .hardware: ""
            case .host: "host-"
            case .url: "path-"
            case .ssid: "ssid-"
            case .token: "token-"
            case .user: "user-"
            case .argument: "argument-"
            }
        }
    }

    private struct Name: Hashable {
        var kind: Kind
        var text: String
    }

    var addresses = AddressMasks()
    private var names: [Name: String] = [:]
    private var nameCounts: [Kind: Int] = [:]
    /// Words that are masked wherever they stand.
    private var secrets: [String: Kind] = [:]

    /// Begins.
    ///
    /// - Parameters:
    ///   - hosts: Names of machines that do not look like such, as this one's.
    ///   - users: Names of users.
    package init(hosts: [String] = [], users: [String] = []) {
        for user in users where user != "root" && user.utf8.count > 1 { self.secrets[user.lowercased()] = .user }
        for host in hosts where host != "localhost" && host.utf8.count > 1 { self.secrets[host.lowercased()] = .host }
    }

    /// How many different things were masked, of each kind.
    package var counts: [Kind: Int] {
        self.addresses.counts.merging(self.nameCounts) { $1 }
    }

    /// The mask of an address.
    package mutating func mask(_ address: InternetAddress) -> InternetAddress { self.addresses.mask(address) }

    /// The mask of a name, of which nothing stays.
    package mutating func mask(_ text: String, as kind: Kind) -> String {
        if text.isEmpty { return text }
        // Names of hosts are the same in any case.
        let name = Name(kind: kind, text: kind == .host ? text.lowercased() : text)
        if let mask = self.names[name] { return mask }
        self.nameCounts[kind, default: 0] += 1
        let number = self.nameCounts[kind, default: 0]
        let mask = kind.prefix + "\(number)" + (kind == .host ? ".example" : "")
        self.names[name] = mask
        return mask
    }

    /// The mask of a host, which may be an address, and may have a port.
    package mutating func maskHost(_ text: String) -> String {
        let masked = self.mask(text)
        if masked != text || text.isEmpty { return masked }
        // A name of one word, or an address that is its own mask.
        if InternetAddress(text) != nil || text.hasPrefix("[") { return text }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if InternetAddress(parts[0]) != nil { return text }
        return self.mask(String(parts[0]), as: .host) + parts.dropFirst().map { ":\($0)" }.joined()
    }

    /// Masks a host from now on wherever it stands; one of one word does not look like one.
    mutating func remember(host text: String, as mask: String) {
        let name = text.prefix { $0 != ":" }
        guard mask.hasPrefix("host-"), name != "localhost", name.utf8.count > 1 else { return }
        self.secrets[name.lowercased()] = .host
    }

    /// What a word is known to be.
    func secret(_ word: some StringProtocol) -> Kind? { self.secrets.isEmpty ? nil : self.secrets[word.lowercased()] }

    /// Masks what is private in a value of JSON.
    package mutating func mask(_ node: JSONNode) -> JSONNode {
        switch node {
        case .null, .bool, .integer, .number: return node
        case .string(let text): return .string(self.mask(text))
        case .array(let elements): return .array(elements.map { self.mask($0) })
        case .object(let members):
            var masked: JSONObject = [:]
            let isAddress = members["prefixlen"] != nil
            for (key, value) in members {
                let isName = isAddress && key == "label"
                masked[self.mask(key)] = isName ? self.maskLabel(ofAddress: value) : self.mask(value, of: key)
            }
            return .object(masked)
        }
    }

    private mutating func mask(_ value: JSONNode, of key: String) -> JSONNode {
        switch (key.lowercased(), value) {
        case ("hardwareaddress", .array(let elements)), ("hardwareaddressprefix", .array(let elements)):
            let bytes = elements.compactMap { if case .integer(let byte) = $0 { UInt8(exactly: byte) } else { nil } }
            guard bytes.count == elements.count else { return self.mask(value) }
            return .array(self.addresses.mask(hardware: bytes).map { JSONNode.integer($0) })
        case ("configuration", .string(let text)): return .string(self.maskConfiguration(text))
        case ("host", .string(let text)), ("hostname", .string(let text)), ("target", .string(let text)):
            return .string(self.maskHost(text))
        case ("via", .array(let hosts)):
            return .array(hosts.map { if case .string(let text) = $0 { .string(self.maskHost(text)) } else { $0 } })
        case ("ssid", .string(let text)), ("essid", .string(let text)): return .string(self.mask(text, as: .ssid))
        // What a plugin shows with an interface is mostly what its network is called.
        case ("label", .string(let text)): return .string(self.mask(text, as: .ssid))
        case ("labels", .array(let labels)): return .array(labels.map { self.maskLabel($0) })
        case ("message", .string(let text)), ("error", .string(let text)), ("unavailable", .string(let text)):
            return .string(self.maskProse(text))
        case ("ifalias", .string(let text)): return .string(self.mask(text, as: .token))
        case (let key, .string(let text)) where Self.secretKeys.contains(key):
            return .string(self.mask(text, as: .token))
        case ("command", .array(let words)), ("arguments", .array(let words)), ("args", .array(let words)):
            return .array(
                words.map { if case .string(let text) = $0 { .string(self.mask(text, as: .argument)) } else { $0 } }
            )
        default: return self.mask(value)
        }
    }

    /// The label of an address (ip-address(8)): the name of the interface, and behind a colon what a person chose.
    private mutating func maskLabel(ofAddress node: JSONNode) -> JSONNode {
        guard case .string(let text) = node else { return node }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, !parts[1].allSatisfy(\.isNumber) else { return .string(self.mask(text)) }
        return .string(self.mask(parts[0]) + ":" + self.mask(parts[1], as: .token))
    }

    private mutating func maskLabel(_ node: JSONNode) -> JSONNode {
        guard case .object(var members) = node, case .string(let text)? = members["text"]
        else { return self.mask(node) }
        members["text"] = .string(self.mask(text, as: .ssid))
        return .object(members)
    }

    /// What stands before a secret.
    static let secretKeys: Set<String> = [
        "password", "passwd", "passphrase", "psk", "token", "secret", "key", "apikey", "api_key", "api-key",
        "access_key",
        "private_key", "privatekey", "private-key", "authorization", "auth", "cookie", "credential", "credentials",
        "session", "sessionid", "wpa-psk", "pin", "imsi", "imei", "iccid",
    ]
}
