// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import Synchronization

/// Writes what the server saw, a line of JSON each, or only counts it.
final class Journal: Sendable {
    private struct Counters {
        var connections = 0
        var requests = 0
        var partial = 0
        var bytes = 0
        var repeats = 0
        var keys: [String: Int] = [:]
        var waits: [String: Int] = [:]
    }

    private let isQuiet: Bool
    private let counters = Mutex(Counters())

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    func connected() -> Int {
        self.counters.withLock {
            $0.connections += 1
            return $0.connections
        }
    }

    /// Notes a request of which everything came, and returns how often one with its key came before.
    @discardableResult
    func received(_ request: LabRequest, on connection: Int) -> Int {
        let (number, repeats) = self.counters.withLock { counters in
            counters.requests += 1
            counters.bytes += request.received
            var repeats = 0
            if let key = request.idempotencyKey {
                repeats = counters.keys[key, default: 0]
                counters.keys[key] = repeats + 1
                counters.repeats += repeats > 0 ? 1 : 0
            }
            return (counters.requests, repeats)
        }
        self.write(
            "request",
            request,
            [("n", .integer(number)), ("connection", .integer(connection)), ("repeat", .integer(repeats))]
        )
        return repeats
    }

    /// Notes a request of which not everything came or was read.
    func broke(_ request: LabRequest, on connection: Int) {
        self.counters.withLock { $0.partial += 1 }
        self.write("partial", request, [("connection", .integer(connection))])
    }

    /// Notes that a client went away from an answer it waited for.
    func left(_ request: LabRequest, on connection: Int) {
        self.write("left", request, [("connection", .integer(connection))])
    }

    /// Counts how often something was asked for, from 1.
    func count(_ name: String) -> Int {
        self.counters.withLock {
            $0.waits[name, default: 0] += 1
            return $0.waits[name, default: 0]
        }
    }

    /// Writes the counters.
    func writeCounters() {
        let line = self.counters.withLock { counters in
            #"{"event":"counters","connections":\#(counters.connections),"requests":\#(counters.requests),"#
                + #""partial":\#(counters.partial),"octets":\#(counters.bytes),"keys":\#(counters.keys.count),"#
                + #""repeats":\#(counters.repeats)}"#
        }
        say(line)
    }

    private func write(_ event: String, _ request: LabRequest, _ numbers: [JSONObject.Member]) {
        guard !self.isQuiet else { return }
        // For distances only.
        let milliseconds = Double(SystemMonotonicClock().now().nanoseconds / 1_000) / 1_000
        var members: [JSONObject.Member] = [("event", .string(event)), ("at", .number(milliseconds))]
        members += numbers
        members.append(("method", .string(request.method)))
        members.append(("path", .string(request.path)))
        if !request.query.isEmpty {
            members.append(("query", Self.object(request.query.sorted { $0.key < $1.key })))
        }
        if let key = request.idempotencyKey { members.append(("key", .string(key))) }
        members.append(("length", .integer(request.received)))
        if request.received <= 4096, let text = String(validating: request.body, as: UTF8.self) {
            members.append(("body", .string(text)))
        }
        members.append(("headers", Self.object(request.headers.map { ($0.name, $0.value) })))
        let line = JSONText.line(JSONNode.object(members).write)
        _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    }

    private static func object(_ pairs: [(String, String)]) -> JSONNode {
        .object(pairs.map { (key: $0, value: JSONNode.string($1)) })
    }
}
