// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

@testable import NetPathNetlink

/// Datagrams of the kernel, recorded in `Tests/Fixtures/Netlink`: lines of hexadecimal digits, `#` begins a comment, an empty line
/// ends a datagram.
enum Fixture {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Fixtures/Netlink").standardizedFileURL

    /// The names of all fixtures.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: Self.folder.path())) ?? []
        return files.filter { $0.hasSuffix(".hex") }.map { String($0.dropLast(4)) }.sorted()
    }()

    /// Reads the datagrams of a fixture.
    static func datagrams(_ name: String) throws -> [[UInt8]] {
        let text = try String(contentsOf: Self.folder.appending(path: "\(name).hex"), encoding: .utf8)
        return text.components(separatedBy: "\n\n").compactMap { part in
            let digits = part.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined()
            let bytes = stride(from: 0, to: digits.utf8.count - 1, by: 2).compactMap { position in
                UInt8(digits.dropFirst(position).prefix(2), radix: 16)
            }
            return bytes.isEmpty ? nil : bytes
        }
    }

    /// Decodes every message of a fixture.
    static func decode<Value>(_ name: String, _ body: (NetlinkMessage) -> Value?) throws -> [Value?] {
        var values: [Value?] = []
        for datagram in try Self.datagrams(name) {
            NetlinkMessage.forEach(in: datagram) { values.append(body($0)) }
        }
        return values
    }

    /// Decodes the first message of a fixture.
    static func first<Value>(_ name: String, _ body: (NetlinkMessage) -> Value?) throws -> Value? {
        try Self.decode(name, body).first ?? nil
    }
}

/// Everything the backend reads from a message, whatever its type says.
struct DecodedMessage {
    let error: Int32?
    let link: LinkUpdate?
    let address: AddressUpdate?
    let route: RouteReply?
    let nextHop: NextHopReply?
    let neighbour: NeighbourUpdate?
    let policy: IPsecPolicy?
    let state: IPsecState?

    init(_ message: NetlinkMessage) {
        self.error = message.error
        self.link = LinkUpdate(message)
        self.address = AddressUpdate(message)
        self.route = RouteReply(message)
        self.nextHop = NextHopReply(message)
        self.neighbour = NeighbourUpdate(message)
        self.policy = IPsecPolicy(message)
        self.state = IPsecState(message)
    }
}
