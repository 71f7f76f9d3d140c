// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// `netpath run` with everything that it can do, `netpath serve` beside it, and clients of both.
final class SoakService {
    private let lab: NetworkNamespace
    private let configuration: String
    private let backendOptions: String
    private let service: MonitorProcess
    private let server: MonitorProcess
    /// Tells the paths as they are published.
    let follower: MonitorProcess
    private var clients: [MonitorProcess] = []
    private var openFiles = ""

    private var folder: String { self.lab.directory }
    /// The folder of the recording.
    var recording: String { "\(self.folder)/state/netpath" }

    /// Starts everything.
    ///
    /// - Parameters:
    ///   - lab: The namespace.
    ///   - configuration: The file of the configuration, which is written here.
    ///   - backendOptions: The options that the built-in backends get.
    ///   - environment: What the program gets besides.
    /// - Throws: ``WalkFailure`` or ``LabError``.
    init(
        in lab: NetworkNamespace,
        configuration: String,
        backendOptions: String,
        environment: [String: String]
    ) throws {
        self.lab = lab
        self.configuration = configuration
        self.backendOptions = backendOptions
        let folder = lab.directory
        let environment = environment.merging([
            "RUNTIME_DIRECTORY": "\(folder)/run", "STATE_DIRECTORY": "\(folder)/state/netpath",
            "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": "\(folder)/state", "HOME": folder,
        ]) { $1 }
        try lab.run("mkdir -p \(folder)/run \(folder)/state/netpath")
        try Self.write("good", to: "\(folder)/plugin-mood")
        try Self.write("good", to: "\(folder)/hook-mood")
        try SoakConfiguration.usual.text(backendOptions, folder: folder)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        self.service = try lab.start(
            MonitorProcess.builtProduct("LabPeers"),
            ["run", "--config", configuration],
            environment: environment
        )
        let socket = "\(folder)/run/netpath.sock"
        try Self.wait(for: socket, of: self.service)
        self.server = try lab.start(
            MonitorProcess.builtProduct("netpath-serve"),
            ["serve", "--listen", "\(folder)/http.sock"],
            environment: environment
        )
        try Self.wait(for: "\(folder)/http.sock", of: self.server)
        self.follower = try lab.start("perl", ["-e", SoakScripts.follower, socket])
        self.openFiles = try lab.run("prlimit --pid \(self.service.processIdentifier) --nofile -o SOFT --noheadings")
    }

    private static func wait(for file: String, of process: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !FileManager.default.fileExists(atPath: file) {
            guard process.isRunning, ContinuousClock.now < deadline else {
                throw WalkFailure(description: "there is no \(file): \(process.standardError)")
            }
            usleep(10_000)
        }
    }

    private static func write(_ text: String, to file: String) throws {
        try "\(text)\n".write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// What everything has written for people.
    var messages: String {
        "service: \(self.service.standardError.suffix(4_000))\nserver: \(self.server.standardError.suffix(1_000))"
    }

    // MARK: Disturbing

    func configure(_ configuration: SoakConfiguration, signals: Bool) throws {
        try configuration.text(self.backendOptions, folder: self.folder)
            .write(toFile: self.configuration, atomically: true, encoding: .utf8)
        if signals { self.service.sendSignal(.hangUp) }
    }

    func setPlugin(_ mood: String) throws { try Self.write(mood, to: "\(self.folder)/plugin-mood") }

    func setHook(_ mood: String) throws { try Self.write(mood, to: "\(self.folder)/hook-mood") }

    /// Thousands of events while nothing reads them: more than fit into the buffer of a socket.
    func overrun(count: Int) throws {
        self.service.sendSignal(.suspend)
        defer { self.service.sendSignal(.resume) }
        try self.storm(count: count)
    }

    /// Events that change nothing in the end.
    func storm(count: Int) throws {
        let addresses = (0..<count).map { "198.19.\($0 / 250).\($0 % 250)/32 dev lo" }
        try self.lab.ipBatch(addresses.map { "address add \($0)" } + addresses.map { "address del \($0)" })
    }

    /// Leaves room for a few more open files, or for none.
    func limitFiles(to more: Int) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(self.service.processIdentifier)/fd")
        try self.setFiles("\((names.compactMap { Int($0) }.max() ?? 0) + 1 + more)")
    }

    func restoreFiles() throws { try self.setFiles(self.openFiles) }

    private func setFiles(_ limit: String) throws {
        let limit = limit.filter(\.isNumber)
        try self.lab.run("prlimit --pid \(self.service.processIdentifier) --nofile=\(limit):")
    }

    /// Clients that ask and do not read.
    func addClients(_ count: Int, asking question: String, ofServer: Bool) throws {
        let socket = ofServer ? "\(self.folder)/http.sock" : "\(self.folder)/run/netpath.sock"
        let text = ofServer ? "GET /\(question) HTTP/1.1\r\nHost: localhost\r\n\r\n" : "\(question)\n"
        self.clients.append(try self.lab.start("perl", ["-e", SoakScripts.clients, "\(count)", socket, text]))
    }

    func removeClients() throws {
        for client in self.clients { try client.stop(signal: .kill) }
        self.clients = []
    }

    /// Takes back everything.
    func mend() throws {
        try self.removeClients()
        try self.setPlugin("good")
        try self.setHook("good")
        try self.configure(.usual, signals: true)
    }

    // MARK: Measuring

    /// What the service and the server hold; those that they started are told by their number.
    func holdings() -> SoakHoldings {
        SoakHoldings(
            service: ProgramHoldings(of: self.service.processIdentifier),
            server: ProgramHoldings(of: self.server.processIdentifier)
        )
    }

    /// The files besides those of the recording, whose size is limited.
    func files() throws -> Set<String> {
        let text = try self.lab.run("cd \(self.folder) && find run state -type f -o -type s")
        return Set(text.split(separator: "\n").map(String.init).filter { !$0.hasSuffix(".jsonl") })
    }

    /// Ends everything.
    ///
    /// - Throws: ``WalkFailure`` when the ends are not good, or something is left.
    func end() throws {
        try self.follower.stop(signal: .kill)
        for (name, process) in [("service", self.service), ("server", self.server)] {
            let status = try process.stop()
            if status != 0 || process.standardError.contains("Sanitizer") {
                throw WalkFailure(description: "the \(name) ended with \(status)")
            }
        }
        let left = try self.lab.run("ps -eo args= | grep -F '\(self.folder)/' | grep -vF grep || true")
        if !left.isEmpty { throw WalkFailure(description: "still running: \(left)") }
    }

    /// The lines of the last minute of the recording.
    func lastMinute() -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.recording)) ?? []
        let lines = names.filter { $0.hasSuffix(".jsonl") }.sorted().suffix(2).flatMap { name in
            let data = FileManager.default.contents(atPath: "\(self.recording)/\(name)") ?? Data()
            return String(decoding: data, as: UTF8.self).split(separator: "\n")
        }
        let time = { (line: Substring) in Int64(line.dropFirst(6).prefix { $0.isNumber }) ?? 0 }
        let end = lines.last.map(time) ?? 0
        return lines.filter { time($0) > end - 60_000_000_000 }.joined(separator: "\n")
    }
}
