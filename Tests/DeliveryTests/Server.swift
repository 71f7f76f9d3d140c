// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

/// The server beyond the uplink, and all it saw.
///
/// The address of a request says what is done with it; `id` in its query is the name of the request.
final class Server: Sendable {
    /// A request as the server saw it.
    struct Request: Sendable {
        /// The name the test gave it.
        var name: String
        /// Its idempotency key.
        var key: String?
        /// Whether all of it came.
        var isWhole: Bool
        /// What was done with it.
        var path: String
        /// When the test heard of it.
        var at: ContinuousClock.Instant
        /// When the server wrote of it, by a clock of its own, for distances.
        var written: Duration

        /// Whether the server said that it did what was asked.
        var isGranted: Bool { self.isWhole && ["/ok", "/slow"].contains(self.path) }
    }

    private let process: MonitorProcess
    private let seen = Mutex<[Request]>([])

    init(on stage: Stage) throws {
        self.process = try stage.lab.start(
            "nsenter",
            [
                "--net=\(try stage.lab.farSidePath())", try MonitorProcess.builtProduct("LabPeers"),
                "serve", "--port", "8080", "0.0.0.0",
            ]
        )
        try self.process.next { $0["port"] != nil }
    }

    /// Everything it saw so far.
    func requests() throws -> [Request] {
        // What it wrote before may still be in the pipe; it writes its counters after that.
        self.process.sendSignal(.user1)
        try self.process.next { line in
            self.note(line)
            return line["event"] == "counters"
        }
        return self.seen.withLock { $0 }
    }

    /// Waits until it has seen so many more, whole or not.
    func await(_ count: Int, timeout: Duration = .seconds(60)) throws {
        let deadline = ContinuousClock.now + timeout
        for _ in 0..<count {
            self.note(try self.process.next(timeout: deadline - .now) { Self.request($0) != nil })
        }
    }

    /// Everything of these names was granted at least once, and nothing else came; repeats carry the key of the first,
    /// and each request has a key of its own.
    func expectDelivered(_ names: Set<String>, orAlso others: Bool = false) throws {
        let byName = Dictionary(grouping: try self.requests()) { $0.name }
        let missing = names.filter { name in !(byName[name] ?? []).contains { $0.isGranted } }
        #expect(missing.isEmpty, "\(missing.count) of \(names.count) acknowledged requests were never granted")
        if !others { #expect(Set(byName.keys).subtracting(names).isEmpty) }
        var owners: [String: String] = [:]
        for (name, requests) in byName {
            let keys = Set(requests.map { $0.key ?? "" })
            #expect(keys.count == 1 && !keys.contains(""), "\(name) was sent with the keys \(keys)")
            for key in keys { #expect(owners.updateValue(name, forKey: key) == nil, "two have the key \(key)") }
        }
    }

    private func note(_ line: JSONLine) {
        guard let request = Self.request(line) else { return }
        self.seen.withLock { $0.append(request) }
    }

    private static func request(_ line: JSONLine) -> Request? {
        guard let event = line["event"]?.string, event == "request" || event == "partial",
            let name = line["query"]?["id"]?.string, let path = line["path"]?.string, let written = line["at"]?.number
        else { return nil }
        return Request(
            name: name,
            key: line["key"]?.string,
            isWhole: event == "request",
            path: path,
            at: line.receivedAt,
            written: .milliseconds(written)
        )
    }
}
