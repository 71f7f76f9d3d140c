// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A name server (`resolv.conf(5)`).
public struct DNSServer: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The server's address.
    public var address: InternetAddress
    /// The zone of a link-local address, such as `eth0`.
    public var zone: String?
    /// Whether the kernel would send a packet to the server, as far as this machine's interfaces and routes tell; nil
    /// when that cannot be told.
    ///
    /// Nothing is sent to find out, so that true does not mean that the server answers.
    public var isReachable: Bool?

    /// Creates a name server.
    public init(_ address: InternetAddress, zone: String? = nil, isReachable: Bool? = nil) {
        self.address = address
        self.zone = zone
        self.isReachable = isReachable
    }

    /// The notation of `resolv.conf(5)`.
    public var description: String {
        self.zone.map { "\(self.address)%\($0)" } ?? self.address.description
    }

    /// The server for people, who want to know what is wrong with it.
    package var remark: String { self.isReachable == false ? "\(self) (not reachable)" : self.description }
}

extension DNSServer {
    /// Reads the name servers of a `resolv.conf(5)`: those the system's resolver asks, in order.
    ///
    /// The resolver takes the first three (MAXNS) and skips lines it cannot read; so does this.
    public static func parse(resolvConf text: some StringProtocol) -> [DNSServer] {
        self.parse(resolvConf: text, limit: 3)
    }

    /// Reads a file of that format, of which programs use more servers than the system's resolver does.
    package static func parse(resolvConf text: some StringProtocol, limit: Int) -> [DNSServer] {
        var servers: [DNSServer] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver", servers.count < limit else { continue }
            let parts = words[1].split(separator: "%", maxSplits: 1)
            guard let text = parts.first, let address = InternetAddress(text) else { continue }
            servers.append(DNSServer(address.unmapped, zone: parts.count == 2 ? String(parts[1]) : nil))
        }
        return servers
    }
}
