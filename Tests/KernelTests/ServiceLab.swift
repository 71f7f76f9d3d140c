// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathTestKit
import Testing

/// A namespace with an uplink, and folders of its own for `netpath run`.
struct ServiceLab {
    let lab: NetworkNamespace
    let uplink: LabInterface
    let environment: [String: String]
    var socket: String { "\(self.lab.directory)/netpath/netpath.sock" }

    init() throws {
        self.lab = try NetworkNamespace()
        self.uplink = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let folder = self.lab.directory
        // As root it would take the folders of the system.
        self.environment = [
            "RUNTIME_DIRECTORY": "\(folder)/netpath", "STATE_DIRECTORY": "\(folder)/state/netpath",
            "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": "\(folder)/state", "HOME": folder,
        ]
        try FileManager.default.createDirectory(atPath: "\(folder)/state", withIntermediateDirectories: true)
    }

    func start(_ more: [String: String] = [:], _ arguments: String...) throws -> MonitorProcess {
        let service = try self.lab.start(
            Watched.program,
            ["run"] + arguments,
            environment: self.environment.merging(more) { $1 }
        )
        try self.message("satisfied", in: service)
        return service
    }

    func message(_ text: String, in service: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !service.standardError.contains(text) {
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(service.standardError)")
            try #require(service.isRunning || service.standardError.contains(text), "\(service.standardError)")
            usleep(10_000)
        }
    }

    /// How the shell of the namespace runs the program.
    func command(_ words: String, _ more: [String: String] = [:], through wrapper: String = "") throws -> String {
        let environment = self.environment.merging(more) { $1 }
        let variables = environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        return try "env \(variables) \(wrapper) \(Watched.program) \(words)"
    }

    func ask(_ words: String, through wrapper: String = "") throws -> String {
        try self.lab.run("\(self.command(words, through: wrapper)) 2>&1; echo -n \"status $?\"")
    }

    /// Waits until an answer begins with a text.
    func answer(_ text: String, to words: String) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let answer = try self.ask(words)
            if answer.hasPrefix(text) { return }
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(answer)")
        }
    }

    /// Waits until a history says something: what happens is written a moment later.
    func history(_ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let answer = try self.ask("history")
            if answer.contains(text) { return }
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(answer)")
        }
    }
}
