// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathServe
import NetPathSystem
import Testing

/// The server on sockets of its own: loopback, and one in the file system.
@Suite(.timeLimit(.minutes(5)))
struct ServerTests {
    private static func server(
        _ limits: ServeLimits = ServeLimits(),
        worker: @escaping StatusServer.Worker = { _ in Array("{}".utf8) }
    ) throws -> (StatusServer, Int) {
        let server = StatusServer(Access(), limits: limits, document: Array(#"{"n":0}"#.utf8), worker: worker)
        guard case .internet(_, let port) = try server.listen(on: .internet(host: "127.0.0.1", port: 0)) else {
            throw SiteTests.Surprise()
        }
        return (server, port)
    }

    @Test func answersOneRequestAfterAnother() throws {
        let (server, port) = try Self.server()
        defer { server.stop() }
        let client = try Client(port)
        for _ in 0..<3 {
            client.send("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(client.read(until: "{\"n\":0}\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
        client.send(
            "HEAD /status HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        let rest = client.readToEnd()
        #expect(rest.contains("Content-Length: 8\r\n") && rest.hasSuffix("ok\n") && !rest.contains("{\"n\""))
    }

    @Test func streamsEveryStateOrTheNewest() throws {
        let (server, port) = try Self.server()
        defer { server.stop() }
        let client = try Client(port)
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(client.read(until: "\n\n").contains("text/event-stream"))
        for number in 1...100 { server.publish(Array("{\"n\":\(number)}\n".utf8)) }
        let text = client.read(until: "{\"n\":100}\n\n")
        // Of those in between some may be missing; none comes late.
        let numbers = text.split(separator: "\n").compactMap {
            $0.hasPrefix("data: {\"n\":") ? Int($0.dropFirst(11).dropLast()) : nil
        }
        #expect(numbers == numbers.sorted() && numbers.last == 100)
    }

    @Test func heartbeatsAreSentAndDeadClientsLetGo() throws {
        var limits = ServeLimits()
        // On a busy machine one that reads may be let go, too, where it has less time.
        limits.heartbeat = .milliseconds(500)
        let (server, port) = try Self.server(limits)
        defer { server.stop() }
        let client = try Client(port)
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(client.read(until: "event: heartbeat").contains("retry: 1000"))
        // Never reads: its buffers fill, and it is let go, while another one gets everything.
        let deaf = try Client(port, receiveBuffer: 4_096)
        deaf.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let padding = String(repeating: "x", count: 100_000)
        var number = 0
        var metrics = "netpath_serve_stalled_streams_total 0\n"
        let deadline = ContinuousClock.now + .seconds(60)
        while metrics.contains("netpath_serve_stalled_streams_total 0\n"), ContinuousClock.now < deadline {
            number += 1
            server.publish(Array("{\"n\":\(number),\"x\":\"\(padding)\"}".utf8))
            _ = client.read(until: "{\"n\":\(number),", atLeast: 100_000)
            metrics = try Client(port).ask("/metrics")
        }
        #expect(!metrics.contains("netpath_serve_stalled_streams_total 0\n"))
    }

    @Test func aSlowWorkerHoldsNobodyBack() throws {
        let isReleased = WakeUpFlag()
        let (server, port) = try Self.server { work in
            if work == .details { isReleased.wait() }
            return Array("{}".utf8)
        }
        defer { server.stop() }
        let slow = try Client(port)
        slow.send("GET /details HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try Client(port).ask("/status").contains("{\"n\":0}"))
        isReleased.set()
        #expect(slow.read(until: "{}").contains("200 OK"))
    }

    @Test func aWorkerThatCannotIs503() throws {
        let (server, port) = try Self.server { _ in nil }
        defer { server.stop() }
        #expect(try Client(port).ask("/metrics").hasPrefix("HTTP/1.1 503 "))
        #expect(try Client(port).ask("/healthz").hasPrefix("HTTP/1.1 200 "))
    }

    @Test func socketsAreOfTheirGroup() throws {
        let path = "/tmp/netpath-serve-\(getpid()).sock"
        defer { _ = unsafe unlink(path) }
        let server = StatusServer(Access(), document: Array("{}".utf8)) { _ in nil }
        _ = try server.listen(on: .unix(path))
        defer { server.stop() }
        #expect(FileAccess.status(path, following: false).map { $0.st_mode & 0o777 } == 0o660)
        #expect(try Client(path: path).ask("/status", host: "any.example").hasPrefix("HTTP/1.1 200 "))
        #expect(throws: SystemError.self) { try server.listen(on: .unix(path)) }
        #expect(throws: SystemError.self) { try server.listen(on: .unix("/proc/none/netpath.sock")) }
    }

    @Test func anOccupiedPortIsAnError() throws {
        let (server, port) = try Self.server()
        defer { server.stop() }
        let other = StatusServer(Access(), document: []) { _ in nil }
        defer { other.stop() }
        let error = #expect(throws: SystemError.self) { try other.listen(on: .internet(host: "127.0.0.1", port: port)) }
        #expect(error?.description.hasPrefix("cannot listen on 127.0.0.1:\(port): Address already in use") == true)
    }
}
