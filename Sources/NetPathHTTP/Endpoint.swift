// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The address a request goes to, as far as it has to be understood before it is sent.
///
/// Read here and not by `URL`: that repairs what it does not like, and clients that disagree about the end of a host send
/// requests to another. By bytes: a letter may be several characters of an address.
package struct Endpoint: Hashable, Sendable {
    /// The host in lower case, and the port where it is not that of the scheme, for example `example.net:8080`.
    package let authority: String
    /// The host as it was written, with its brackets.
    package let host: String

    /// What is wrong with an address, to be read after its name; it never quotes the address, which may hold secrets.
    package struct Fault: Error {
        package let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private static let userinfo = "has a name or a password; they belong in the header Authorization"

    /// Finds the parts, which are not looked into.
    package init(_ text: String) throws(Fault) {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            let reason = text.isEmpty ? "is empty" : "has no scheme"
            throw Fault("\(reason); write a whole URL such as https://example.net/path")
        }
        let schemePort: UInt16
        switch Substring(bytes[..<colon]).lowercased() {
        case "http": schemePort = 80
        case "https": schemePort = 443
        default: throw Fault("has a scheme that cannot be sent; http and https can")
        }
        let place = bytes[colon...].dropFirst(3).prefix { byte in
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
        }
        var end = place.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        if place.first == UInt8(ascii: "[") {
            guard let close = place.firstIndex(of: UInt8(ascii: "]")) else {
                throw Fault("has an IPv6 address without its bracket")
            }
            end = place.index(after: close)
            guard end == place.endIndex || place[end] == UInt8(ascii: ":") else {
                throw Fault("has text after the IPv6 address")
            }
        }
        self.host = String(Substring(place[..<end]))
        if self.host.isEmpty || self.host == "[]" { throw Fault("has no host") }
        let port = place[end...].dropFirst()
        // RFC 3986, 3.2.3: an empty port is that of the scheme.
        if port.isEmpty {
            self.authority = self.host.lowercased()
            return
        }
        guard port.allSatisfy({ (48...57).contains($0) }), let number = UInt16(Substring(port)), number > 0 else {
            let isUserinfo = place.contains(UInt8(ascii: "@"))
            throw Fault(isUserinfo ? Self.userinfo : "has an invalid port; ports are 1 to 65535")
        }
        self.authority = self.host.lowercased() + (number == schemePort ? "" : ":\(number)")
    }

    /// Checks every byte of an address, too.
    package init(checking text: String) throws(Fault) {
        for byte in text.utf8 {
            switch byte {
            case 0x21, 0x23...0x3B, 0x3D, 0x3F...0x5B, 0x5D...0x7E: ()
            case 0x20: throw Fault("has a space; a host name has none, and in a path write %20")
            case 0x22, 0x3C, 0x3E, 0x5C: throw Fault("has a quote, an angle bracket or a backslash")
            case ..<0x20, 0x7F: throw Fault("has a line break or a control character")
            default:
                throw Fault("is not in ASCII; write a host in Punycode (xn--…), and the rest percent-encoded")
            }
        }
        try self.init(text)
        // RFC 9110, 4.2.4; and what is in an address ends up in logs.
        if self.host.utf8.contains(UInt8(ascii: "@")) { throw Fault(Self.userinfo) }
    }
}
