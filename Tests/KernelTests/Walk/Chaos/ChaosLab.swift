// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// A walked network with a program looking on whose backends can be broken from outside.
struct ChaosLab {
    var network: WalkedNetwork
    let monitor: MonitorProcess
    /// The configuration's file.
    let configuration: String
    private let orders: FileHandle
    /// The network as it is now.
    private(set) var model: NetworkModel
    /// Every status that was true at some moment since the program last agreed with the model.
    private var truths: Set<String> = []
    /// Every line since then.
    private var lines: [JSONLine] = []
    /// The last of all lines.
    private(set) var latest: [JSONLine] = []
    /// How often another backend than netlink had the word.
    private(set) var takeovers = 0
    private var isTakenOver = false
    /// What happened since then, for people.
    private var history: [String] = []

    /// Prepares the network as a walk says and starts the program.
    ///
    /// - Parameters:
    ///   - preparation: What is there before the program starts.
    ///   - backends: The configuration's backends, given the options that every one of them gets.
    ///   - start: Starts what tells the paths, given the configuration's file and the environment; `watch` unless given.
    /// - Throws: ``WalkFailure`` or ``LabError``.
    init(
        _ preparation: Walk.Step,
        backends: (_ options: String) -> String,
        start: (NetworkNamespace, _ configuration: String, _ environment: [String: String]) throws -> MonitorProcess =
            Self.watch
    ) throws {
        self.network = try WalkedNetwork(
            ignoresRoutesWithoutCarrier: preparation.model.ignoresRoutesWithoutCarrier
        )
        try self.network.take(preparation)
        self.model = preparation.model
        let directory = self.network.lab.directory
        try self.network.lab.run("mkfifo \(directory)/orders")
        guard let orders = FileHandle(forUpdatingAtPath: "\(directory)/orders") else {
            throw WalkFailure(description: "the pipe for orders cannot be opened")
        }
        self.orders = orders
        self.configuration = "\(directory)/netpath.yaml"
        try (backends("resolvConf: \(self.network.resolverFile)") + WalkedNetwork.rules)
            .write(toFile: self.configuration, atomically: true, encoding: .utf8)
        self.monitor = try start(self.network.lab, self.configuration, ["NETPATH_CHAOS": "\(directory)/orders"])
        self.truths = [self.model.verdict.status]
    }

    static func watch(
        _ lab: NetworkNamespace,
        _ configuration: String,
        _ environment: [String: String]
    ) throws -> MonitorProcess {
        try lab.start(
            MonitorProcess.builtProduct("LabPeers"),
            ["watch", "--json", "--config", configuration],
            environment: environment
        )
    }

    /// Breaks or mends a backend: `TYPE kill`, `TYPE fail`, `TYPE wedge`, `TYPE starve MILLISECONDS`, `TYPE work`.
    mutating func order(_ order: String) {
        self.history.append(order)
        self.orders.write(Data("\(order)\n".utf8))
    }

    /// Lets something happen to the network.
    mutating func take(_ step: Walk.Step) throws {
        self.history += step.commands.map(\.text)
        // What is true in the middle of a step may be published, too.
        var model = self.model
        for operation in step.operations {
            operation.apply(to: &model) { self.truths.insert($0.verdict.status) }
        }
        self.model = step.model
        try self.network.take(step)
    }

    /// Begins a walk in what is an empty network.
    mutating func begin(ignoringRoutesWithoutCarrier isIgnored: Bool) throws {
        try self.network.ignoreRoutesWithoutCarrier(isIgnored)
        self.model = NetworkModel()
        self.model.ignoresRoutesWithoutCarrier = isIgnored
    }

    /// Waits for a line, and fails when one before it says something that was never true.
    @discardableResult
    mutating func next(
        within patience: Duration = .seconds(60),
        _ what: String,
        where condition: (JSONLine) -> Bool
    ) throws -> JSONLine {
        var seen: [JSONLine] = []
        defer {
            self.lines += seen
            self.latest = (self.latest + seen).suffix(200)
        }
        do {
            return try self.monitor.next(timeout: patience) { line in
                seen.append(line)
                self.count(line)
                try self.check(line)
                return condition(line)
            }
        } catch let error as WalkFailure {
            throw error
        } catch {
            throw self.failure("\(what) did not come: \(error)", seen)
        }
    }

    /// Waits until the netlink backend works and the program has seen everything, and compares it with the model.
    mutating func settle() throws {
        self.history.append("settle")
        for _ in 0..<2 {
            let mark = try self.network.mark()
            try self.next("a word of a healthy netlink backend") { line in
                line["dnsServers"] == [.string(mark)] && line.health(of: "netlink") == "healthy"
            }
        }
        guard let last = self.lines.last, self.model.allows(ExpectedVerdict(last.value)) else {
            throw self.failure("the model says \(self.model.verdict)", [])
        }
        self.truths = [self.model.verdict.status]
        self.lines = []
        self.history = []
    }

    /// Ends the program, and fails when a sanitizer found something.
    func end() throws {
        let status = try self.monitor.stop()
        guard status == 0, !self.monitor.standardError.contains("Sanitizer") else {
            throw self.failure("the program ended with \(status)", [])
        }
    }

    private mutating func count(_ line: JSONLine) {
        let isTakenOver =
            line.health(of: "netlink") == "unhealthy" && line.health(of: "sysfs") == "healthy" && line["stale"] == false
        if isTakenOver, !self.isTakenOver { self.takeovers += 1 }
        self.isTakenOver = isTakenOver
    }

    /// No status may be published that was not true since the program last agreed with the model.
    private func check(_ line: JSONLine) throws {
        guard line["status"] == "unsatisfied", !self.truths.contains("unsatisfied") else { return }
        throw self.failure("this was never true", [line])
    }

    private func failure(_ what: String, _ more: [JSONLine]) -> WalkFailure {
        let lines = (self.lines + more).suffix(12).map(\.text).joined(separator: "\n")
        return WalkFailure(
            description: "\(what)\nhistory:\n  \(self.history.joined(separator: "\n  "))\nlines:\n\(lines)\n"
                + self.monitor.standardError.suffix(2000)
        )
    }
}

extension JSONLine {
    /// The member of `backends` with this name.
    func backend(_ name: String) -> JSONValue? {
        self["backends"]?.elements.first { $0["name"] == .string(name) }
    }

    /// How a backend is doing.
    func health(of backend: String) -> String? { self.backend(backend)?["health"]?.string }
}
