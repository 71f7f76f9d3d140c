// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// `netpath wait --service`, which a boot waits for.
@Suite(.needsNamespaces)
struct ServiceWaitTests {
    private let lab: NetworkNamespace
    private let environment: [String: String]

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let folder = self.lab.directory
        self.environment = [
            "RUNTIME_DIRECTORY": "\(folder)/netpath", "STATE_DIRECTORY": "\(folder)/state",
            "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder, "HOME": folder,
        ]
        // What it must not start, or stumble over.
        let plugin = "{type: exec, command: [/bin/sh, -c, 'touch \(folder)/started']}"
        try "backends: [\(plugin)]\nmerge: {probes: required}\n"
            .write(toFile: "\(folder)/plugin.yaml", atomically: true, encoding: .utf8)
    }

    private func wait(_ timeout: String) throws -> MonitorProcess {
        try self.lab.start(
            Watched.program,
            ["wait", "--service", "--timeout", timeout, "--config", "\(self.lab.directory)/plugin.yaml"],
            environment: self.environment
        )
    }

    @Test func itWaitsForAServiceThatStartsLaterAndForItsPath() throws {
        try self.lab.removeDefaultRoute()
        let early = try self.wait("0")
        #expect(try early.waitForEnd() == 3)
        #expect(early.standardError.contains("no service answers at \(self.lab.directory)/netpath/netpath.sock"))
        let wait = try self.wait("60s")
        let service = try self.lab.start(Watched.program, ["run"], environment: self.environment)
        let deadline = ContinuousClock.now + .seconds(60)
        while !service.standardError.contains("satisfied") {
            try #require(service.isRunning && ContinuousClock.now < deadline, "\(service.standardError)")
            usleep(5_000)
        }
        #expect(wait.isRunning)
        try self.lab.run("ip route add default via 192.0.2.1")
        #expect(try wait.waitForEnd() == 0)
        #expect(try self.lab.run("ls \(self.lab.directory)").contains("started") == false)
        #expect(try service.stop() == 0)
    }

    /// What a service said that is gone holds no longer.
    @Test func aServiceThatDiesMeetsNothing() throws {
        let service = try self.lab.start(Watched.program, ["run"], environment: self.environment)
        #expect(try self.wait("20s").waitForEnd() == 0)
        let wait = try self.lab.start(
            Watched.program,
            ["wait", "--service", "--stable", "20s", "--timeout", "25s"],
            environment: self.environment
        )
        // Once it sleeps beside a socket it has heard of the path.
        let descriptors = "/proc/\(wait.processIdentifier)/fd"
        try self.lab.run(
            "for i in $(seq 3000); do ls -l \(descriptors) | grep -q socket: && break; sleep 0.01; done"
        )
        try wait.waitForRest()
        try service.stop(signal: .kill)
        #expect(try wait.waitForEnd() == 3)
        #expect(wait.standardError.contains("no backend can confirm the last known path"), "\(wait.standardError)")
    }
}
