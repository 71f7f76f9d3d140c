// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Who may ask, and what for.
package struct Access: Sendable {
    /// Names that requests may be addressed to besides those of this machine itself, in lower case.
    package var allowedHosts: Set<String> = []
    /// Pages of other origins that may read the answers, exactly as browsers name them.
    package var allowedOrigins: Set<String> = []
    /// The addresses of proxies whose word is taken.
    package var trustedProxies: Set<String> = []
    /// Nil where everybody may see everything who can connect.
    package var token: SecretToken?
    private(set) var sessions = Sessions()

    package init() {}

    // MARK: Where a request comes from

    /// Why a request is not looked at any further; nil when it is.
    func refusal(of request: Request) -> Response? {
        if !request.peer.isLocal, !self.isEncrypted(request) {
            return .refusal(403, "only a proxy with TLS that trustedProxies names is served on this address")
        }
        if case .unixSocket = request.peer { return nil }
        guard let host = request.field("host").flatMap(Self.hostName) else {
            return .refusal(400, "the request names no host")
        }
        // A page of anybody's whose name leads to this machine would read everything otherwise (DNS rebinding).
        guard Self.isOwn(host) || self.allowedHosts.contains(host) else {
            return .refusal(421, "no such host here; allowedHosts of the configuration adds names")
        }
        return nil
    }

    /// Whether a proxy that is trusted says that the request came over TLS.
    func isEncrypted(_ request: Request) -> Bool {
        self.trusts(request.peer) && request.field("x-forwarded-proto") == "https"
    }

    private func trusts(_ peer: Request.Peer) -> Bool {
        switch peer {
        case .unixSocket: true
        case .address(let address): self.trustedProxies.contains(address)
        }
    }

    /// The name without the port, in lower case; nil when it is none.
    static func hostName(_ field: String) -> String? {
        var name = field.lowercased()[...]
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return nil }
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || self.isPort(rest) else { return nil }
            return String(name[...end])
        }
        if let colon = name.firstIndex(of: ":") {
            guard self.isPort(name[colon...]) else { return nil }
            name = name[..<colon]
        }
        return name.isEmpty ? nil : String(name)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.count > 1 && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Whether a name means this machine whoever resolves it: no name server is asked for an address.
    private static func isOwn(_ host: String) -> Bool {
        if host == "localhost" || host.hasPrefix("[") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    // MARK: Other origins

    /// What lets a page of another origin read the answer, where it may.
    func originFields(_ request: Request) -> [(name: String, value: String)] {
        guard !self.allowedOrigins.isEmpty else { return [] }
        let vary = [(name: "Vary", value: "Origin")]
        guard let origin = request.field("origin"), self.allowedOrigins.contains(origin) else { return vary }
        return vary + [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
    }

    // MARK: Who is asking

    /// Whether whoever sent the request may see the state.
    func admits(_ request: Request) -> Bool {
        guard let token else { return true }
        if let words = request.field("authorization")?.split(separator: " ", maxSplits: 1), words.count == 2,
            words[0].lowercased() == "bearer"
        {
            return token.matches(String(words[1]))
        }
        return self.sessions.contains(request.field("cookie"))
    }

    /// Begins a session for somebody who knows the token.
    ///
    /// - Returns: The cookie; nil when the token is another one.
    mutating func logIn(_ request: Request) -> String? {
        let guess = FormText.value("token", in: String(decoding: request.body, as: UTF8.self)) ?? ""
        guard let token, token.matches(guess) else { return nil }
        let secure = self.isEncrypted(request) ? "; Secure" : ""
        return "\(Sessions.cookie)=\(self.sessions.begin()); HttpOnly; SameSite=Strict; Path=/\(secure)"
    }

    /// Ends the session.
    ///
    /// - Returns: What has the browser forget it.
    mutating func logOut(_ request: Request) -> String {
        self.sessions.end(request.field("cookie"))
        return "\(Sessions.cookie)=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"
    }

    /// Whether a form was sent by a page of this very site; browsers say so, and nobody else has cookies.
    func isOwnForm(_ request: Request) -> Bool {
        guard let origin = request.field("origin") else { return true }
        guard let name = origin.split(separator: "/").last.flatMap({ Self.hostName(String($0)) }) else { return false }
        if case .unixSocket = request.peer { return true }
        return request.field("host").flatMap(Self.hostName) == name
    }
}
