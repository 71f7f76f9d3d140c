// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// `netpath watch --exec`: the shipped program against the real kernel.
@Suite(.needsNamespaces)
struct HookTests {
    private let lab: NetworkNamespace
    private let wan: LabInterface

    init() throws {
        self.lab = try NetworkNamespace()
        self.wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private var file: String { "\(self.lab.directory)/told" }

    private func watch(_ options: [String] = [], _ script: String) throws -> MonitorProcess {
        let monitor = try self.lab.start(
            Watched.program,
            ["watch", "--json"] + options + ["--exec", "sh", "-c", script]
        )
        try monitor.next { $0["status"] == "satisfied" }
        return monitor
    }

    private func message(_ text: String, in monitor: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !monitor.standardError.contains(text) {
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(monitor.standardError)")
            usleep(5_000)
        }
    }

    private func processes(_ name: String) throws -> [String] {
        // Of this namespace alone.
        try self.lab.run("ps -eo args= | grep -F '\(name)' | grep -vF grep || true").split(separator: "\n").map(
            String.init
        )
    }

    @Test func theCommandIsToldOfEveryStatus() throws {
        let monitor = try self.watch(
            [],
            "head -c 34; echo; echo \"$NETPATH_PREVIOUS_STATUS>$NETPATH_STATUS on $NETPATH_INTERFACE.\""
        )
        try self.message(": >satisfied on wan0.", in: monitor)
        try self.wan.setDown()
        try self.message(": satisfied>unsatisfied on .", in: monitor)
        #expect(monitor.standardError.contains(#"{"schema":1,"status":"unsatisfied""#))
        #expect(try monitor.stop() == 0)
    }

    /// The command outlives nothing of what ends: its time, the program, the terminal.
    @Test func whatRunsIsEndedWithTheProgram() throws {
        let mark = "netpath-\(UUID().uuidString)"
        let monitor = try self.watch(
            [],
            "setsid sh -c ': \(mark); trap \"\" TERM; sleep 1000; sleep 1000' & echo ready; sleep 1000"
        )
        try self.message("ready", in: monitor)
        #expect(try !self.processes(mark).isEmpty)
        #expect(try monitor.stop() == 0)
        #expect(try self.processes(mark).isEmpty)
    }

    @Test func whatRunsIsEndedWithAProgramThatIsKilled() throws {
        let mark = "netpath-\(UUID().uuidString)"
        let monitor = try self.watch(
            [],
            "setsid sh -c ': \(mark); trap \"\" TERM; sleep 1000; sleep 1000' & echo ready; sleep 1000"
        )
        try self.message("ready", in: monitor)
        try monitor.stop(signal: .kill)
        let deadline = ContinuousClock.now + .seconds(60)
        while try !self.processes(mark).isEmpty {
            try #require(ContinuousClock.now < deadline, "it is still there")
            usleep(5_000)
        }
    }

    @Test func aMonitorGoesOnWhateverItsCommandDoes() throws {
        let script = "yes; exit 1"
        let monitor = try self.watch(["--exec-timeout", "500ms", "--on", "any", "--retries", "1"], script)
        for round in 0..<2 {
            try self.lab.ip("link set wan0 down")
            try monitor.next { $0["status"] == "unsatisfied" }
            try self.lab.ip("link set wan0 up; ip route add default via 192.0.2.1")
            try monitor.next { $0["status"] == "satisfied" }
            try self.message("took too long and was ended", in: monitor)
            #expect(monitor.isRunning, "round \(round)")
        }
        // What a command prints without end is read, and not kept.
        #expect(try monitor.residentPeakKiB() < 64 << 10)
        #expect(try monitor.stop() == 0)
    }

    @Test func aCommandThatCannotRunIsTold() throws {
        let monitor = try self.lab.start(
            Watched.program,
            ["watch", "--json", "--count", "1", "--exec", "/nowhere/at-all"]
        )
        #expect(try monitor.waitForEnd() == 0)
        #expect(
            monitor.standardError.contains("error: --exec: satisfied (initial): was not started: cannot execute")
        )
    }

    @Test func aWatchThatEndsByItselfLetsTheCommandEnd() throws {
        let monitor = try self.lab.start(
            Watched.program,
            ["watch", "--json", "--count", "1", "--exec", "sh", "-c", "sleep 0.5; echo done"]
        )
        #expect(try monitor.waitForEnd() == 0)
        #expect(monitor.standardError.contains("info: --exec: done"))
        #expect(monitor.standardError.contains("ended with exit status 0"))
    }

    @Test func anIdleCommandWakesNobody() throws {
        let monitor = try self.watch([], "echo ready; exec sleep 1000")
        try self.message("ready", in: monitor)
        #expect(try monitor.contextSwitches(in: .seconds(3)) == 0)
    }
}
