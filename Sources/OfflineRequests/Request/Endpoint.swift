// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The address a request goes to, as far as the queue has to understand it.
///
/// Read here and not by `URL`: that repairs what it does not like, and what the transport would refuse must be refused
/// when the request is enqueued, while somebody is there to be told. By octets, since it is read for every attempt.
struct Endpoint: Hashable, Sendable {
    /// The host in lower case, and the port where it is not that of the scheme, for example `example.net:8080`.
    let authority: String
    /// What comes before the path, as it was written.
    private let start: ArraySlice<UInt8>
    /// The host as it was written, without brackets.
    private let host: ArraySlice<UInt8>
    private let isBracketed: Bool

    /// What is wrong with an address, to be read after its name; it never quotes the address, which may hold secrets.
    struct Fault: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Finds the parts, which are not looked into.
    init(_ text: String) throws(Fault) { try self.init(octets: Array(text.utf8)) }

    private init(octets: [UInt8]) throws(Fault) {
        guard let colon = octets.firstIndex(of: UInt8(ascii: ":")), octets[colon...].starts(with: "://".utf8) else {
            let reason = octets.isEmpty ? "is empty" : "has no scheme"
            throw Fault("\(reason); write a whole URL such as https://example.net/path")
        }
        let scheme = Self.lowercased(octets[..<colon])
        guard scheme == "http" || scheme == "https" else {
            throw Fault("has a scheme that cannot be sent; http and https can")
        }
        let standardPort: UInt16 = scheme == "http" ? 80 : 443
        let place = octets[(colon + 3)...].prefix { !Self.endsHost($0) }
        self.start = octets[..<place.endIndex]
        var port: ArraySlice<UInt8>
        self.isBracketed = place.first == UInt8(ascii: "[")
        if self.isBracketed {
            guard let close = place.firstIndex(of: UInt8(ascii: "]")) else {
                throw Fault("has an IPv6 address without its bracket")
            }
            self.host = place[..<close].dropFirst()
            port = place[(close + 1)...]
            guard port.isEmpty || port.first == UInt8(ascii: ":") else {
                throw Fault("has text after the IPv6 address")
            }
        } else {
            let end = place.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
            self.host = place[..<end]
            port = place[end...]
        }
        port = port.dropFirst()
        let name = self.isBracketed ? "[\(Self.lowercased(self.host))]" : Self.lowercased(self.host)
        // RFC 3986, 3.2.3: an empty port is that of the scheme.
        if port.isEmpty {
            self.authority = name
            return
        }
        guard port.allSatisfy({ (48...57).contains($0) }), let number = UInt16(String(decoding: port, as: UTF8.self)),
            number > 0
        else {
            throw Fault(
                place.contains(UInt8(ascii: "@")) ? Self.userinfo : "has a port that is none; ports are 1 to 65535"
            )
        }
        self.authority = number == standardPort ? name : "\(name):\(number)"
    }

    /// In lower case, as far as it is ASCII, which a valid address is.
    private static func lowercased(_ octets: ArraySlice<UInt8>) -> String {
        String(decoding: octets.map { (65...90).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static let userinfo = "has a name or a password; they belong into the header Authorization"

    private static func endsHost(_ octet: UInt8) -> Bool {
        octet == UInt8(ascii: "/") || octet == UInt8(ascii: "?") || octet == UInt8(ascii: "#")
    }

    /// Checks every octet of an address, and the host.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - last: One that was checked before; most requests go where the one before went.
    /// - Throws: ``Fault``.
    init(checking text: String, after last: Endpoint? = nil) throws(Fault) {
        let octets = Array(text.utf8)
        for octet in octets {
            switch octet {
            case 0x21, 0x23...0x3B, 0x3D, 0x3F...0x5B, 0x5D...0x7E: ()
            case 0x20: throw Fault("has a space; write %20")
            // Clients differ in what they take a backslash for, and this is how requests get to other hosts.
            case 0x22, 0x3C, 0x3E, 0x5C: throw Fault("has a quote, an angle bracket or a backslash")
            case ..<0x20, 0x7F: throw Fault("has a line break or a control character")
            default: throw Fault("has other characters than ASCII; write them percent-encoded")
            }
        }
        if let last, octets.starts(with: last.start),
            octets.dropFirst(last.start.count).first.map(Self.endsHost) ?? true
        {
            self = last
            return
        }
        try self.init(octets: octets)
        // RFC 9110, 4.2.4.
        guard !self.host.contains(UInt8(ascii: "@")) else { throw Fault(Self.userinfo) }
        let host = Substring(decoding: self.host, as: UTF8.self)
        do {
            // RFC 6874 writes the zone of a link-local address with an encoded percent sign.
            _ =
                self.isBracketed
                ? try NetworkHost(bracketed: host.replacing("%25", with: "%", maxReplacements: 1))
                : try NetworkHost(bare: host)
        } catch {
            throw Fault(error.description)
        }
    }
}
