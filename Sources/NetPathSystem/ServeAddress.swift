// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where a server listens.
package enum ServeAddress: Hashable, Sendable, CustomStringConvertible {
    /// Where it listens unless configured otherwise.
    package static let usual = ServeAddress.internet(host: "127.0.0.1", port: 6387)

    /// A socket in the file system, of mode 0660.
    case unix(String)
    /// An address and a port.
    case internet(host: String, port: Int)

    /// Reads `127.0.0.1:6387`, `[::1]:6387`, or the absolute path of a socket.
    package init?(_ text: String) {
        if text.hasPrefix("/") {
            self = .unix(text)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        // Names are for those who ask; and a colon belongs into brackets.
        let isNumeric =
            host.contains(":") ? text.hasPrefix("[") : host.split(separator: ".").allSatisfy { UInt8($0) != nil }
        guard !host.isEmpty, isNumeric else { return nil }
        self = .internet(host: host, port: Int(port))
    }

    /// Whether no other machine can connect.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .internet(let host, _): host.hasPrefix("127.") || host == "::1"
        }
    }

    package var description: String {
        switch self {
        case .unix(let path): path
        case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
