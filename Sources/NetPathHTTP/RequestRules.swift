// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension TransportRequest {
    /// Checks what can be checked without a network; transports do so before they send.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Reason/invalidRequest``, not sent: the address is not a whole
    ///   one of `http` or `https`, the method is no token, a field could be read as more than one (CR, LF, NUL), or
    ///   frames the message, which is up to the transport.
    public func validate() throws(TransportError) {
        if let problem = self.addressProblem ?? self.methodProblem ?? self.fieldProblem ?? self.interfaceProblem {
            throw TransportError(.invalidRequest, progress: .notSent, message: problem)
        }
    }

    private var methodProblem: String? {
        guard self.method.isToken else {
            return "the method '\(self.method.printable)' is not valid: give a word such as GET or POST"
        }
        if self.method == "HEAD", self.body != .none { return "a HEAD request has no body" }
        return self.method == "CONNECT" ? "the method CONNECT makes tunnels, not requests" : nil
    }

    private var interfaceProblem: String? {
        guard let name = self.interface else { return nil }
        let isName = (1...15).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        return isName && !name.contains("/") ? nil : "'\(name.printable)' is not the name of an interface"
    }

    private var addressProblem: String? {
        // Only made when it is shown.
        var shown: String { "the address '\(self.url.printable)' is not valid" }
        guard let separator = self.url.utf8.firstIndex(of: UInt8(ascii: ":")),
            self.url[separator...].hasPrefix("://")
        else { return "\(shown): it has no scheme, write http:// or https:// in front" }
        guard ["http", "https"].contains(self.url[..<separator].lowercased()) else {
            return "\(shown): the scheme must be http or https"
        }
        // Where programs disagree about the end of the host, requests go to others than were meant.
        let isAllowed = { (octet: UInt8) in (0x21...0x7e).contains(octet) && ![0x22, 0x3C, 0x3E, 0x5C].contains(octet) }
        guard self.url.utf8.allSatisfy(isAllowed) else {
            return "\(shown): spaces, controls, quotes and letters beyond ASCII must be percent-encoded"
        }
        let rest = self.url[separator...].dropFirst(3)
        let authority = rest.prefix { !"/?#".contains($0) }
        // RFC 9110, 4.2.4; and what is in an address ends up in logs.
        guard !authority.contains("@") else {
            return "the address is not valid: a name and password belong into the field Authorization"
        }
        return self.hostProblem(authority).map { "\(shown): \($0)" }
    }

    private func hostProblem(_ authority: Substring) -> String? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return "the bracket of the host is not closed" }
            host = authority[...end]
            let rest = authority[end...].dropFirst()
            guard rest.isEmpty || rest.hasPrefix(":") else { return "something follows the bracket of the host" }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[colon...].dropFirst()
        }
        guard !host.isEmpty, host != "[]" else { return "it has no host" }
        guard let port, !port.isEmpty else { return nil }
        let isPort = port.utf8.allSatisfy { (48...57).contains($0) } && (1...65_535).contains(Int(port) ?? 0)
        return isPort ? nil : "'\(port)' is not a port, which is a number from 1 to 65535"
    }

    private var fieldProblem: String? {
        for field in self.headers.fields {
            guard field.name.isToken else { return "'\(field.name.printable)' is not the name of a field" }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                return "the value of the field '\(field.name)' contains a line break or another control character"
            }
            // Two lengths of one message are how requests are smuggled (RFC 9112, 11.2).
            if ["content-length", "transfer-encoding", "trailer", "upgrade"].contains(field.name.lowercased()) {
                return "the field '\(field.name)' is made by the transport: leave it out"
            }
        }
        return nil
    }
}

extension String {
    /// Whether it is a token (RFC 9110, 5.6.2).
    package var isToken: Bool {
        !self.isEmpty
            && self.utf8.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: Array("!#$%&'*+-.^_`|~".utf8).contains(octet)
                }
            }
    }

    /// Fit for a message: without controls, and not long.
    var printable: String {
        String(decoding: self.utf8.prefix(200).map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    }
}
