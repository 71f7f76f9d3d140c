// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathServe
import NetPathSystem
import Testing

/// Requests and what becomes of them, without a socket.
struct SiteTests {
    private static let token = "0123456789abcdef-token"
    private static let state = Array(#"{"status":"satisfied"}"#.utf8)

    private func answer(_ request: Request, _ prepare: (inout Access) -> Void = { _ in }) -> Outcome {
        var access = Access()
        prepare(&access)
        var site = Site(access)
        return site.answer(request, document: Self.state)
    }

    private func response(_ request: Request, _ prepare: (inout Access) -> Void = { _ in }) throws -> Response {
        guard case .response(let response) = self.answer(request, prepare) else {
            throw Surprise()
        }
        return response
    }

    struct Surprise: Error {}

    private func get(_ target: String, _ fields: [(String, String)] = [], host: String = "localhost:6387") -> Request {
        Request("GET", target, fields: [("Host", host)] + fields)
    }

    // MARK: Pages

    @Test func theStateIsServedAsItIs() throws {
        let response = try self.response(self.get("/status"))
        #expect(response.status == 200)
        #expect(response.body == Self.state + [0x0A])
        #expect(response.field("Cache-Control") == "no-store")
        #expect(response.field("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
        #expect(response.field("Access-Control-Allow-Origin") == nil)
    }

    @Test func everyRouteAnswersOrAsks() {
        for route in Route.allCases {
            let outcome = self.answer(Request(route.methods[0], route.rawValue, fields: [("Host", "localhost")]))
            switch outcome {
            case .response(let response): #expect([200, 303, 401].contains(response.status), "\(route)")
            case .events: #expect(route == .events)
            case .work: #expect([.metrics, .details, .history].contains(route))
            }
        }
    }

    /// What a page loads stays small, and comes from nowhere else.
    @Test func thePageIsSmallAndComplete() throws {
        var size = 0
        for path in ["/", "/page.css", "/page.js", "/banner.js"] {
            let body = try self.response(self.get(path)).body
            size += body.count
            let text = String(decoding: body, as: UTF8.self)
            #expect(!text.contains("https://"), "\(path) names another place")
        }
        #expect(size <= 60_000)
    }

    /// The name of the machine is in the page, escaped, and hidden where the configuration says so.
    @Test func thePageNamesTheMachine() throws {
        let page = { (host: String?) throws -> String in
            var access = Access()
            access.shownHost = host
            var site = Site(access)
            guard case .response(let response) = site.answer(self.get("/"), document: []) else { throw Surprise() }
            return String(decoding: response.body, as: UTF8.self)
        }
        let (named, hostile, hidden) = try (page("kiosk-7"), page(#"a"><script>"#), page(nil))
        #expect(named.contains(#"data-host="kiosk-7""#))
        #expect(hostile.contains(#"data-host="a&quot;>&lt;script>""#))
        #expect(hidden.contains(#"data-host="""#))
    }

    /// A form with a wrong token says so; the first view of it does not.
    @Test func aWrongTokenSaysSo() throws {
        var access = Access()
        access.token = SecretToken("0123456789abcdef")
        var site = Site(access)
        let text = { (outcome: Outcome) throws -> String in
            guard case .response(let response) = outcome else { throw Surprise() }
            return String(decoding: response.body, as: UTF8.self)
        }
        let first = try text(site.answer(self.get("/"), document: []))
        let form = Request("POST", "/login", fields: [("Host", "localhost")], body: Array("token=wrong".utf8))
        let second = try text(site.answer(form, document: []))
        #expect(!first.contains("That token is wrong") && second.contains("That token is wrong"))
    }

    @Test func theDescriptionNamesEveryRoute() throws {
        let body = try self.response(self.get("/openapi.json")).body
        let document = try JSONReader.read(body[...])
        guard case .object(let paths)? = document["paths"] else { throw Surprise() }
        #expect(Set(paths.keys) == Set(Route.allCases.map(\.rawValue)))
        for route in Route.allCases {
            let method = route.methods[0].lowercased()
            #expect(paths[route.rawValue]?[method] != nil, "\(route)")
        }
    }

    @Test(arguments: [
        "/../etc/passwd", "/%2e%2e/etc/passwd", "/page.css/../../etc/passwd", "//status", "/status/", "/STATUS",
        "status",
        "http://localhost/status", "*", "", "/\u{0}", "/status%00",
    ])
    func nothingElseIsThere(_ path: String) throws {
        #expect(try self.response(self.get(path)).status == 404)
    }

    @Test func otherMethodsAreRefused() throws {
        for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"] {
            let response = try self.response(Request(method, "/status", fields: [("Host", "localhost")]))
            #expect(response.status == 405)
            #expect(response.field("Allow") == "GET, HEAD")
        }
        #expect(try self.response(self.get("/login")).status == 405)
    }

    @Test func historyTakesHours() throws {
        guard case .work(.history(hours: 24, _), _, _) = self.answer(self.get("/history")) else { throw Surprise() }
        guard case .work(.history(hours: 168, _), _, _) = self.answer(self.get("/history?hours=168")) else {
            throw Surprise()
        }
        for query in [
            "hours=0", "hours=169", "hours=x", "hours=", "hours=1&hours=2", "since=1", "hours=99999999999999999999",
        ] {
            #expect(try self.response(self.get("/history?\(query)")).status == 400, "\(query)")
        }
    }

    @Test func metricsComeInTheFormatThatIsAskedFor() throws {
        guard case .work(.metrics(isOpenMetrics: false), _, _) = self.answer(self.get("/metrics")) else {
            throw Surprise()
        }
        let accept = [("Accept", "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1")]
        guard case .work(.metrics(isOpenMetrics: true), let type, _) = self.answer(self.get("/metrics", accept)) else {
            throw Surprise()
        }
        #expect(type.hasPrefix("application/openmetrics-text"))
    }

    // MARK: Hosts

    @Test(arguments: ["localhost", "LOCALHOST:80", "127.0.0.1:6387", "[::1]:6387", "192.0.2.7"])
    func ownNamesAreServed(_ host: String) throws {
        #expect(try self.response(self.get("/status", host: host)).status == 200)
    }

    /// DNS rebinding: a name of anybody's that leads here.
    @Test(arguments: ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:6387"])
    func othersNamesAreNot(_ host: String) throws {
        #expect(try self.response(self.get("/status", host: host)).status == 421)
        let name = String(host.prefix { $0 != ":" })
        let named = { (access: inout Access) in access.allowedHosts = [name] }
        #expect(try self.response(self.get("/status", host: host), named).status == 200)
        #expect(try self.response(Request("GET", "/status", fields: [("Host", host)], peer: .unixSocket)).status == 200)
    }

    @Test(arguments: ["", "localhost:x", "localhost:", "[::1", "[::1]x"])
    func whatIsNoHostIsRefused(_ host: String) throws {
        #expect(try self.response(self.get("/status", host: host)).status == 400)
        #expect(try self.response(Request("GET", "/status")).status == 400)
        let twice = [("Host", "localhost"), ("Host", "evil.example")]
        #expect(try self.response(Request("GET", "/status", fields: twice)).status == 400)
    }

    // MARK: Tokens

    @Test func aTokenIsAskedFor() throws {
        let guarded = { (access: inout Access) in access.token = SecretToken(Self.token) }
        for route in Route.allCases where !route.isPublic {
            let request = Request(route.methods[0], route.rawValue, fields: [("Host", "localhost")])
            #expect(try self.response(request, guarded).status == 401, "\(route)")
        }
        for word in ["Bearer \(Self.token)", "bearer \(Self.token)"] {
            #expect(try self.response(self.get("/status", [("Authorization", word)]), guarded).status == 200)
        }
        for word in [
            "Bearer \(Self.token)x", "Bearer \(Self.token.dropLast())", "Bearer ", "Basic \(Self.token)", Self.token,
        ] {
            #expect(try self.response(self.get("/status", [("Authorization", word)]), guarded).status == 401)
        }
        // No token ever stands in an address.
        #expect(try self.response(self.get("/status?token=\(Self.token)"), guarded).status == 401)
        #expect(try self.response(self.get("/healthz"), guarded).status == 200)
        #expect(try self.response(self.get("/banner.js"), guarded).status == 200)
    }

    @Test func aPersonLogsIn() throws {
        var access = Access()
        access.token = SecretToken(Self.token)
        var site = Site(access)
        func ask(_ request: Request) throws -> Response {
            guard case .response(let response) = site.answer(request, document: Self.state) else { throw Surprise() }
            return response
        }
        let form = { (token: String, origin: String) in
            Request(
                "POST",
                "/login",
                fields: [("Host", "localhost"), ("Origin", origin)],
                body: Array("token=\(token)".utf8)
            )
        }
        let wrong = try ask(form("wrong", "http://localhost"))
        #expect(wrong.status == 401)
        let foreign = try ask(form(Self.token, "http://evil.example"))
        #expect(foreign.status == 403)
        let welcome = try ask(form(Self.token, "http://localhost"))
        #expect(welcome.status == 303)
        let cookie = try #require(welcome.field("Set-Cookie"))
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(Self.token))
        let shown = [("Cookie", "other=1; \(cookie.prefix { $0 != ";" })")]
        #expect(try ask(self.get("/status", shown)).status == 200)
        #expect(try ask(self.get("/status", [("Cookie", "netpath=1")])).status == 401)
        #expect(try ask(Request("POST", "/logout", fields: [("Host", "localhost")] + shown)).status == 303)
        #expect(try ask(self.get("/status", shown)).status == 401)
    }

    @Test func sessionsAreLimited() {
        var sessions = Sessions()
        let first = sessions.begin()
        let none: String? = nil
        for _ in 1..<Sessions.limit { _ = sessions.begin() }
        #expect(sessions.contains("netpath=\(first)"))
        let last = sessions.begin()
        #expect(!sessions.contains("netpath=\(first)"))
        #expect(sessions.contains("netpath=\(last)"))
        #expect(!sessions.contains(none) && !sessions.contains("netpath=") && !sessions.contains("netpath"))
    }

    @Test func tokensAreLongEnough() {
        #expect(SecretToken("short") == nil)
        #expect(SecretToken("0123456789 abcdef") == nil)
        #expect(SecretToken("  0123456789abcdef\n")?.matches("0123456789abcdef") == true)
        #expect(SecretToken(Self.token)?.matches("") == false)
        #expect(SecretToken(Self.token)?.matches(Self.token + Self.token) == false)
    }

    // MARK: Proxies and other origins

    @Test func othersNeedAProxyWithTLS() throws {
        let guarded = { (access: inout Access) in
            access.token = SecretToken(Self.token)
            access.trustedProxies = ["192.0.2.1"]
            access.allowedHosts = ["status.example"]
        }
        let fields = [
            ("Host", "status.example"), ("Authorization", "Bearer \(Self.token)"), ("X-Forwarded-Proto", "https"),
        ]
        func status(_ address: String, _ fields: [(String, String)]) throws -> Int {
            try self.response(Request("GET", "/metrics", fields: fields, peer: .address(address)), guarded).status
        }
        let proxied = Request("GET", "/metrics", fields: fields, peer: .address("192.0.2.1"))
        guard case .work = self.answer(proxied, guarded) else { throw Surprise() }
        #expect(try status("192.0.2.9", fields) == 403)
        #expect(try status("192.0.2.1", Array(fields.dropLast())) == 403)
        #expect(try status("192.0.2.1", [fields[0], fields[2]]) == 401)
    }

    @Test func onlyOriginsThatAreNamedMayRead() throws {
        let open = { (access: inout Access) in access.allowedOrigins = ["http://localhost:3000"] }
        let asking = { (origin: String) in self.get("/status", [("Origin", origin)]) }
        let allowed = try self.response(asking("http://localhost:3000"), open)
        #expect(allowed.field("Access-Control-Allow-Origin") == "http://localhost:3000")
        #expect(allowed.field("Vary") == "Origin")
        for origin in ["http://localhost:3001", "https://localhost:3000", "http://localhost:3000.evil.example", "null"]
        {
            #expect(try self.response(asking(origin), open).field("Access-Control-Allow-Origin") == nil)
        }
        #expect(try self.response(self.get("/banner.js")).field("Access-Control-Allow-Origin") == "*")
    }
}
