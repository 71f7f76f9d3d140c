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
            let (host, name, port) = try NetworkHost.withPort(text)
            (self.text, self.host, self.port) = (String(name), host, port)
        } catch {
            throw HostReachabilityError(text: text, fault: error.description)
        }
    }

    /// Reads the host of a URL (RFC 3986): `https://user@example.net:8080/path`.
    package init(url: String) throws(HostReachabilityError) {
        guard let start = url.firstRange(of: "://") else {
            throw HostReachabilityError(text: url, fault: "is no URL with a host, which has '://' before it")
        }
        var authority = url[start.upperBound...].prefix { !"/?#".contains($0) }
        if let user = authority.lastIndex(of: "@") { authority = authority[authority.index(after: user)...] }
        // A port may be left empty.
        if authority.hasSuffix(":") { authority = authority.dropLast() }
        var host = String(authority)
        // The sign before a zone is escaped (RFC 6874), and stands in brackets.
        if host.hasPrefix("["), let escape = host.firstRange(of: "%25") { host.replaceSubrange(escape, with: "%") }
        do throws(HostReachabilityError) {
            try self.init(host)
        } catch {
            throw HostReachabilityError(text: url, fault: error.fault)
        }
    }
}

/// Why a text names no host whose reachability can be told.
public struct HostReachabilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    public let text: String
    /// What is wrong with it, to be read after the text.
    public let fault: String

    /// What is wrong, and how a host is written.
    public var description: String {
        "'\(self.text)' \(self.fault); write example.net, 203.0.113.7, 2001:db8::7, fe80::7%eth0 or [2001:db8::7]:443"
    }
}
