// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// The transport in a process of its own.
final class Scenario {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffered = Data()

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        self.process.executableURL = URL(filePath: try MonitorProcess.builtProduct("OfflineScenarios"))
        self.process.arguments = ["transport"] + arguments
        // Proxies of the machine must not get what is meant for loopback.
        self.process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.lowercased().hasSuffix("_proxy") }
            .merging(environment) { $1 }
        self.process.standardInput = self.input
        self.process.standardOutput = self.output
        try self.process.run()
    }

    deinit {
        // Not SIGTERM: Foundation's children inherit a mask that may block it.
        kill(self.process.processIdentifier, SIGKILL)
    }

    /// Runs a scenario with one line.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> JSONValue {
        try Scenario(arguments, environment: environment).nextLine()
    }

    func nextLine() throws -> JSONValue {
        while true {
            if let end = self.buffered.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: self.buffered[..<end], as: UTF8.self)
                self.buffered = Data(self.buffered[(end + 1)...])
                return try JSONValue(json: line)
            }
            let data = self.output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw LabError.invalidRequest("the scenario ended early") }
            self.buffered += data
        }
    }

    /// How often its threads were put on or off a processor.
    var contextSwitches: Int {
        let directory = "/proc/\(self.process.processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return threads.reduce(0) { sum, thread in
            let status = (try? String(contentsOfFile: "\(directory)/\(thread)/status", encoding: .utf8)) ?? ""
            let lines = status.split(separator: "\n").filter { $0.contains("voluntary_ctxt_switches") }
            return lines.reduce(sum) { $0 + (Int($1.filter(\.isNumber)) ?? 0) }
        }
    }
}
