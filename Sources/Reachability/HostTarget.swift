// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// A host as the caller wrote it.
package struct HostTarget: Hashable, Sendable {
    /// The host as it was written.
    package let text: String
    /// The host.
    package let host: NetworkHost
    /// The port, if one was named.
    package let port: UInt16?

    /// Reads `example.net`, `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]`, and each but the third with a port.
    ///
    /// An IPv6 address may name the interface to leave through, its zone (RFC 4007): `fe80::7%eth0`.
    package init(_ text: String) throws(HostReachabilityError) {
        do throws(NetworkHost.Fault) {
            let (host, port) = try Self.split(text)
            self.text = String(host)
            self.host =
                host.contains(":") ? try NetworkHost(ipv6: host) : try NetworkHost(bare: host)
            self.port = try port.map { port throws(NetworkHost.Fault) in
                let isNumber = !port.isEmpty && !port.hasPrefix("0") && port.utf8.allSatisfy { (48...57).contains($0) }
                guard isNumber, let number = UInt16(port) else {
                    throw NetworkHost.Fault("has a port that is no number from 1 to 65535")
                }
                return number
            }
        } catch {
            throw HostReachabilityError(text, error.description)
        }
    }

    /// Reads the host of a URL (RFC 3986): `https://user@example.net:8080/path`.
    package init(url: String) throws(HostReachabilityError) {
        guard let start = url.range(of: "://") else {
            throw HostReachabilityError(url, "is no URL with a host, which has '://' before it")
        }
        var authority = url[start.upperBound...].prefix { !"/?#".contains($0) }
        if let user = authority.lastIndex(of: "@") { authority = authority[authority.index(after: user)...] }
        // A port may be left empty.
        if authority.hasSuffix(":") { authority = authority.dropLast() }
        var host = String(authority)
        // The sign before a zone is escaped (RFC 6874), and stands in brackets.
        if host.hasPrefix("["), let escape = host.range(of: "%25") { host.replaceSubrange(escape, with: "%") }
        do throws(HostReachabilityError) {
            try self.init(host)
        } catch {
            throw HostReachabilityError(url, error.fault)
        }
    }

    private static func split(_ text: String) throws(NetworkHost.Fault) -> (host: Substring, port: Substring?) {
        if text.hasPrefix("[") {
            guard let end = text.lastIndex(of: "]") else { throw NetworkHost.Fault("lacks the closing bracket") }
            let host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw NetworkHost.Fault("has something else than a port after the bracket")
            }
            _ = try NetworkHost(ipv6: host)
            return (host, rest.isEmpty ? nil : rest.dropFirst())
        }
        if text.contains("//") { throw NetworkHost.Fault("is a URL") }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return (parts[0], nil)
        case 2: return (parts[0], parts[1])
        default: return (text[...], nil)
        }
    }
}

extension String {
    /// The first place of a text within this one; Foundation has the like, and is not wanted here.
    fileprivate func range(of other: String) -> Range<String.Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(other) { return start..<self.index(start, offsetBy: other.count) }
            start = self.index(after: start)
        }
        return nil
    }
}

/// Why a text names no host whose reachability can be told.
public struct HostReachabilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    public let text: String
    /// What is wrong with it, to be read after the text.
    public let fault: String

    init(_ text: String, _ fault: String) {
        self.text = text
        self.fault = fault
    }

    /// What is wrong, and how a host is written.
    public var description: String {
        "'\(self.text)' \(self.fault); write example.net, 203.0.113.7, 2001:db8::7, fe80::7%eth0 or [2001:db8::7]:443"
    }
}
