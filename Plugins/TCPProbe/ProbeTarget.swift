// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A host and a port that a probe connects to.
public struct ProbeTarget: Hashable, Sendable {
    /// The target as it was written, which is what it is called in reports.
    public let text: String
    /// The host.
    public let host: NetworkHost
    /// The port.
    public let port: UInt16

    /// Reads `203.0.113.7:443`, `[2001:db8::7]:443`, `[fe80::1%eth0]:443` or `example.net:443`.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``ProbeTargetError``, which says what is wrong with it.
    public init(_ text: String) throws(ProbeTargetError) {
        do throws(NetworkHost.Fault) {
            let (host, _, port) = try NetworkHost.withPort(text)
            guard let port else {
                let isBare = !text.hasPrefix("[") && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
                throw NetworkHost.Fault(
                    isBare ? "has several colons, and IPv6 addresses need brackets" : "has no port"
                )
            }
            (self.text, self.host, self.port) = (text, host, port)
        } catch {
            throw ProbeTargetError(error.description)
        }
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
