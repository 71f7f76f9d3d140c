// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A host and a port that a probe connects to.
public struct ProbeTarget: Hashable, Sendable {
    /// What stands before the port.
    public enum Host: Hashable, Sendable {
        /// An address; a link-local one with the name of its interface (RFC 4007).
        case address(IPAddress, zone: String?)
        /// A name to be resolved.
        case name(String)
    }

    /// The target as it was written, which is what it is called in reports.
    public let text: String
    /// The host.
    public let host: Host
    /// The port.
    public let port: UInt16

    /// Reads `203.0.113.7:443`, `[2001:db8::7]:443`, `[fe80::1%eth0]:443` or `example.net:443`.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``ProbeTargetError``, which says what is wrong with it.
    public init(_ text: String) throws(ProbeTargetError) {
        let host: Substring
        let port: Substring
        if text.hasPrefix("[") {
            guard let end = text.lastIndex(of: "]") else { throw ProbeTargetError("lacks the closing bracket") }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.hasPrefix(":") else { throw ProbeTargetError("has no port") }
            port = rest.dropFirst()
            self.host = try Self.bracketed(host)
        } else {
            guard let colon = text.lastIndex(of: ":") else { throw ProbeTargetError("has no port") }
            host = text[..<colon]
            port = text[text.index(after: colon)...]
            guard !host.contains(":") else {
                throw ProbeTargetError(
                    host.contains("//") ? "is a URL" : "has several colons, and IPv6 addresses need brackets"
                )
            }
            self.host = try Self.bare(host)
        }
        guard !port.isEmpty else { throw ProbeTargetError("has no port") }
        guard port.allSatisfy({ "0"..."9" ~= $0 && $0.isASCII }), !port.hasPrefix("0"), let number = UInt16(port) else {
            throw ProbeTargetError("has a port that is no number from 1 to 65535")
        }
        self.port = number
        self.text = text
    }

    private static func bracketed(_ host: Substring) throws(ProbeTargetError) -> Host {
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first), address.family == .ipv6 else {
            throw ProbeTargetError("has no IPv6 address between the brackets")
        }
        guard parts.count == 2 else { return .address(address, zone: nil) }
        // The kernel's rules for names of interfaces (IFNAMSIZ).
        guard (1...15).contains(parts[1].utf8.count), !parts[1].contains(where: { $0 == "/" || $0.isWhitespace }) else {
            throw ProbeTargetError("has a zone that cannot be the name of an interface")
        }
        return .address(address, zone: String(parts[1]))
    }

    private static func bare(_ host: Substring) throws(ProbeTargetError) -> Host {
        guard !host.isEmpty else { throw ProbeTargetError("has no host") }
        if let address = IPAddress(host) { return .address(address, zone: nil) }
        let name = host.hasSuffix(".") ? host.dropLast() : host
        guard name.utf8.count <= 253 else { throw ProbeTargetError("has a name longer than 253 characters") }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.utf8.count) else {
                throw ProbeTargetError("has a name with a part that is empty or longer than 63 characters")
            }
            let isPlain = label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            guard isPlain, !label.hasPrefix("-"), !label.hasSuffix("-") else {
                throw ProbeTargetError("has a name with other characters than letters, digits and hyphens")
            }
        }
        // No top-level domain is a number (RFC 3696), and the resolver would take 192.0.2 for an address.
        guard let last = labels.last, last.contains(where: \.isLetter) else {
            throw ProbeTargetError("has an IPv4 address that is none")
        }
        return .name(String(host))
    }
}

/// What is wrong with the text of a target.
public struct ProbeTargetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and how it is written, to be read after the text.
    public let description: String

    init(_ fault: String) {
        self.description = "\(fault); write 203.0.113.7:443, [2001:db8::7]:443 or example.net:443"
    }
}

/// Where one attempt connects to.
struct ProbeEndpoint: Hashable, Sendable {
    var address: IPAddress
    var zone: String?
    var port: UInt16
}
