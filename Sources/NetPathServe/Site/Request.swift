// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A request as far as the site looks at it.
package struct Request: Sendable {
    /// Who sent it, as the socket tells.
    package enum Peer: Hashable, Sendable {
        /// A process of this machine that may open the socket in the file system.
        case unixSocket
        /// An address, without a zone.
        case address(String)

        /// Whether nothing that it sends can be read on the way.
        var isLocal: Bool {
            switch self {
            case .unixSocket: true
            case .address(let address): address.hasPrefix("127.") || address == "::1"
            }
        }
    }

    package var method: String
    /// Everything before the question mark, as it was sent.
    package var path: String
    /// Everything behind it; empty where there is none.
    package var query: String
    /// The fields in the order they were sent, the names in lower case.
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]
    package var peer: Peer

    package init(
        _ method: String,
        _ target: String,
        fields: [(String, String)] = [],
        body: [UInt8] = [],
        peer: Peer = .address("127.0.0.1")
    ) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.path = parts.first.map(String.init) ?? ""
        self.query = parts.count > 1 ? String(parts[1]) : ""
        self.fields = fields.map { ($0.lowercased(), $1) }
        self.body = body
        self.peer = peer
    }

    /// The value of a field; nil when it is absent, or there twice: it is not known then which one others go by.
    func field(_ name: String) -> String? {
        let values = self.fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    /// The value of a name of the query; nil when it is absent or there twice.
    func queryValue(_ name: String) -> String? { FormText.value(name, in: self.query) }
}

/// What forms send (application/x-www-form-urlencoded).
enum FormText: Sendable {
    /// The value of a name; nil when it is absent, there twice, or no UTF-8.
    static func value(_ name: String, in text: String) -> String? {
        let values = text.split(separator: "&").compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0] == name, parts.count == 2 else { return nil }
            return self.decoded(parts[1])
        }
        return values.count == 1 ? values[0] : nil
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
                else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
