// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathServe
import NetPathTestKit
import Testing

/// Who may ask, and what becomes of those that guess.
struct AccessTests {
    private static let token = "0123456789abcdef-token"

    /// A site that is asked one thing after another.
    private final class Asked {
        private var site: Site

        init(_ access: Access) { self.site = Site(access) }

        func answer(_ request: Request, document: [UInt8] = [], at now: Duration = .zero) -> Outcome {
            self.site.answer(request, document: document, now: now)
        }

        func status(_ request: Request, at now: Duration = .zero) throws -> Int {
            guard case .response(let response) = self.answer(request, at: now) else { throw SiteTests.Surprise() }
            return response.status
        }

        func message() -> String? { self.site.takeMessage() }

        func apply(_ access: Access) -> Bool { self.site.apply(access) }
    }

    private func site(_ prepare: (inout Access) -> Void = { _ in }) -> Asked {
        var access = Access()
        access.token = SecretToken(Self.token)
        prepare(&access)
        return Asked(access)
    }

    private func asking(
        _ token: String,
        from peer: Request.Peer = .address("192.0.2.1"),
        _ fields: [(String, String)] = []
    ) -> Request {
        let own = [("Host", "localhost"), ("Authorization", "Bearer \(token)")]
        return Request("GET", "/status", fields: own + fields, peer: peer)
    }

    private let local = Request.Peer.address("127.0.0.1")

    @Test func aTokenThatIsWrongIsToldFromNone() throws {
        let site = self.site()
        func body(_ request: Request) throws -> String {
            guard case .response(let response) = site.answer(request) else { throw SiteTests.Surprise() }
            return String(decoding: response.body, as: UTF8.self)
        }
        let none = Request("GET", "/status", fields: [("Host", "localhost")], peer: self.local)
        #expect(try body(none).contains("send the token"))
        #expect(try body(self.asking("wrong", from: self.local)).contains("that is not the token"))
    }

    @Test func whatGuessesHasToWait() throws {
        let site = self.site()
        for _ in 0..<4 { #expect(try site.status(self.asking("wrong", from: self.local)) == 401) }
        // An oversight is none.
        #expect(try site.status(self.asking(Self.token, from: self.local)) == 200)
        for _ in 0..<5 { #expect(try site.status(self.asking("wrong", from: self.local)) == 401) }
        #expect(try site.status(self.asking(Self.token, from: self.local)) == 429)
        #expect(try site.status(self.asking(Self.token, from: .address("::1"))) == 200)
        // A user of this machine may come from many addresses.
        #expect(try site.status(self.asking(Self.token, from: .address("127.0.0.2"))) == 429)
        #expect(try site.status(self.asking("wrong", from: self.local), at: .seconds(1)) == 401)
        #expect(try site.status(self.asking(Self.token, from: self.local), at: .seconds(2.5)) == 429)
        #expect(try site.status(self.asking(Self.token, from: self.local), at: .seconds(3)) == 200)
        // How long it is at most.
        var now = Duration.seconds(10)
        for _ in 0..<50 {
            #expect(try site.status(self.asking("wrong", from: self.local), at: now) == 401)
            now += .seconds(30)
        }
        #expect(try site.status(self.asking(Self.token, from: self.local), at: now) == 200)
    }

    @Test func formsAreGuessesToo() throws {
        let site = self.site()
        let form = { (token: String) in
            Request("POST", "/login", fields: [("Host", "localhost")], body: Array("token=\(token)".utf8))
        }
        for _ in 0..<5 { #expect(try site.status(form("wrong")) == 401) }
        #expect(try site.status(form(Self.token)) == 429)
        #expect(try site.status(form(Self.token), at: .seconds(1)) == 303)
    }

    @Test func whoIsLoggedInDoesNotWait() throws {
        let site = self.site()
        let form = Request("POST", "/login", fields: [("Host", "localhost")], body: Array("token=\(Self.token)".utf8))
        guard case .response(let response) = site.answer(form, document: []) else { throw SiteTests.Surprise() }
        let cookie = try #require(response.field("Set-Cookie")).prefix { $0 != ";" }
        for _ in 0..<9 { _ = try site.status(self.asking("wrong", from: self.local)) }
        let shown = Request("GET", "/status", fields: [("Host", "localhost"), ("Cookie", String(cookie))])
        #expect(try site.status(shown) == 200)
    }

    /// Behind a proxy it is the address that the proxy has seen; what a client says before it does not count.
    @Test func clientsOfAProxyWaitAlone() throws {
        let site = self.site()
        let from = { (address: String) in
            let told = "192.0.2.\(Int.random(in: 1...200)), \(address)"
            return self.asking("wrong", from: .unixSocket, [("X-Forwarded-For", told)])
        }
        for last in 1...5 { #expect(try site.status(from("127.0.0.\(last)")) == 401) }
        #expect(try site.status(from("::ffff:127.0.0.9")) == 429)
        for _ in 0..<5 { #expect(try site.status(from("198.51.100.1")) == 401) }
        #expect(try site.status(from("198.51.100.1")) == 429)
        #expect(try site.status(from("198.51.100.2")) == 401)
        // What opens the socket itself is none of them.
        for _ in 0..<9 { #expect(try site.status(self.asking("wrong", from: .unixSocket)) == 401) }
    }

    @Test func guessesAreTold() throws {
        let site = self.site()
        _ = try site.status(self.asking("wrong", from: self.local))
        #expect(site.message() == "wrong token from 127.0.0.1, 1 so far")
        // Not as often as they come.
        for _ in 0..<5 { _ = try site.status(self.asking("wrong", from: self.local)) }
        #expect(site.message() == nil)
        _ = try site.status(self.asking("wrong", from: self.local), at: .seconds(5))
        let message = site.message()
        #expect(message == "wrong token from 127.0.0.1, 6 so far; the next one is checked after 2 s")
        #expect(site.message() == nil)
    }

    /// Of many origins those are forgotten that were silent longest.
    @Test func originsAreLimited() throws {
        let site = self.site()
        for _ in 0..<5 { _ = try site.status(self.asking("wrong", from: self.local)) }
        #expect(try site.status(self.asking(Self.token, from: self.local)) == 429)
        for number in 0..<1_024 {
            let client = [("X-Forwarded-For", "198.51.\(number / 256).\(number % 256)")]
            _ = try site.status(self.asking("wrong", from: .unixSocket, client), at: .milliseconds(1))
        }
        #expect(try site.status(self.asking(Self.token, from: self.local), at: .milliseconds(2)) == 200)
    }

    @Test(arguments: [
        ("localhost:6387", "http://localhost:6387", 303), ("localhost:6387", "http://localhost:3000", 403),
        ("localhost:6387", "http://localhost", 403), ("localhost", "http://localhost:80", 303),
        ("localhost", "https://localhost:443", 303), ("[::1]:6387", "http://[::1]:6387", 303),
        ("[::1]:6387", "http://[::1]:1", 403), ("localhost", "localhost", 403), ("localhost", "null", 403),
        ("localhost", "ftp://localhost", 403),
    ])
    func formsOfAnotherPortAreAnotherSites(_ host: String, _ origin: String, _ expected: Int) throws {
        let site = self.site()
        let form = Request(
            "POST",
            "/login",
            fields: [("Host", host), ("Origin", origin)],
            body: Array("token=\(Self.token)".utf8)
        )
        #expect(try site.status(form) == expected)
    }

    @Test func aFormOfTwoOriginsIsAnotherSites() throws {
        let site = self.site()
        let fields = [("Host", "localhost"), ("Origin", "http://localhost"), ("Origin", "http://evil.example")]
        let form = Request("POST", "/login", fields: fields, body: Array("token=\(Self.token)".utf8))
        #expect(try site.status(form) == 403)
    }

    /// As the service's own socket has it: the sentences of past reasons, with the addresses in them, are not for every user.
    @Test func theHistoryKeepsItsSentencesFromOtherUsers() throws {
        let shown = { (site: Asked, peer: Request.Peer, fields: [(String, String)]) throws -> Bool in
            let request = Request("GET", "/history", fields: [("Host", "localhost")] + fields, peer: peer)
            guard case .work(.history(hours: 24, let withMessages), _, _) = site.answer(request, document: []) else {
                throw SiteTests.Surprise()
            }
            return withMessages
        }
        #expect(try !shown(Asked(Access()), self.local, []))
        #expect(try shown(Asked(Access()), .unixSocket, []))
        #expect(try shown(self.site(), self.local, [("Authorization", "Bearer \(Self.token)")]))
    }

    @Test func sessionsEndWithTheToken() throws {
        let site = self.site()
        let form = Request("POST", "/login", fields: [("Host", "localhost")], body: Array("token=\(Self.token)".utf8))
        guard case .response(let response) = site.answer(form, document: []) else { throw SiteTests.Surprise() }
        let cookie = try #require(response.field("Set-Cookie")).prefix { $0 != ";" }
        let shown = Request("GET", "/status", fields: [("Host", "localhost"), ("Cookie", String(cookie))])
        var access = Access()
        access.token = SecretToken(Self.token)
        access.allowedHosts = ["other.example"]
        #expect(!site.apply(access))
        #expect(try site.status(shown) == 200)
        access.token = SecretToken("another-token-of-16")
        #expect(site.apply(access))
        #expect(try site.status(shown) == 401)
    }

    @Test func aTokenForEverybodyIsNone() throws {
        let folder = try TemporaryDirectory()
        try folder.write("token", Self.token + "\n")
        let path = folder["token"]
        for (mode, isTaken) in [
            (0o600, true), (0o640, true), (0o644, false), (0o642, false), (0o604, false), (0o660, false),
            (0o620, false),
        ] {
            #expect(unsafe chmod(path, mode_t(mode)) == 0)
            #expect((try? TokenFile.read(path)) == (isTaken ? SecretToken(Self.token) : nil))
        }
        #expect(throws: TokenFile.Failure.isPublic) { try TokenFile.read(path) }
        try folder.write("short", "short")
        #expect(unsafe chmod(folder["short"], 0o600) == 0)
        #expect(throws: TokenFile.Failure.noToken) { try TokenFile.read(folder["short"]) }
        #expect(throws: TokenFile.Failure.self) { try TokenFile.read(folder["missing"]) }
    }
}
