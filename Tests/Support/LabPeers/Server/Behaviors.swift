// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// What the server does, chosen by the path.
///
/// Before the body: `/close-during-body?after=N`, `/reset-during-body?after=N`, `/stall-reading?after=N`,
/// `/read-on-release?after=N&id=I`. After the whole request: `/ok`, `/echo`,
/// `/status/N?retry-after=V`, `/status/N?location=V`, `/slow?ms=N`, `/close-before-response`, `/reset`, `/stall-response`, `/close-mid-status`,
/// `/close-mid-headers`, `/close-mid-body`, `/reset-mid-body`, `/stall-headers`, `/stall-body`, `/drip?n=N&ms=N`,
/// `/bytes?n=N`, `/fail-then-ok?times=N&status=N&id=I`, `/not-http`,
/// `/long-header?n=N&lines=M`, `/drop-next`, `/hold?id=I`, `/fail-until-release?id=I` (500) and `/release?id=I`. Everything else is
/// 404.
///
/// `/flaky` is one of them by lot, every second time `/ok`. With `times=N` only the first N requests with an `id` meet
/// what the path says, and later ones are `/ok`. The journal names the path that was taken.
struct Behaviors {
    let journal: Journal
    let holds: Holds

    /// Serves a connection until its end.
    func serve(_ connection: Connection) {
        while let head = connection.readHead() {
            guard var request = LabRequest(head) else {
                connection.send(Self.response(400))
                return
            }
            self.choosePath(of: &request)
            // The client sends it again without asking first.
            if request.path == "/refuse-expectation", request["expect"] != nil {
                if request.query["and"] == "close" {
                    let head = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    connection.send(Array(head.utf8))
                    return
                }
                guard connection.send(Self.response(417)) else { return }
                if request.query["and"] == "end" { exit(0) }
                continue
            }
            guard self.receive(&request, connection) else { return }
            self.journal.note(.request, request, on: connection.number)
            guard self.answer(request, connection) else { return }
            if request["connection"]?.lowercased() == "close" { return }
        }
    }

    private func choosePath(of request: inout LabRequest) {
        if request.path == "/flaky" {
            request.query["after"] = "10"
            request.query["ms"] = "30"
            request.path = Bool.random() ? "/ok" : Self.faults.randomElement() ?? "/ok"
        } else if request.path != "/fail-then-ok", request.query["times"] != nil {
            let count = self.journal.count(request.path + (request.query["id"] ?? ""))
            if count > request.number("times") { request.path = "/ok" }
        }
    }

    private static let faults = [
        "/slow", "/status/503", "/status/429", "/close-during-body", "/reset-during-body", "/close-before-response",
        "/reset", "/close-mid-headers", "/close-mid-body", "/reset-mid-body",
    ]

    /// Reads the body; false when the connection is over.
    private func receive(_ request: inout LabRequest, _ connection: Connection) -> Bool {
        if request["expect"] == "100-continue" { connection.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        let breaks = [
            "/close-during-body", "/reset-during-body", "/stall-reading", "/read-on-release",
        ].contains(request.path)
        let end = breaks ? min(request.length, request.number("after")) : request.length
        while request.received < end {
            let part = connection.readBody(atMost: end - request.received)
            guard !part.isEmpty else {
                self.journal.note(.partial, request, on: connection.number)
                return false
            }
            request.received += part.count
            if request.body.count < 1 << 20 { request.body += part }
        }
        guard breaks else { return true }
        self.journal.note(.partial, request, on: connection.number)
        switch request.path {
        case "/read-on-release":
            guard self.holds.wait(for: request.query["id"] ?? "") else { return false }
            while !connection.readBody(atMost: .max >> 1).isEmpty {}
        case "/stall-reading": connection.waitForClose()
        case "/reset-during-body": connection.reset()
        default: break
        }
        return false
    }

    /// Answers; false when the connection is over.
    private func answer(_ request: LabRequest, _ connection: Connection) -> Bool {
        switch request.path {
        case "/ok", "/refuse-expectation": return connection.send(Self.ok)
        case "/echo": return connection.send(Self.response(200, body: request.body))
        case "/slow":
            usleep(UInt32(clamping: request.number("ms", default: 1000) * 1000))
            return connection.send(Self.ok)
        case "/drip":
            let count = request.number("n")
            connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8))
            for _ in 0..<count {
                usleep(UInt32(clamping: request.number("ms") * 1000))
                guard connection.send([UInt8(ascii: ".")]) else { return false }
            }
            return true
        case "/bytes": return self.sendOctets(request.number("n"), connection)
        case "/fail-then-ok":
            let id = request.query["id"] ?? request.idempotencyKey ?? ""
            let isFailure = self.journal.count(request.path + id) <= request.number("times", default: 1)
            return connection.send(isFailure ? Self.response(request.number("status", default: 503)) : Self.ok)
        case "/hold":
            guard self.holds.wait(for: request.query["id"] ?? "") else { return false }
            return connection.send(Self.ok)
        case "/fail-until-release":
            return connection.send(self.holds.isReleased(request.query["id"] ?? "") ? Self.ok : Self.response(500))
        case "/release":
            self.holds.release(request.query["id"] ?? "")
            return connection.send(Self.ok)
        case "/endless-chunk-extension":
            connection.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;".utf8))
            let block = [UInt8](repeating: UInt8(ascii: "e"), count: 65_536)
            while connection.send(block) {}
            return false
        case "/small-chunks":
            connection.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
            let block = Array(String(repeating: "1;name=value\r\n.\r\n", count: 1000).utf8)
            for _ in 0..<request.number("n") / 1000 where !connection.send(block) { return false }
            return connection.send(Array("0\r\n\r\n".utf8))
        case "/long-header":
            let line = "X-Long: \(String(repeating: "x", count: request.number("n")))\r\n"
            let fields = String(repeating: line, count: request.number("lines", default: 1))
            return connection.send(Self.response(200, fields: fields))
        case _ where request.path.hasPrefix("/status/"):
            let status = Int(request.path.dropFirst("/status/".count)) ?? 500
            let after = request.query["retry-after"].map { "Retry-After: \($0)\r\n" } ?? ""
            let location = request.query["location"].map { "Location: \($0)\r\n" } ?? ""
            let body = Array("status \(status)\n".utf8)
            return connection.send(Self.response(status, fields: after + location, body: body))
        case _ where self.isCut(request, connection): return false
        default: return connection.send(Self.response(404))
        }
    }

    /// Ends the connection somewhere in the answer, if the path says so.
    private func isCut(_ request: LabRequest, _ connection: Connection) -> Bool {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
        switch request.path {
        case "/close-before-response": return true
        case "/reset": connection.reset()
        case "/stall-response": self.stall(request, connection)
        case "/close-mid-headers": connection.send(Array(head.utf8))
        case "/close-mid-status": connection.send(Array("HTTP/1.1 2".utf8))
        case "/close-mid-body": connection.send(Array("\(head)\r\nabc".utf8))
        case "/impossible-length":
            connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nabc".utf8))
        case "/reset-mid-body":
            connection.send(Array("\(head)\r\nabc".utf8))
            connection.reset()
        case "/stall-body":
            connection.send(Array("\(head)\r\nabc".utf8))
            self.stall(request, connection)
        case "/stall-headers":
            connection.send(Array(head.utf8))
            self.stall(request, connection)
        case "/not-http": connection.send(Array("hello, who is there?\r\n\r\n".utf8))
        // It looks alive to the client until it sends the next request on it.
        case "/drop-next":
            connection.send(Self.ok)
            guard let head = connection.readHead(), let next = LabRequest(head) else { return true }
            self.journal.note(.request, next, on: connection.number)
        default: return false
        }
        return true
    }

    private func stall(_ request: LabRequest, _ connection: Connection) {
        connection.waitForClose()
        self.journal.note(.left, request, on: connection.number)
    }

    private func sendOctets(_ count: Int, _ connection: Connection) -> Bool {
        guard connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)) else { return false }
        let block = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var rest = count
        while rest > 0 {
            guard connection.send(rest >= block.count ? block : Array(block[..<rest])) else { return false }
            rest -= min(rest, block.count)
        }
        return true
    }

    private static let ok = response(200, body: Array("ok\n".utf8))

    private static func response(_ status: Int, fields: String = "", body: [UInt8] = []) -> [UInt8] {
        Array("HTTP/1.1 \(status) Lab\r\nContent-Length: \(body.count)\r\n\(fields)\r\n".utf8) + body
    }
}
