// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathTestKit
import Testing

/// `netpath run` with a socket and a recording of its own.
@Suite(.needsNamespaces)
struct ServiceTests {
    private let lab: NetworkNamespace
    private let environment: [String: String]
    private var socket: String { "\(self.lab.directory)/netpath/netpath.sock" }

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let folder = self.lab.directory
        // As root it would take the folders of the system.
        self.environment = [
            "RUNTIME_DIRECTORY": "\(folder)/netpath", "STATE_DIRECTORY": "\(folder)/state/netpath",
            "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": "\(folder)/state", "HOME": folder,
        ]
        try FileManager.default.createDirectory(atPath: "\(folder)/state", withIntermediateDirectories: true)
    }

    private func start(_ more: [String: String] = [:], _ arguments: String...) throws -> MonitorProcess {
        let service = try self.lab.start(
            Watched.program,
            ["run"] + arguments,
            environment: self.environment.merging(more) { $1 }
        )
        try self.message("satisfied", in: service)
        return service
    }

    private func message(_ text: String, in service: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while !service.standardError.contains(text) {
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(service.standardError)")
            try #require(service.isRunning || service.standardError.contains(text), "\(service.standardError)")
            usleep(10_000)
        }
    }

    private func ask(_ words: String) throws -> String {
        let variables = self.environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        return try self.lab.run("env \(variables) \(Watched.program) \(words) 2>&1; echo -n \"status $?\"")
    }

    /// Waits until a history says something: what happens is written a moment later.
    private func history(_ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let answer = try self.ask("history")
            if answer.contains(text) { return }
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(answer)")
        }
    }

    @Test func answersOtherPrograms() throws {
        let service = try self.start()
        let text = try self.ask("status --service")
        #expect(text.contains("IPv4 through wan0"))
        #expect(text.hasSuffix("status 0"))
        #expect(try self.ask("status --service --field interfaces.0.name").hasPrefix("wan0"))
        try self.history("there was a path all the time")
        #expect(try service.stop() == 0)
        #expect(try self.ask("status --service").hasSuffix("status 69"))
        #expect(!FileManager.default.fileExists(atPath: self.socket))
    }

    @Test func aSecondOneSaysWhoIsFirst() throws {
        let service = try self.start()
        let text = try self.ask("run")
        #expect(text.contains("process \(service.processIdentifier) runs netpath already"), "\(text)")
        #expect(text.hasSuffix("status 70"))
        try self.history("there was a path all the time")
        // What a killed one leaves behind holds nobody up.
        try service.stop(signal: .kill)
        let next = try self.start()
        try self.history("netpath was killed")
        #expect(try next.stop() == 0)
    }

    /// Those that watch get every state, or the newest; one that never reads holds nobody up.
    @Test func clientsThatDoNotReadHarmNobody() throws {
        let service = try self.start()
        let watching = try Client(self.socket)
        try watching.write(#"{"request":"watch"}"# + "\n")
        try watching.await(#""status":"satisfied""#)
        let stuck = try (0..<8).map { _ in try Client(self.socket, buffer: 4_096) }
        for client in stuck { try client.write(#"{"request":"watch"}"# + "\n") }
        let garbage = try Client(self.socket)
        try garbage.write(String(repeating: "x", count: 2_000))
        #expect(try garbage.readToEnd().isEmpty)
        let half = try Client(self.socket)
        try half.write(#"{"request":"#)
        for number in 1...100 { try self.lab.ip("address add 192.0.3.\(number)/24 dev wan0") }
        try watching.await("192.0.3.100/24")
        #expect(try self.ask("status --service --json").contains("192.0.3.100/24"))
        // More than are served at a time: the service goes on, and serves again when they have gone.
        var crowd = try (0..<100).map { _ in try Client(self.socket) }
        #expect(try crowd[99].readToEnd().isEmpty)
        crowd = []
        let deadline = ContinuousClock.now + .seconds(10)
        while try !self.ask("status --service --quiet").hasSuffix("status 0") {
            try #require(ContinuousClock.now < deadline)
        }
        #expect(try service.residentPeakKiB() < 64 << 10)
        #expect(try service.stop() == 0)
        withExtendedLifetime((stuck, half)) {}
    }

    @Test func tellsTheServiceManager() throws {
        let path = "\(self.lab.directory)/notify"
        let manager = try Client(receivingAt: path)
        let service = try self.start(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"])
        try manager.await("READY=1")
        try manager.await("STATUS=satisfied: IPv4 through wan0 [wan0, wired]")
        try manager.await("WATCHDOG=1")
        try self.lab.removeDefaultRoute()
        try manager.await("STATUS=unsatisfied")
        service.sendSignal(.hangUp)
        try manager.await("RELOADING=1\nMONOTONIC_USEC=")
        try manager.await("READY=1")
        #expect(try service.stop() == 0)
        try manager.await("STOPPING=1")
    }

    @Test func writesToTheJournalWithPriorities() throws {
        let file = "\(self.lab.directory)/journal"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        var status = stat()
        let isFound = unsafe stat(file, &status) == 0
        #expect(isFound)
        let variables = self.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        let stream = "\(status.st_dev):\(status.st_ino)"
        try self.lab.run(
            """
            env \(variables) JOURNAL_STREAM=\(stream) \(Watched.program) run 2>\(file) & for i in $(seq 300); do
                [ -s \(file) ] && break; sleep 0.1
            done
            kill $!; wait $! || true
            """
        )
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text == "<5>satisfied: IPv4 through wan0 [wan0, wired]\n")
    }

    @Test func sleepsWhileNothingHappens() throws {
        let service = try self.start()
        #expect(try service.contextSwitches(in: .seconds(3)) == 0)
        #expect(try service.stop() == 0)
    }

    /// Each hook is told the state at the start, and those that a new configuration brings when it comes.
    @Test func runsHooks() throws {
        let file = "\(self.lab.directory)/netpath.yaml"
        let hook = { (name: String) in
            "  - {name: \(name), command: [/bin/sh, -c, 'echo \(name) $NETPATH_STATUS after $NETPATH_PREVIOUS_STATUS']}\n"
        }
        try ("hooks:\n" + hook("first")).write(toFile: file, atomically: true, encoding: .utf8)
        let service = try self.start([:], "--config", file)
        try self.message("hook 'first': first satisfied after\n", in: service)
        try self.lab.removeDefaultRoute()
        try self.message("hook 'first': first unsatisfied after satisfied\n", in: service)
        try ("hooks:\n" + hook("first") + hook("second")).write(toFile: file, atomically: true, encoding: .utf8)
        try self.message("hook 'second': second unsatisfied after\n", in: service)
        let text = try self.ask("hooks")
        #expect(text.contains("2 runs, 0 failed") && text.contains("1 run, 0 failed"), "\(text)")
        #expect(try service.stop() == 0)
        #expect(try self.ask("hooks").hasSuffix("status 69"))
    }

    /// A recording that cannot be written costs nothing else.
    @Test func runsWithoutARecording() throws {
        let service = try self.start(["STATE_DIRECTORY": "/proc/netpath"])
        #expect(service.standardError.contains("nothing is recorded"))
        #expect(try self.ask("status --service --quiet").hasSuffix("status 0"))
        #expect(try service.stop() == 0)
        let silent = try self.start([:], "--set", "record.enabled=false")
        #expect(try self.ask("history").contains("nothing is recorded since"))
        #expect(try silent.stop() == 0)
    }
}

/// One end of a socket in the file system.
private final class Client {
    private let descriptor: Int32
    private var text = ""

    init(_ path: String, buffer: Int32? = nil) throws {
        self.descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        if var buffer {
            unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // The backlog of a socket in the file system makes one that comes too early wait.
        let isConnected = unsafe Self.withAddress(path) { unsafe connect(self.descriptor, $0, $1) } == 0
        try #require(isConnected)
    }

    init(receivingAt path: String) throws {
        self.descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let isBound = unsafe Self.withAddress(path) { unsafe bind(self.descriptor, $0, $1) } == 0
        try #require(isBound)
    }

    deinit { close(self.descriptor) }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = unsafe send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        try #require(count == bytes.count)
    }

    private func read(until deadline: ContinuousClock.Instant) throws -> Int {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        let rest = max(0, Int32((deadline - .now) / .milliseconds(1)))
        let isReady = unsafe poll(&entry, 1, rest) == 1
        try #require(isReady, "nothing more came after: \(self.text)")
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(self.descriptor, &bytes, bytes.count, 0)
        self.text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return count
    }

    /// Waits for a text, and forgets it and what came before it.
    func await(_ text: String) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            if let range = self.text.range(of: text) {
                self.text.removeSubrange(..<range.upperBound)
                return
            }
            try #require(try self.read(until: deadline) > 0, "ended after: \(self.text)")
        }
    }

    func readToEnd() throws -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        while try self.read(until: deadline) > 0 {}
        return self.text
    }
}
