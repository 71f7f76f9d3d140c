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
    /// The name of the machine, for the title and the heading of the page; nil where it is hidden.
    package var shownHost: String?
    /// Nil where everybody may see everything who can connect.
    package var token: SecretToken?
    private(set) var sessions = Sessions()
    private var guesses = TokenGuesses()

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
            return .refusal(421, "no such host here; serve.allowedHosts in the configuration adds names")
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

    /// Whether a name means this machine on every machine: no name server is asked for an address.
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

    /// What becomes of a request that has to bring the token.
    package enum Admission: Hashable, Sendable {
        case admitted
        case refused
        /// Too many wrong tokens came from there; the right one is not looked at for so long.
        case slowedDown(Duration)
    }

    /// Whether a client may see the state that sent a request.
    mutating func admission(of request: Request, now: Duration) -> Admission {
        guard let token else { return .admitted }
        if let words = request.field("authorization")?.split(separator: " ", maxSplits: 1), words.count == 2,
            words[0].lowercased() == "bearer"
        {
            return self.admission(of: String(words[1]), token, request, now: now)
        }
        return self.sessions.contains(request.field("cookie")) ? .admitted : .refused
    }

    /// Whether a form holds the token.
    mutating func logIn(_ request: Request, now: Duration) -> Admission {
        guard let token else { return .refused }
        let guess = FormText.value("token", in: String(decoding: request.body, as: UTF8.self)) ?? ""
        return self.admission(of: guess, token, request, now: now)
    }

    private mutating func admission(
        of guess: String,
        _ token: SecretToken,
        _ request: Request,
        now: Duration
    ) -> Admission {
        guard let origin = self.origin(of: request) else { return token.matches(guess) ? .admitted : .refused }
        if let wait = self.guesses.wait(of: origin, now: now) { return .slowedDown(wait) }
        guard token.matches(guess) else {
            self.guesses.failed(origin, now: now)
            return .refused
        }
        self.guesses.succeeded(origin)
        return .admitted
    }

    /// Who has to wait after wrong tokens; nil for those that may open the socket in the file system.
    private func origin(of request: Request) -> String? {
        let origin: String
        if self.trusts(request.peer), let clients = request.field("x-forwarded-for") {
            // The last one is what the proxy itself has seen.
            let last = clients.split(separator: ",").last ?? ""
            origin = String(last.drop { $0 == " " }.prefix(64))
        } else if case .address(let address) = request.peer {
            origin = address
        } else {
            return nil
        }
        // A user of this machine may come from any address of 127.0.0.0/8.
        return origin.hasPrefix("127.") || origin.hasPrefix("::ffff:127.") ? "127.0.0.1" : origin
    }

    /// Begins a session for a client that knows the token; returns the cookie.
    mutating func beginSession(_ request: Request) -> String {
        let secure = self.isEncrypted(request) ? "; Secure" : ""
        return "\(Sessions.cookie)=\(self.sessions.begin()); HttpOnly; SameSite=Strict; Path=/\(secure)"
    }

    /// Whether the sentences of past reasons are shown, which hold addresses: to those that know the token, or may open
    /// the socket in the file system, as the service's own socket has it.
    func showsMessages(to peer: Request.Peer) -> Bool { self.token != nil || peer == .unixSocket }

    /// Takes what the administrator should know; nil when there is nothing.
    mutating func takeMessage() -> String? { self.guesses.takeMessage() }

    /// Takes other rules.
    ///
    /// - Returns: Whether the token is another one; then there are no sessions any more.
    mutating func apply(_ new: Access) -> Bool {
        let isOther = self.token != new.token
        let (sessions, guesses) = (self.sessions, self.guesses)
        self = new
        self.guesses = guesses
        if !isOther { self.sessions = sessions }
        return isOther
    }

    /// Ends the session.
    ///
    /// - Returns: What has the browser forget it.
    mutating func logOut(_ request: Request) -> String {
        self.sessions.end(request.field("cookie"))
        return "\(Sessions.cookie)=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"
    }

    /// Whether a form was sent by a page of this very site; browsers say so, and nothing else has cookies.
    func isOwnForm(_ request: Request) -> Bool {
        guard request.fields.contains(where: { $0.name == "origin" }) else { return true }
        guard let origin = request.field("origin"), let colon = origin.firstIndex(of: ":"),
            origin[colon...].hasPrefix("://")
        else { return false }
        let usualPort = ["http": 80, "https": 443][String(origin[..<colon])]
        let site = String(origin[colon...].dropFirst(3))
        guard let usualPort, let name = Self.hostName(site) else { return false }
        // A proxy in front of it may have another name.
        if case .unixSocket = request.peer { return true }
        guard let host = request.field("host"), Self.hostName(host) == name else { return false }
        return (Self.port(of: host) ?? usualPort) == (Self.port(of: site) ?? usualPort)
    }

    /// The port behind a name; nil where there is none.
    private static func port(of field: String) -> Int? {
        let end = field.lastIndex(of: "]") ?? field.startIndex
        guard let colon = field[end...].lastIndex(of: ":") else { return nil }
        return Int(field[field.index(after: colon)...])
    }
}
