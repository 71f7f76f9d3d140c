// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The parts of the address a request goes to.
///
/// Read here and not by `URL`: that repairs what it does not like, and what is refused now must not fail later, when
/// nobody is there to be told.
struct Endpoint: Hashable, Sendable {
    /// The scheme, in lower case.
    var scheme: String
    /// What precedes the @ sign; nil without one.
    var userinfo: Substring?
    /// The host in lower case, and the port where it is not that of the scheme, for example `example.net:8080`.
    var authority: String
    /// What follows the host and the port.
    var rest: Substring

    /// What is wrong with an address, to be read after its name.
    struct Fault: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw Fault("is empty; write a whole URL such as https://example.net/path") }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || scalar.value == 0x7F { throw Fault("has a line break or a control character") }
            if scalar == " " { throw Fault("has a space; write %20") }
            if !scalar.isASCII { throw Fault("has other characters than ASCII; write them percent-encoded") }
        }
        guard let mark = text.firstRange(of: "://") else {
            throw Fault("has no scheme; write a whole URL such as https://example.net/path")
        }
        self.scheme = text[..<mark.lowerBound].lowercased()
        guard self.scheme == "http" || self.scheme == "https" else {
            throw Fault("has the scheme \(self.scheme.printable(limit: 40)); only http and https can be sent")
        }
        let place = text[mark.upperBound...]
        let end = place.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" || $0 == "\\" } ?? place.endIndex
        self.rest = place[end...]
        // Clients differ in what they take a backslash for, and this is how hosts are smuggled past checks.
        guard !self.rest.hasPrefix("\\") else { throw Fault("has a backslash after the host") }
        var host = place[..<end]
        if let at = host.lastIndex(of: "@") {
            self.userinfo = host[..<at]
            host = host[host.index(after: at)...]
        }
        self.authority = try Self.authority(host, of: self.scheme)
    }

    private static func authority(_ text: Substring, of scheme: String) throws(Fault) -> String {
        var host = text
        var port: Substring?
        let isBracketed = text.hasPrefix("[")
        if isBracketed {
            guard let close = text.firstIndex(of: "]") else { throw Fault("has an IPv6 address without its bracket") }
            host = text[text.index(after: text.startIndex)..<close]
            let after = text[text.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw Fault("has text after the IPv6 address") }
            if after.hasPrefix(":") { port = after.dropFirst() }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        do {
            // RFC 6874 writes the zone of a link-local address with an encoded percent sign.
            _ =
                isBracketed
                ? try NetworkHost(bracketed: host.replacing("%25", with: "%", maxReplacements: 1))
                : try NetworkHost(bare: host)
        } catch {
            throw Fault(error.description)
        }
        var authority = isBracketed ? "[\(host.lowercased())]" : host.lowercased()
        // RFC 3986, 3.2.3: an empty port is that of the scheme.
        if let port, !port.isEmpty {
            guard port.allSatisfy(\.isNumber), let number = UInt16(port), number > 0 else {
                throw Fault("has a port that is none; ports are 1 to 65535")
            }
            if number != (scheme == "https" ? 443 : 80) { authority += ":\(number)" }
        }
        return authority
    }
}
