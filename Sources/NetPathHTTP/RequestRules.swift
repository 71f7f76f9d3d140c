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
        do throws(Endpoint.Fault) { _ = try Endpoint(checking: self.url) } catch {
            return "the address \(error.reason)"
        }
        return nil
    }

    private var fieldProblem: String? {
        self.headers.fields.lazy.compactMap { field in
            field.problem.map { "the field '\(field.name.printable)' \($0)" }
        }.first
    }
}

extension HeaderFields.Field {
    /// Two lengths of one message are how requests are smuggled (RFC 9112, 11.2).
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "trailer", "upgrade"]

    /// What is wrong with it, to be read after its name; nil when it can be sent.
    package var problem: String? {
        if !self.name.isToken { return "has a name with other characters than letters, digits and hyphens" }
        if Self.framing.contains(self.name.lowercased()) { return "is made by the transport; leave it out" }
        // RFC 9110, 5.5.
        let isText = self.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        return isText ? nil : "has a line break or a control character in its value"
    }
}

extension String {
    /// Whether it is a token (RFC 9110, 5.6.2).
    package var isToken: Bool {
        !self.isEmpty
            && self.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: Array("!#$%&'*+-.^_`|~".utf8).contains(byte)
                }
            }
    }

    /// Fit for a message: without controls, and not long.
    var printable: String {
        String(decoding: self.utf8.prefix(200).map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    }
}
