// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A host as people name it.
public enum NetworkHost: Hashable, Sendable {
    /// An address; a link-local one with the name of its interface (RFC 4007).
    case address(InternetAddress, zone: String?)
    /// A name to be resolved.
    case name(String)

    /// What is wrong with a text, to be read after it.
    package struct Fault: Error, Hashable, Sendable {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    /// Reads an IPv6 address, with or without a zone, as it may stand between brackets.
    package init(ipv6 text: Substring) throws(Fault) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = InternetAddress(first), address.family == .ipv6 else {
            throw Fault("has no IPv6 address, which colons and brackets are for")
        }
        guard parts.count == 2 else {
            self = .address(address.unmapped, zone: nil)
            return
        }
        // The kernel's rules for names of interfaces (IFNAMSIZ).
        guard (1...15).contains(parts[1].utf8.count), !parts[1].contains(where: { $0 == "/" || $0.isWhitespace }) else {
            throw Fault("has a zone that cannot be the name of an interface")
        }
        self = .address(address, zone: String(parts[1]))
    }

    /// Reads a name or an address without a zone.
    package init(bare text: Substring) throws(Fault) {
        guard !text.isEmpty else { throw Fault("has no host") }
        if let address = InternetAddress(text) {
            self = .address(address.unmapped, zone: nil)
            return
        }
        // URLs escape what is beyond ASCII (RFC 3986).
        guard text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else {
            throw Fault(
                "has escaped characters or some beyond ASCII; such a name is written in Punycode, as in "
                    + "xn--bcher-kva.example"
            )
        }
        let name = text.hasSuffix(".") ? text.dropLast() : text
        guard name.utf8.count <= 253 else { throw Fault("has a name longer than 253 characters") }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.utf8.count) else {
                throw Fault("has a name with a part that is empty or longer than 63 characters")
            }
            guard label.utf8.allSatisfy(\.isPlain), !label.hasPrefix("-"), !label.hasSuffix("-") else {
                throw Fault("has a name with other characters than letters, digits and hyphens")
            }
        }
        // No top-level domain is a number (RFC 3696), and the resolver would take 192.0.2 for an address.
        guard let last = labels.last, last.utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 != UInt8(ascii: "_") })
        else {
            throw Fault("looks like an IPv4 address, which has four numbers up to 255")
        }
        self = .name(String(text))
    }

    /// Reads `example.net`, `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]`, and each but the third with a port.
    ///
    /// - Returns: The host, the part of the text that names it, and the port, if there is one.
    package static func withPort(_ text: String) throws(Fault) -> (host: NetworkHost, name: Substring, port: UInt16?) {
        let name: Substring
        let port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.lastIndex(of: "]") else { throw Fault("lacks the closing bracket") }
            name = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw Fault("has something else than a port after the bracket")
            }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            if text.contains("//") { throw Fault("is a URL") }
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            name = parts.count > 2 ? text[...] : parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        let isIPv6 = text.hasPrefix("[") || name.contains(":")
        let host = try isIPv6 ? NetworkHost(ipv6: name) : NetworkHost(bare: name)
        guard let port else { return (host, name, nil) }
        let isNumber = !port.isEmpty && !port.hasPrefix("0") && port.utf8.allSatisfy { (48...57).contains($0) }
        guard isNumber, let number = UInt16(port) else {
            throw Fault("has a port that is not a number from 1 to 65535")
        }
        return (host, name, number)
    }
}

extension UInt8 {
    /// Whether it is a letter, a digit, a hyphen or an underscore.
    package var isPlain: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
