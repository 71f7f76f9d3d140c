// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathServe
import NetPathSystem
import Synchronization
import Testing

/// Clients that ask and do not read, or leave before the answer: what they can make the server keep and do is limited.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HostileClientTests {
    private let release = WakeUpFlag()

    private func server(
        _ limits: ServeLimits = ServeLimits(),
        worker: @escaping StatusServer.Worker = { _ in Array("{}".utf8) }
    ) throws -> (StatusServer, Int) {
        let server = StatusServer(Access(), limits: limits, document: Array("{}".utf8), worker: worker)
        guard case .internet(_, let port) = try server.listen(on: .internet(host: "127.0.0.1", port: 0)) else {
            throw SiteTests.Surprise()
        }
        return (server, port)
    }

    private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

    /// The value of a sample of the server's own metrics.
    private func sample(_ name: String, _ port: Int) throws -> Int {
        let lines = try Client(port).ask("/metrics").split(whereSeparator: \.isNewline)
        return lines.first { $0.hasPrefix("\(name) ") }.flatMap { Int($0.dropFirst(name.utf8.count + 1)) } ?? 0
    }

    private func until(_ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            if ContinuousClock.now > deadline { return false }
        }
        return true
    }

    /// 2.8 GB in 6 s, once: an answer was made for each request, read or not.
    @Test func requestsWaitForTheAnswerBefore() throws {
        let (server, port) = try self.server()
        defer { server.stop() }
        let client = try Client(port, receiveBuffer: 4_096)
        let requests = String(repeating: self.get("/openapi.json"), count: 100)
        let sent = client.flood(requests, limit: 64 << 20)
        #expect(sent < 32 << 20)
        #expect(try self.sample("netpath_serve_answers_total{code=\"200\"}", port) < 200)
        withExtendedLifetime(client) {}
    }

    /// One request is parsed at a time: those behind it wait for the answer, and all are answered in their order.
    @Test func requestsSentAheadAreAnsweredOneByOne() throws {
        let (server, port) = try self.server { [release] work in
            if work == .details { release.wait() }
            return Array("{}".utf8)
        }
        defer { server.stop() }
        let client = try Client(port)
        client.send(self.get("/details") + String(repeating: self.get("/healthz"), count: 200) + "no HTTP\r\n\r\n")
        #expect(try Client(port).ask("/healthz").hasSuffix("ok\n"))
        self.release.set()
        let text = client.readToEnd()
        #expect(text.split(separator: "HTTP/1.1 200 OK").count == 201)
        #expect(text.contains("HTTP/1.1 400 "))
    }

    /// Requests that are sent together take a turn of the server each, so that others are answered in between.
    @Test func othersHaveTheirTurnBetweenRequestsThatAreSentTogether() throws {
        let (server, port) = try self.server()
        defer { server.stop() }
        let client = try Client(port)
        let begin = ContinuousClock.now
        client.send(String(repeating: self.get("/healthz"), count: 40) + self.get("/openapi.json"))
        #expect(client.read(until: "openapi").contains("HTTP/1.1 200 "))
        #expect(ContinuousClock.now - begin >= .milliseconds(40 * 5))
    }

    /// What is made for those that do not read is limited in all, and kept for as long as they may take.
    @Test func longAnswersAreLimitedInAll() throws {
        var limits = ServeLimits()
        limits.shared = 4 << 20
        limits.piece = .seconds(10)
        let (server, port) = try self.server(limits) { work in
            [UInt8](repeating: UInt8(ascii: "x"), count: work.isHistory ? 3 << 20 : 2)
        }
        defer { server.stop() }
        let first = try Client(port, receiveBuffer: 4_096)
        first.send(self.get("/history?hours=1"))
        #expect(try self.until { try Client(port).ask("/history?hours=2").hasPrefix("HTTP/1.1 503 ") })
        // The same again is the same bytes.
        let ended = try self.until { try Client(port).ask("/history?hours=3").hasPrefix("HTTP/1.1 200 ") }
        #expect(ended)
        #expect(first.readToEnd().utf8.count < 3 << 20)
    }

    @Test func metricsDoNotWaitForTheHistory() throws {
        let calls = Calls()
        let (server, port) = try self.server { [release] work in
            if work.isHistory {
                calls.add()
                release.wait()
            }
            return Array("{}".utf8)
        }
        defer { server.stop() }
        var clients = try (1...100).map { hours in
            let client = try Client(port)
            client.send(self.get("/history?hours=\(hours)"))
            return client
        }
        #expect(self.until { calls.count == 1 })
        #expect(try Client(port).ask("/metrics").hasPrefix("HTTP/1.1 200 "))
        #expect(try Client(port).ask("/details").hasPrefix("HTTP/1.1 200 "))
        #expect(try Client(port).ask("/healthz").hasSuffix("ok\n"))
        // What they asked for is not looked up when they are gone.
        clients = []
        #expect(try self.until { try self.sample("netpath_serve_connections", port) == 1 })
        self.release.set()
        #expect(try Client(port).ask("/history?hours=168").hasPrefix("HTTP/1.1 200 "))
        #expect(calls.count == 2)
        withExtendedLifetime(clients) {}
    }

    private final class Calls: Sendable {
        private let value = Mutex(0)
        var count: Int { self.value.withLock { $0 } }
        func add() { self.value.withLock { $0 += 1 } }
    }

    /// A reload takes the token, and what those see who came with the old one.
    @Test func anotherTokenEndsWhatTheOldOneBegan() throws {
        let (old, new) = ("0123456789abcdef-old", "0123456789abcdef-new")
        var access = Access()
        access.token = SecretToken(old)
        let server = StatusServer(access, document: Array("{}".utf8)) { _ in nil }
        guard case .internet(_, let port) = try server.listen(on: .internet(host: "127.0.0.1", port: 0)) else {
            throw SiteTests.Surprise()
        }
        defer { server.stop() }
        let ask = { (token: String, path: String) in
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
        }
        let stream = try Client(port)
        stream.send(ask(old, "/events"))
        #expect(stream.read(until: "event: status").hasPrefix("HTTP/1.1 200 "))
        access.token = SecretToken(new)
        server.apply(access)
        _ = stream.readToEnd()
        let client = try Client(port)
        client.send(ask(old, "/status"))
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 401 "))
        let other = try Client(port)
        other.send(ask(new, "/status"))
        #expect(other.read(until: "{}").hasPrefix("HTTP/1.1 200 "))
    }
}

extension Work {
    fileprivate var isHistory: Bool {
        if case .history = self { true } else { false }
    }
}
