// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The address a request goes to, as far as the queue has to understand it.
///
/// Read here and not by `URL`: that repairs what it does not like, and what the transport would refuse must be refused
/// when the request is enqueued, while somebody is there to be told.
struct Endpoint: Hashable, Sendable {
    /// The host in lower case, and the port where it is not that of the scheme, for example `example.net:8080`.
    var authority: String

    /// What is wrong with an address, to be read after its name; it never quotes the address, which may hold secrets.
    struct Fault: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw Fault("is empty; write a whole URL such as https://example.net/path") }
        for octet in text.utf8 {
            if octet < 0x20 || octet == 0x7F { throw Fault("has a line break or a control character") }
            if octet == 0x20 { throw Fault("has a space; write %20") }
            if octet > 0x7F { throw Fault("has other characters than ASCII; write them percent-encoded") }
            // Clients differ in what they take a backslash for, and this is how requests get to other hosts.
            if #""<>\"#.utf8.contains(octet) { throw Fault("has a quote, an angle bracket or a backslash") }
        }
        guard let mark = text.firstRange(of: "://") else {
            throw Fault("has no scheme; write a whole URL such as https://example.net/path")
        }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Fault("has a scheme that cannot be sent; http and https can")
        }
        let host = text[mark.upperBound...].prefix { !"/?#".contains($0) }
        // RFC 9110, 4.2.4.
        guard !host.contains("@") else {
            throw Fault("has a name or a password; they belong into the header Authorization")
        }
        self.authority = try Self.authority(host, standardPort: scheme == "https" ? 443 : 80)
    }

    private static func authority(_ text: Substring, standardPort: UInt16) throws(Fault) -> String {
        var host = text
        var port: Substring = ""
        let isBracketed = text.hasPrefix("[")
        if isBracketed {
            guard let close = text.firstIndex(of: "]") else { throw Fault("has an IPv6 address without its bracket") }
            host = text[..<close].dropFirst()
            let after = text[close...].dropFirst()
            guard after.isEmpty || after.hasPrefix(":") else { throw Fault("has text after the IPv6 address") }
            port = after.dropFirst()
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[colon...].dropFirst()
        }
        do {
            // RFC 6874 writes the zone of a link-local address with an encoded percent sign.
            _ =
                isBracketed
                ? try NetworkHost(bracketed: host.replacing("%25", with: "%", maxReplacements: 1))
                : try NetworkHost(bare: host)
        } catch {
            throw Fault(error.description)
        }
        let name = isBracketed ? "[\(host.lowercased())]" : host.lowercased()
        // RFC 3986, 3.2.3: an empty port is that of the scheme.
        guard !port.isEmpty else { return name }
        guard port.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(port), number > 0 else {
            throw Fault("has a port that is none; ports are 1 to 65535")
        }
        return number == standardPort ? name : "\(name):\(number)"
    }
}
