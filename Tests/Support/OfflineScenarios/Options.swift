// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import OfflineRequests

/// What the process was started with.
let options = Options(CommandLine.arguments)

/// What the command line asks for: `SCENARIO FILE [URL] [--name VALUE …]`.
struct Options: Sendable {
    let scenario: String
    let file: String
    let url: String
    private let values: [String: String]

    init(_ arguments: [String]) {
        var words: [String] = []
        var values: [String: String] = [:]
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word.hasPrefix("--") { values[String(word.dropFirst(2))] = rest.popFirst() } else { words.append(word) }
        }
        self.scenario = words.first ?? ""
        self.file = words.dropFirst().first ?? ""
        self.url = words.dropFirst(2).first ?? ""
        self.values = values
    }

    /// The value after `--name`.
    subscript(_ name: String) -> String? { self.values[name] }

    /// The number after `--name`.
    subscript(_ name: String, default fallback: Int) -> Int { self.values[name].flatMap { Int($0) } ?? fallback }

    /// The settings: with `--pace fast` nothing waits longer than a test wants to, with `own` (the default) as shipped.
    var settings: QueueSettings {
        var settings = QueueSettings()
        if self["pace"] == "fast" {
            settings.baseBackoff = .milliseconds(20)
            settings.maxBackoff = .milliseconds(200)
            settings.minimumOnline = .zero
            settings.reconnectJitter = .zero
        }
        if let base = self["base-backoff"].flatMap({ Int($0) }) {
            settings.baseBackoff = .milliseconds(base)
            settings.maxBackoff = .milliseconds(base)
        }
        settings.concurrency = self["concurrency", default: settings.concurrency]
        settings.perHostConcurrency = self["concurrency", default: settings.perHostConcurrency]
        return settings
    }

    /// How long nothing may move, and half of how long all may take, in seconds.
    private var timeouts: TransportRequest.Timeouts {
        guard let seconds = self["timeout"].flatMap({ Int($0) }) else { return TransportRequest.Timeouts() }
        return TransportRequest.Timeouts(
            connect: .seconds(seconds),
            total: .seconds(2 * seconds),
            stall: .seconds(seconds)
        )
    }

    /// The request of a number: its query names it, so that the server's log does.
    func request(_ number: Int) -> RetryableRequest {
        // By bytes: to search for text takes longer than to make the request.
        let separator = self.url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        var request = RetryableRequest(
            endpoint: "\(self.url)\(separator)id=\(self["name"] ?? "request")-\(number)",
            method: "POST",
            body: Data(repeating: UInt8(ascii: "x"), count: self["size", default: 100]),
            maxRetries: self["retries", default: 10_000],
            orderingKey: self["lane"]
        )
        request.timeouts = self.timeouts
        request.expiresAt = self["expires-in"].flatMap { Double($0) }.map { Date(timeIntervalSinceNow: $0) }
        return request
    }
}

/// Writes an object as a line, at once: what was written before a kill counts.
func say(_ members: [String: String]) {
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    guard var line = try? JSONSerialization.data(withJSONObject: members, options: options) else { return }
    line.append(UInt8(ascii: "\n"))
    FileHandle.standardOutput.write(line)
}

/// A number of KiB in the status of this process, such as `VmRSS`.
func residentMemory(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? -1
}
