// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A host and a port that a probe connects to.
public struct ProbeTarget: Hashable, Sendable {
    /// What stands before the port.
    public typealias Host = NetworkHost

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
            self.host = try Self.host { () throws(NetworkHost.Fault) in try Host(ipv6: host) }
        } else {
            guard let colon = text.lastIndex(of: ":") else { throw ProbeTargetError("has no port") }
            host = text[..<colon]
            port = text[text.index(after: colon)...]
            guard !host.contains(":") else {
                throw ProbeTargetError(
                    host.contains("//") ? "is a URL" : "has several colons, and IPv6 addresses need brackets"
                )
            }
            self.host = try Self.host { () throws(NetworkHost.Fault) in try Host(bare: host) }
        }
        guard !port.isEmpty else { throw ProbeTargetError("has no port") }
        guard port.allSatisfy({ "0"..."9" ~= $0 && $0.isASCII }), !port.hasPrefix("0"), let number = UInt16(port) else {
            throw ProbeTargetError("has a port that is no number from 1 to 65535")
        }
        self.port = number
        self.text = text
    }

    private static func host(_ read: () throws(NetworkHost.Fault) -> Host) throws(ProbeTargetError) -> Host {
        do throws(NetworkHost.Fault) { return try read() } catch { throw ProbeTargetError(error.description) }
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
    var address: InternetAddress
    var zone: String?
    var port: UInt16
}
