// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathServe
import NetPathSystem
import Testing

/// What clients may do to the server; it answers the next one all the same.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BadInputTests {
    private let server: StatusServer
    private let port: Int

    init() throws {
        OpenFiles.raiseLimit()
        (self.server, self.port) = try Self.started(request: .seconds(10))
    }

    private static func started(request: Duration) throws -> (StatusServer, Int) {
        var limits = ServeLimits()
        limits.connections = 500
        limits.request = request
        let server = StatusServer(Access(), limits: limits, document: Array("{}".utf8)) { _ in Array("{}".utf8) }
        guard case .internet(_, let port) = try server.listen(on: .internet(host: "127.0.0.1", port: 0)) else {
            throw SiteTests.Surprise()
        }
        return (server, port)
    }

    /// Whether it still answers; it may be busy with closing others.
    private func expectLife(at port: Int? = nil) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        var answer = ""
        while !answer.hasPrefix("HTTP/1.1 200 "), ContinuousClock.now < deadline {
            answer = (try? Client(port ?? self.port).ask("/status")) ?? ""
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        "\r\n\r\n\r\nhello\r\n\r\n", "GET\r\n\r\n", "GET /status HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET /status HTTP/1.1\nHost : localhost\n\n", "\u{16}\u{3}\u{1}\u{2}\u{0}",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzzz\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func whatIsNotHTTPIsRefused(_ text: String) throws {
        defer { self.server.stop() }
        let client = try Client(self.port)
        client.send(text)
        let answer = client.readToEnd()
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(answer)")
        try self.expectLife()
    }

    @Test func headersAreLimited() throws {
        defer { self.server.stop() }
        let megabyte = String(repeating: "x", count: 1_000_000)
        for text in [
            "GET /status HTTP/1.1\r\nHost: localhost\r\nX: \(megabyte)\r\n\r\n", "GET /\(megabyte) HTTP/1.1\r\n\r\n",
        ] {
            let client = try Client(self.port)
            client.send(text)
            let answer = client.readToEnd()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 "), "\(answer.prefix(100))")
        }
        let many = (0..<1_000).map { "X-\($0): y\r\n" }.joined()
        let client = try Client(self.port)
        client.send("GET /status HTTP/1.1\r\nHost: localhost\r\n\(many)\r\n")
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 431 "))
        try self.expectLife()
    }

    @Test func bodiesAreLimited() throws {
        defer { self.server.stop() }
        let client = try Client(self.port)
        client.send(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
                + String(repeating: "x", count: 8_000)
        )
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 413 "))
        try self.expectLife()
    }

    /// Chunks of a byte each keep the server busy, and so does a body where none is wanted.
    @Test(arguments: [
        ("POST /login", "Transfer-Encoding: chunked", 411), ("GET /status", "Transfer-Encoding: chunked", 411),
        ("GET /status", "Content-Length: 7", 413), ("POST /login", "Content-Length: 5000", 413),
    ])
    func bodiesAreRefusedAtTheHeader(request: String, field: String, status: Int) throws {
        defer { self.server.stop() }
        let client = try Client(self.port)
        client.send("\(request) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n\r\n")
        #expect(client.readToEnd().hasPrefix("HTTP/1.1 \(status) "))
        try self.expectLife()
    }

    /// One that says nothing, and one that never comes to an end.
    @Test func halfOpenClientsAreLetGo() throws {
        defer { self.server.stop() }
        let (hasty, port) = try Self.started(request: .seconds(2))
        defer { hasty.stop() }
        let silent = try Client(port)
        let endless = try Client(port)
        endless.send("GET /status HTTP/1.1\r\nHost: loc")
        #expect(silent.readToEnd().isEmpty)
        #expect(endless.readToEnd().isEmpty)
        try self.expectLife(at: port)
    }

    @Test func connectionsAreLimited() throws {
        defer { self.server.stop() }
        var clients: [Client] = []
        // In all 10,000, of which as many are open at a time as the system lets this process have.
        for _ in 0..<10 {
            for _ in 0..<1_000 { if let client = try? Client(self.port) { clients.append(client) } }
            #expect(clients.count > 500)
            clients = []
        }
        try self.expectLife()
        #expect(try Client(self.port).ask("/metrics").contains("refused_connections_total"))
    }

    /// Neither streams of events nor connections without a request keep others from asking.
    @Test func thereIsRoomForRequestsBesideStreams() throws {
        defer { self.server.stop() }
        let streams = try (0..<500).map { _ in
            let client = try Client(self.port)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return client
        }
        var refused = 0
        for stream in streams where stream.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503 ") {
            refused += 1
        }
        #expect(refused == 125)
        #expect(try Client(self.port).ask("/metrics").contains("netpath_serve_streams 375"))
        let silent = try (0..<200).map { _ in try Client(self.port) }
        #expect(try Client(self.port).ask("/healthz").hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime((streams, silent)) {}
    }
}
