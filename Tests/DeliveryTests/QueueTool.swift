// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

extension Trait where Self == ConditionTrait {
    /// For the suites about commands: runs where namespaces can be made, and fails rather than skips in CI.
    static var needsCommandLab: Self {
        .enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")")
    }
}

/// `netpath send` and `netpath queue` as they are typed, on a host with one uplink and a server beyond it: `netpath`
/// executes `netpath-queue` beside it.
struct QueueTool {
    /// What came of a command.
    struct Result {
        var output: String
        var errors: String
        var status: Int32

        /// The lines of the output as JSON.
        var documents: [JSONValue] {
            get throws { try self.output.split(separator: "\n").map { try JSONValue(json: String($0)) } }
        }

        /// The output without the end of its line.
        var line: String { String(self.output.prefix { $0 != "\n" }) }
    }

    /// Where the server is.
    static let origin = "http://198.51.100.7:8080"

    let lab: NetworkNamespace
    /// The end of the uplink where the server is.
    let farInterface: String
    var file: String

    init() throws {
        self.lab = try NetworkNamespace()
        self.file = "\(self.lab.directory)/queue.sqlite"
        let uplink = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let end = try #require(uplink.peerName)
        self.farInterface = end
        try self.lab.runOnFarSide("ip address add 192.0.2.1/24 dev \(end); ip address add 198.51.100.7/32 dev \(end)")
    }

    /// Starts the server, which lives as long as the answer is held.
    func serve() throws -> CommandServer { try CommandServer(in: self.lab) }

    /// The program under test: the one named by NETPATH_BINARY, else the one built with the tests.
    static var program: String {
        get throws { try MonitorProcess.builtProduct("netpath") }
    }

    /// The words of a command as a shell takes them.
    static func quoted(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    }

    /// Runs a command of `netpath` to its end.
    ///
    /// - Parameters:
    ///   - words: The command; `--queue` is added.
    ///   - input: What it reads.
    /// - Returns: What came of it.
    /// - Throws: `LabError` when it cannot be run.
    @discardableResult
    func run(_ words: String..., input: String = "") throws -> Result { try self.run(words, input: input) }

    func run(_ words: [String], input: String = "", under prefix: [String] = []) throws -> Result {
        let command = try Self.quoted(prefix + [Self.program] + words + ["--queue", self.file])
        let directory = self.lab.directory
        try Data(input.utf8).write(to: URL(filePath: "\(directory)/input"))
        let status = try self.lab.run(
            "\(command) <\(directory)/input >\(directory)/output 2>\(directory)/messages; echo $?"
        )
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: "\(directory)/\(name)")), as: UTF8.self)
        }
        return try Result(
            output: text("output"),
            errors: text("messages"),
            status: #require(Int32(status.trimmingCharacters(in: .whitespacesAndNewlines)))
        )
    }

    /// Sends a request that has to be kept.
    ///
    /// - Returns: Its identifier.
    @discardableResult
    func send(_ words: String..., path: String = "/ok?id=1") throws -> String {
        let result = try self.run(["send"] + words + [Self.origin + path])
        try #require(result.status == 0, "\(result.errors)")
        return result.line
    }

    /// Starts a command that goes on.
    func start(_ words: String..., environment: [String: String] = [:]) throws -> MonitorProcess {
        try self.lab.start(Self.program, words + ["--queue", self.file], environment: environment)
    }
}

extension JSONValue {
    /// The names of the members of an object.
    var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
}

/// The server, and what it saw.
final class CommandServer: Sendable {
    private let process: MonitorProcess

    fileprivate init(in lab: NetworkNamespace) throws {
        self.process = try lab.start(
            "nsenter",
            [
                "--net=\(lab.farSidePath())", MonitorProcess.builtProduct("LabPeers"),
                "serve", "--port", "8080", "0.0.0.0",
            ]
        )
        try self.process.next { $0["port"] != nil }
    }

    /// Waits for a request that came whole.
    func nextRequest() throws { try self.process.next { $0["event"] == "request" } }

    /// The bodies of those that came whole and were not asked about before.
    ///
    /// Waits for so many: a client may read its answer before the server has written what it got.
    func bodies(_ count: Int = 0) throws -> [String] {
        var requests = try self.process.drain().filter { $0["event"] == "request" }
        while requests.count < count { try requests.append(self.process.next { $0["event"] == "request" }) }
        return requests.compactMap { $0["body"]?.string }
    }
}
