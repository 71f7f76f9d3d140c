// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathTestKit
import Testing

/// `netpath run` with a socket and a recording of its own.
@Suite(.needsNamespaces)
struct ServiceTests {
    private let place: ServiceLab
    private var lab: NetworkNamespace { self.place.lab }
    private var socket: String { self.place.socket }

    init() throws { self.place = try ServiceLab() }

    @Test func answersOtherPrograms() throws {
        let service = try self.place.start()
        let text = try self.place.ask("status --service")
        #expect(text.contains("IPv4 through wan0"))
        #expect(text.hasSuffix("status 0"))
        #expect(try self.place.ask("status --service --field interfaces.0.name").hasPrefix("wan0"))
        try self.place.history("there was a path all the time")
        // Also where the folder is named: until now the path is what was recorded last.
        let folder = try #require(self.place.environment["STATE_DIRECTORY"])
        let moment = "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)"
        let named = try self.place.ask("history --recording \(folder) --at \(moment)")
        #expect(named.contains("wan0") && named.hasSuffix("status 0"), "\(named)")
        let later = "$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)"
        let future = try self.place.ask("history --at \(later)")
        #expect(future.contains(" is in the future") && future.hasSuffix("status 69"), "\(future)")
        #expect(try service.stop() == 0)
        // Nothing is known of the time in which it did not run.
        #expect(try self.place.ask("history").contains("not recorded"))
        #expect(try self.place.ask("status --service").hasSuffix("status 69"))
        #expect(!FileManager.default.fileExists(atPath: self.socket))
    }

    /// Each further heap of malloc keeps most of what a thread of a hook or a page ever held: memory grew for hours.
    @Test func allThreadsShareOneHeap() throws {
        let service = try self.place.start()
        try self.place.history("there was a path all the time")
        let maps = try String(contentsOfFile: "/proc/\(service.processIdentifier)/maps", encoding: .utf8)
        // malloc puts a further heap at a multiple of 64 MiB.
        let heaps = maps.split(separator: "\n").filter { line in
            let start = UInt(line.prefix { $0 != "-" }, radix: 16) ?? 1
            return line.contains(" rw-p ") && line.hasSuffix(" 0 ") && start.isMultiple(of: 64 << 20)
        }
        #expect(heaps == [])
        #expect(try service.stop() == 0)
    }

    /// The socket is found from everywhere; what it tells is about the service's own network.
    @Test func aServiceOfAnotherNamespaceIsSaidToBeOne() throws {
        let service = try self.place.start()
        let remark = "netpath: the service is in another network namespace"
        for words in ["status --service", "hooks", "history", "serve --textfile \(self.lab.directory)/metrics"] {
            #expect(try !self.place.ask(words).contains(remark), "\(words)")
            #expect(try self.place.ask(words, through: "unshare -n").contains(remark), "\(words)")
        }
        #expect(try !self.place.ask("status --service --quiet", through: "unshare -n").contains(remark))
        #expect(try service.stop() == 0)
    }

    /// What a scraper reads that asks the socket has to be whole (OpenMetrics 1.0).
    @Test func metricsOverTheSocketHaveTheirLastLine() throws {
        let service = try self.place.start()
        let client = try SocketClient(self.place.socket)
        try client.write(#"{"request":"metrics","format":"openMetrics"}"# + "\n")
        client.end()
        #expect(try client.readToEnd().hasSuffix(#"\n# EOF\n"}"# + "\n"))
        #expect(try service.stop() == 0)
    }

    /// What a service of the system left behind hides no recording of one that runs elsewhere, or ran last.
    @Test func theHistoryIsThatOfTheServiceAsked() throws {
        try self.lab.run("mount -t tmpfs none /var/lib && mkdir /var/lib/netpath")
        try self.lab.run("echo not a recording >/var/lib/netpath/00000001.jsonl")
        let service = try self.place.start()
        try self.place.history("there was a path all the time")
        #expect(try service.stop() == 0)
        #expect(try self.place.ask("history").contains("there was a path all the time"))
    }

    @Test func aSecondOneSaysWhoIsFirst() throws {
        let service = try self.place.start()
        let text = try self.place.ask("run")
        #expect(text.contains("process \(service.processIdentifier) runs netpath already"), "\(text)")
        #expect(text.hasSuffix("status 70"))
        try self.place.history("there was a path all the time")
        // What a killed one leaves behind holds nobody up.
        try service.stop(signal: .kill)
        let next = try self.place.start()
        try self.place.history("netpath was killed")
        #expect(try next.stop() == 0)
    }

    /// Those that watch get every state, or the newest; one that never reads holds nobody up.
    @Test func clientsThatDoNotReadHarmNobody() throws {
        let service = try self.place.start()
        let watching = try SocketClient(self.socket)
        try watching.write(#"{"request":"watch"}"# + "\n")
        try watching.await(#""status":"satisfied""#)
        let stuck = try (0..<8).map { _ in try SocketClient(self.socket, buffer: 4_096) }
        for client in stuck { try client.write(#"{"request":"watch"}"# + "\n") }
        let garbage = try SocketClient(self.socket)
        try garbage.write(String(repeating: "x", count: 2_000))
        #expect(try garbage.readToEnd().contains("on a line of at most 1024 bytes"))
        let half = try SocketClient(self.socket)
        try half.write(#"{"request":"#)
        for number in 1...100 { try self.lab.ip("address add 192.0.3.\(number)/24 dev wan0") }
        try watching.await("192.0.3.100/24")
        #expect(try self.place.ask("status --service --json").contains("192.0.3.100/24"))
        // More than are served at a time: the service goes on, and serves again when they have gone.
        var crowd = try (0..<100).map { _ in try SocketClient(self.socket) }
        #expect(try crowd[99].readToEnd().contains("too many connections, of this user"))
        crowd = []
        let deadline = ContinuousClock.now + .seconds(60)
        while try !self.place.ask("status --service --quiet").hasSuffix("status 0") {
            try #require(ContinuousClock.now < deadline)
        }
        #expect(try service.residentPeakKiB() < 64 << 10)
        #expect(try service.stop() == 0)
        withExtendedLifetime((stuck, half)) {}
    }

    @Test func tellsTheServiceManager() throws {
        let path = "\(self.lab.directory)/notify"
        let manager = try SocketClient(receivingAt: path)
        // So seldom that the queue of the socket, of ten messages, has room for the others.
        let service = try self.place.start(["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "4000000"])
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
        let variables = self.place.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        let stream = "\(status.st_dev):\(status.st_ino)"
        try self.lab.run(
            """
            env \(variables) JOURNAL_STREAM=\(stream) \(Watched.program) run 2>\(file) & for i in $(seq 300); do
                [ -s \(file) ] && break; sleep 0.1
            done
            ip route del default
            for i in $(seq 300); do grep -q unsatisfied \(file) && break; sleep 0.1; done
            kill $!; wait $! || true
            """
        )
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.first == "<5>satisfied: IPv4 through wan0 [wan0, wired]")
        // An alarm on warnings hears of it.
        #expect(lines.last?.hasPrefix("<4>unsatisfied: ") == true, "\(text)")
    }

    /// What an alert counts is there from the start: hooks, the recorder, the configuration, the process.
    @Test func metricsOfTheServiceItself() throws {
        let file = "\(self.lab.directory)/netpath.yaml"
        let hooks =
            "hooks:\n  - {name: good, command: [/bin/true]}\n  - {name: bad, command: [/bin/false], retries: 0}\n"
        try hooks.write(toFile: file, atomically: true, encoding: .utf8)
        let service = try self.place.start([:], "--config", file)
        func sample(_ name: String) throws -> Double? {
            let client = try SocketClient(self.place.socket)
            try client.write(#"{"request":"metrics"}"# + "\n")
            client.end()
            let answer = try JSONSerialization.jsonObject(with: Data(client.readToEnd().utf8)) as? [String: Any]
            let lines = (answer?["text"] as? String)?.split(separator: "\n") ?? []
            return lines.first { $0.hasPrefix("\(name) ") }.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }
        }
        func settle(_ name: String, _ value: Double) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            var seen = try sample(name)
            while seen != value {
                try #require(ContinuousClock.now < deadline, "\(name) is \(String(describing: seen))")
                seen = try sample(name)
            }
        }
        try settle(#"netpath_hook_runs_total{hook="good"}"#, 1)
        #expect(try sample(#"netpath_hook_failures_total{hook="good"}"#) == 0)
        try settle(#"netpath_hook_failures_total{hook="bad"}"#, 1)
        #expect(try sample("netpath_recorder_up") == 1)
        #expect(try sample("netpath_recorder_errors_total") == 0)
        #expect(try sample("netpath_recorder_written_bytes_total") ?? 0 > 100)
        let now = Date.now.timeIntervalSince1970
        for name in [
            "netpath_recorder_last_write_timestamp_seconds", "netpath_configuration_loaded_timestamp_seconds",
            "process_start_time_seconds",
        ] {
            let time = try sample(name) ?? 0
            #expect(abs(time - now) < 120, "\(name)")
        }
        #expect(try sample("netpath_configuration_accepted") == 1)
        #expect(try sample("process_resident_memory_bytes") ?? 0 > 1_000_000)
        #expect(try sample("process_open_fds") ?? 0 > 3)
        try (hooks + "nonsense: [\n").write(toFile: file, atomically: true, encoding: .utf8)
        try settle("netpath_configuration_accepted", 0)
        #expect(try service.stop() == 0)
    }

    @Test func sleepsWhileNothingHappens() throws {
        let service = try self.place.start()
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
        let service = try self.place.start([:], "--config", file)
        try self.place.message("hook 'first': first satisfied after\n", in: service)
        try self.lab.removeDefaultRoute()
        try self.place.message("hook 'first': first unsatisfied after satisfied\n", in: service)
        try ("hooks:\n" + hook("first") + hook("second")).write(toFile: file, atomically: true, encoding: .utf8)
        try self.place.message("hook 'second': second unsatisfied after\n", in: service)
        // A run counts a moment after what it printed is passed on.
        let deadline = ContinuousClock.now + .seconds(60)
        var text = try self.place.ask("hooks")
        while !text.contains("2 runs, 0 failed") || !text.contains("1 run, 0 failed") {
            try #require(ContinuousClock.now < deadline, "\(text)")
            text = try self.place.ask("hooks")
        }
        #expect(try service.stop() == 0)
        #expect(try self.place.ask("hooks").hasSuffix("status 69"))
    }

    /// A recording that cannot be written costs nothing else.
    @Test func runsWithoutARecording() throws {
        try self.lab.run("mount -t tmpfs none /var/lib")
        let before = try self.place.start(["STATE_DIRECTORY": "/var/lib/netpath"])
        #expect(try before.stop() == 0)
        #expect(try self.lab.run("cat /var/lib/netpath/*.jsonl").contains("wan0"))
        let service = try self.place.start(["STATE_DIRECTORY": "/proc/netpath"])
        #expect(service.standardError.contains("nothing is recorded"))
        // It is not answered by what another service recorded before.
        let variables = self.place.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        let asked = try "env \(variables) STATE_DIRECTORY=/proc/netpath \(Watched.program) history 2>&1"
        #expect(try self.lab.run(asked).contains("nothing is recorded since"))
        #expect(try self.place.ask("status --service --quiet").hasSuffix("status 0"))
        #expect(try service.stop() == 0)
        let silent = try self.place.start([:], "--set", "record.enabled=false")
        let history = try self.place.ask("history")
        #expect(history.contains("nothing is recorded since"), "\(history)")
        #expect(try silent.stop() == 0)
    }
}
