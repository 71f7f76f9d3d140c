// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
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
        self.write("request", request, [("n", "\(number)"), ("connection", "\(connection)"), ("repeat", "\(repeats)")])
        return repeats
    }

    /// Notes a request of which not everything came or was read.
    func broke(_ request: LabRequest, on connection: Int) {
        self.counters.withLock { $0.partial += 1 }
        self.write("partial", request, [("connection", "\(connection)")])
    }

    /// Notes that a client went away from an answer it waited for.
    func left(_ request: LabRequest, on connection: Int) {
        self.write("left", request, [("connection", "\(connection)")])
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
        Self.write(line)
    }

    private func write(_ event: String, _ request: LabRequest, _ numbers: [(name: String, value: String)]) {
        guard !self.isQuiet else { return }
        var fields = numbers.map { "\"\($0.name)\":\($0.value)" }
        fields.append("\"method\":\(Self.quoted(request.method)),\"path\":\(Self.quoted(request.path))")
        if !request.query.isEmpty {
            fields.append("\"query\":{\(Self.pairs(request.query.sorted { $0.key < $1.key }))}")
        }
        if let key = request.idempotencyKey { fields.append("\"key\":\(Self.quoted(key))") }
        fields.append("\"length\":\(request.received)")
        if request.received <= 4096, let text = String(validating: request.body, as: UTF8.self) {
            fields.append("\"body\":\(Self.quoted(text))")
        }
        fields.append("\"headers\":{\(Self.pairs(request.headers.map { ($0.name, $0.value) }))}")
        Self.write("{\"event\":\"\(event)\",\"at\":\(Self.milliseconds()),\(fields.joined(separator: ","))}")
    }

    /// Writes a line to the standard output, at once.
    static func write(_ line: String) {
        let line = Array(line.utf8) + [UInt8(ascii: "\n")]
        _ = unsafe line.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
    }

    private static func pairs(_ pairs: [(String, String)]) -> String {
        pairs.map { "\(self.quoted($0.0)):\(self.quoted($0.1))" }.joined(separator: ",")
    }

    /// CLOCK_MONOTONIC, for distances only.
    private static func milliseconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000) / 1_000
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
