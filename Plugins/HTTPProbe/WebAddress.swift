// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An address that a server names, made whole (RFC 3986, 5.2, as far as it is worth showing to people).
struct WebAddress: Hashable, Sendable {
    let text: String
    /// The host as it is written, with the port.
    let host: String
    private let scheme: String

    /// Reads an address; nil when it is neither of the web nor below another one.
    init?(_ text: String, from base: String? = nil) {
        // Never anything that acts on a terminal, or ends in another line.
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        let words = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = words[0].lowercased()
        if words.count == 2, ["http", "https"].contains(scheme) {
            let host = String(words[1].prefix { !"/?#".contains($0) })
            if host.isEmpty { return nil }
            self.init(text: text, host: host.lowercased(), scheme: scheme)
            return
        }
        guard words.count == 1, !text.isEmpty, let base = base.flatMap({ WebAddress($0) }) else { return nil }
        if text.hasPrefix("//") {
            self.init("\(base.scheme):\(text)")
        } else if text.hasPrefix("/") {
            self.init("\(base.scheme)://\(base.host)\(text)")
        } else {
            self.init("\(base.scheme)://\(base.host)/\(text)")
        }
    }

    private init(text: String, host: String, scheme: String) {
        self.text = text
        self.host = host
        self.scheme = scheme
    }

    /// Whether it is the same place, with TLS.
    func isUpgrade(of other: String) -> Bool {
        guard let other = WebAddress(other), other.scheme == "http", self.scheme == "https" else { return false }
        return self.name == other.name
    }

    /// The host without the port.
    private var name: Substring {
        guard self.host.hasPrefix("["), let end = self.host.firstIndex(of: "]") else {
            return self.host.prefix { $0 != ":" }
        }
        return self.host[...end]
    }
}
