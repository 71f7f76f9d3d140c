// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem
import Synchronization

/// Writes what the server saw, a line of JSON each, or only counts it.
final class Journal: Sendable {
    /// What became of a request.
    enum Event: String {
        /// All of it came.
        case request
        /// Not everything came or was read.
        case partial
        /// Its client went away from an answer it waited for.
        case left
    }

    private struct Counters {
        var connections = 0
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

    /// Counts how often something was asked for, from 1.
    func count(_ name: String) -> Int {
        self.counters.withLock {
            $0.waits[name, default: 0] += 1
            return $0.waits[name, default: 0]
        }
    }

    /// Writes how many connections there were.
    func writeCounters() {
        say(#"{"event":"counters","connections":\#(self.counters.withLock { $0.connections })}"#)
    }

    /// Notes what became of a request.
    func note(_ event: Event, _ request: LabRequest, on connection: Int) {
        guard !self.isQuiet else { return }
        // For distances only.
        let milliseconds = Double(SystemMonotonicClock().now().nanoseconds / 1_000) / 1_000
        var members: [JSONObject.Member] = [
            ("event", .string(event.rawValue)), ("at", .number(milliseconds)), ("connection", .integer(connection)),
            ("method", .string(request.method)), ("path", .string(request.path)),
        ]
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
