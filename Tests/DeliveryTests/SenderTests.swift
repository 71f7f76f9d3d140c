// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathTestKit
import Testing

/// What the process that sends does when something gets in its way, as seen from the command line.
@Suite(.needsCommandLab)
struct SenderTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    // MARK: The file

    @Test func sendingGoesOnAfterSomebodyHasKeptTheFile() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "x")
        let other = try DatabaseQueue(path: self.tool.file)
        let run = try other.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            defer { try? database.execute(sql: "ROLLBACK") }
            let run = try self.tool.start("queue", "run", "--until-empty", "--json")
            try run.next { $0["event"] == "failed" }
            // For longer than whatever else came up meanwhile makes the sender try.
            Thread.sleep(forTimeInterval: 8)
            return run
        }
        var isSaidAgain = false
        try run.next { line in
            isSaidAgain = isSaidAgain || line["event"] == "failed"
            return line["event"] == "succeeded"
        }
        #expect(!isSaidAgain)
        #expect(try run.waitForEnd() == 0)
        #expect(try server.bodies(1) == ["x"])
    }

    /// Who opens the file shares the lock of those that use it: alone it would never have it while four of them do.
    @Test func busyWritersKeepNobodyWaiting() throws {
        let program = try MonitorProcess.builtProduct("OfflineScenarios")
        let words = "enqueue \(self.tool.file) \(QueueTool.origin) --name"
        let writers = try (0..<4).map { number in
            let line = "exec '\(program)' \(words) writer-\(number) >\(self.tool.lab.directory)/writer-\(number)"
            return try self.tool.lab.start("sh", ["-c", line])
        }
        let deadline = ContinuousClock.now + .seconds(60)
        func pending() throws -> Double {
            try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number ?? 0
        }
        while try pending() < 100 { try #require(.now < deadline) }
        for _ in 0..<5 {
            let begin = ContinuousClock.now
            try self.tool.send("-d", "x")
            #expect(.now - begin < .seconds(10))
        }
        let before = try pending()
        while try pending() <= before { try #require(.now < deadline) }
        for writer in writers { writer.sendSignal(.kill) }
    }

    /// Has another process keep the file, one that is stopped, for example.
    private func keepFile() throws -> MonitorProcess {
        let holder = try self.tool.lab.start("flock", ["--no-fork", "\(self.tool.file)-lock", "sleep", "300"])
        let isHeld = "flock --nonblock --shared \(self.tool.file)-lock true && echo free || echo held"
        let deadline = ContinuousClock.now + .seconds(60)
        while try !self.tool.lab.run(isHeld).contains("held") { try #require(.now < deadline) }
        return holder
    }

    @Test(arguments: [["send", QueueTool.origin], ["queue", "run", "--until-empty"], ["queue", "reset", "--yes"]])
    func whoHasTheLockIsNamedInTime(_ words: [String]) throws {
        try self.tool.send("-d", "x")
        let holder = try self.keepFile()
        let begin = ContinuousClock.now
        let result = try self.tool.run(words)
        #expect(ContinuousClock.now - begin < .seconds(40))
        #expect(result.status == 70)
        #expect(result.errors.contains("(sleep)"), "\(result.errors)")
        holder.sendSignal(.terminate)
    }

    @Test(arguments: [["send", "--wait", QueueTool.origin], ["queue", "run", "--until-empty"]])
    func theTimeIsKeptWhileAnotherHasTheFile(_ words: [String]) throws {
        try self.tool.send("-d", "x")
        let holder = try self.keepFile()
        let result = try self.tool.run(words + ["--timeout", "2s"])
        #expect(result.status == 3)
        #expect(result.errors.contains("(sleep) has held the queue locked"), "\(result.errors)")
        #expect(result.errors.contains("was not kept: ") == words.contains("send"), "\(result.errors)")
        holder.sendSignal(.terminate)
        try holder.waitForEnd()
        #expect(try self.tool.run("queue", "--json").documents.count == 1)
    }

    /// While it waits for its answer, and at the end of its time.
    @Test(arguments: [["send", "--wait", "--interface-type", "wifi"], ["queue", "run", "--until-empty"]])
    func theTimeIsKeptWhenAnotherTakesTheFile(_ words: [String]) throws {
        if words[0] == "queue" { try self.tool.send("--interface-type", "wifi") }
        let more = words[0] == "send" ? [QueueTool.origin] : []
        let limits = ["--timeout", "8s", "--queue", self.tool.file]
        let waiting = try self.tool.lab.start(try QueueTool.program, words + more + limits)
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.tool.run("queue", "list", "--json").documents.isEmpty { try #require(.now < deadline) }
        let holder = try self.keepFile()
        #expect(try waiting.waitForEnd() == 3)
        holder.sendSignal(.terminate)
        #expect(try self.tool.run("queue", "list", "--json").documents.count == 1)
    }

    @Test func whatIsDamagedIsNotDelivered() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "lost")
        let settled = try DatabaseQueue(path: self.tool.file)
        try settled.inDatabase { database in
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM request")
            _ = try database.checkpoint(.truncate)
        }
        try settled.close()
        try self.tool.lab.run("dd if=/dev/zero of=\(self.tool.file) bs=4096 count=1 conv=notrunc status=none")
        let run = try self.tool.run("queue", "run", "--until-empty", "--timeout", "30s")
        #expect(run.status != 0)
        #expect(run.errors.contains(".corrupt-"), "\(run.errors)")
        #expect(try server.bodies().isEmpty)
    }

    @Test func aFolderThatIsRemovedEndsTheSender() throws {
        var tool = self.tool
        let folder = "\(tool.lab.directory)/queues"
        tool.file = "\(folder)/queue.sqlite"
        let server = try tool.serve()
        let run = try tool.start("queue", "run", "--json")
        try tool.send("-d", "before")
        try run.next { $0["event"] == "drained" }
        // The sender may make its file anew meanwhile.
        try tool.lab.run("until rm -rf \(folder); do :; done")
        #expect(try run.waitForEnd() == 70)
        try tool.send("-d", "after")
        #expect(try tool.run("queue", "run", "--until-empty").status == 0)
        #expect(try server.bodies(2) == ["before", "after"])
    }

    @Test(arguments: ["", "{,-wal,-shm}"])
    func aFileThatIsRemovedIsMadeAnew(suffixes: String) throws {
        let server = try self.tool.serve()
        let run = try self.tool.start("queue", "run", "--json")
        try self.tool.send("-d", "before")
        try run.next { $0["event"] == "drained" }
        // Not while the sender makes some of them anew.
        run.sendSignal(.suspend)
        try self.tool.lab.run("bash -c 'rm -f \(self.tool.file)\(suffixes)'")
        run.sendSignal(.resume)
        try run.next { $0["event"] == "failed" || $0["event"] == "salvaged" }
        try self.tool.send("-d", "after")
        try run.next { $0["event"] == "succeeded" }
        #expect(try run.stop() == 0)
        #expect(try server.bodies(2) == ["before", "after"])
    }

    @Test func whatWasRemovedWasNotDelivered() throws {
        try self.tool.send("-d", "lost")
        let run = try self.tool.start("queue", "run", "--until-empty", "--json")
        try run.next { $0["event"] == "attempt" }
        run.sendSignal(.suspend)
        try self.tool.lab.run("rm -f \(self.tool.file)")
        run.sendSignal(.resume)
        #expect(try run.waitForEnd() == 1)
    }

    @Test func aJournalWhoseFileIsGoneIsSetAside() throws {
        try self.tool.send("-d", "lost")
        // Another program, which has the file open, keeps the journal, and has written there.
        let other = try DatabaseQueue(path: self.tool.file)
        try other.write { try $0.execute(sql: "UPDATE queue SET forces = forces + 1") }
        try self.tool.lab.run("rm \(self.tool.file); test -s \(self.tool.file)-wal")
        let server = try self.tool.serve()
        let result = try self.tool.run("send", "-d", "kept", QueueTool.origin + "/ok")
        #expect(result.status == 0)
        #expect(result.errors.contains(".corrupt-"), "\(result.errors)")
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        #expect(try server.bodies(1) == ["kept"])
        let names = try self.tool.lab.run("ls \(self.tool.lab.directory)")
        #expect(names.contains(/queue\.sqlite\.corrupt-\S+-wal/), "\(names)")
        withExtendedLifetime(other) {}
    }

    @Test func aNewerVersionEndsTheSenderAndIsLeftAsItIs() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let run = try self.tool.start("queue", "run", "--json")
        try self.tool.send("-d", "x")
        try run.next { $0["event"] == "drained" }
        try self.tool.send("-d", "x", "--interface-type", "wifi")
        // The process that sends may be writing.
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let newer = try DatabaseQueue(path: self.tool.file, configuration: configuration)
        try newer.write { database in
            try database.execute(sql: "ALTER TABLE request RENAME COLUMN priority TO urgency")
            try database.execute(sql: "PRAGMA user_version = 99")
        }
        // Rings, as every process does that has changed something.
        try self.tool.lab.run("head -c 1 \(self.tool.file)-lock")
        #expect(try run.waitForEnd() == 70)
        let refused = try self.tool.run("send", QueueTool.origin + "/ok")
        #expect(refused.status == 70)
        #expect(refused.errors.contains("newer version"), "\(refused.errors)")
        #expect(try newer.read { try Int.fetchOne($0, sql: "SELECT count(urgency) FROM request") } == 1)
        #expect(try self.tool.lab.run("ls \(self.tool.lab.directory)").contains("corrupt") == false)
    }

    /// Few descriptors are a reason to wait: no request is given up or held for them, and none is passed over.
    @Test func fewDescriptorsDelayAndNothingElse() throws {
        let server = try self.tool.serve()
        let body = String(repeating: "x", count: 100_000)
        for number in 0..<6 {
            let words = ["send", "--key", "lane\(number)", "-d", "@-", QueueTool.origin + "/ok?id=\(number)"]
            try #require(try self.tool.run(words, input: body).status == 0)
        }
        let run = "queue run --until-empty --timeout 3s --queue '\(self.tool.file)'"
        for limit in 10..<44 where limit < 20 || limit.isMultiple(of: 3) {
            let command = "ulimit -n \(limit); '\(try QueueTool.program)' \(run) >/dev/null 2>&1; echo $?"
            let status = try self.tool.lab.run("bash -c \(QueueTool.quoted([command]))")
            let stats = try #require(try self.tool.run("queue", "stats", "--json").documents.first)
            let counts = try #require(stats["counts"])
            #expect(counts["dead"]?.number == 0 && counts["held"]?.number == 0, "\(limit): \(stats)")
            let code = Int(status.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
            #expect(code != 0 || stats["pending"]?.number == 0, "\(limit): exits 0 with \(stats)")
            #expect(code < 128, "\(limit) descriptors: \(code)")
        }
        #expect(try self.tool.run("queue", "run", "--until-empty", "--timeout", "60s").status == 0)
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 0)
        withExtendedLifetime(server) {}
    }

    /// libdispatch waits for ever for a thread that is not granted.
    @Test func littleMemoryKeepsNoCommandForEver() throws {
        try self.tool.send()
        let run = "timeout -s KILL 40 '\(try QueueTool.program)' queue run --until-empty --timeout 1s"
        for limit in stride(from: 100_000, through: 400_000, by: 20_000) {
            let command = "ulimit -v \(limit); \(run) --queue '\(self.tool.file)' >/dev/null 2>&1; echo $?"
            let status = try self.tool.lab.run("bash -c \(QueueTool.quoted([command]))")
            let code = Int(status.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
            #expect((1..<128).contains(code), "\(limit) KiB: \(status)")
        }
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 1)
    }

    // MARK: Fairness

    @Test func slowServersLeaveRoomForOthers() throws {
        let addresses = (8...12).map { "198.51.100.\($0)" }
        for address in addresses {
            try self.tool.lab.runOnFarSide("ip address add \(address)/32 dev \(self.tool.farInterface)")
        }
        let server = try self.tool.serve()
        for number in 0..<4 {
            for address in addresses {
                let result = try self.tool.run("send", "http://\(address):8080/drip?n=100000&ms=1000&id=\(number)")
                try #require(result.status == 0, "\(result.errors)")
            }
        }
        let run = try self.tool.start("queue", "run", "--json")
        for _ in 0..<6 { try server.nextRequest() }
        for number in 0..<6 { try self.tool.send("-d", "high", "--priority", "high", path: "/ok?id=high\(number)") }
        for _ in 0..<6 { try run.next { $0["event"] == "succeeded" } }
    }

    /// Hosts that drop packets, and requests that a host fails at.
    @Test func whatIsSickDoesNotHideWhatIsWell() throws {
        let server = try self.tool.serve()
        try self.send(40, "http://198.51.100.$((100 + n)):8080/ok")
        try self.send(6, "\(QueueTool.origin)/status/500?id=poisoned-$n")
        try self.send(20, "\(QueueTool.origin)/ok?id=good-$n")
        let run = try self.tool.start("queue", "run", "--json")
        let begin = try run.next { $0["event"] == "attempt" }.receivedAt
        var end = begin
        for _ in 0..<20 { end = try run.next { $0["event"] == "succeeded" }.receivedAt }
        // Beside busy processes; the time-out of a connection is 15 seconds.
        #expect(end - begin < .seconds(14))
        #expect(try server.bodies().count < 20 + 6 * 11)
    }

    /// Requests with a number n in their addresses.
    private func send(_ count: Int, _ url: String) throws {
        let command = "'\(try QueueTool.program)' send --queue '\(self.tool.file)' -d x \"\(url)\""
        try self.tool.lab.run("for n in $(seq \(count)); do \(command) || exit; done")
    }

    /// In the middle of more hosts that drop packets than are tried at the same time.
    @Test func whatIsWellIsFoundAmongManyThatAreSick() throws {
        let server = try self.tool.serve()
        try self.send(50, "http://198.51.100.$((100 + n)):8080/ok")
        try self.send(2, "\(QueueTool.origin)/ok?id=good-$n")
        try self.send(50, "http://198.51.100.$((150 + n)):8080/ok")
        let run = try self.tool.start("queue", "run", "--json")
        let begin = try run.next { $0["event"] == "attempt" }.receivedAt
        var end = begin
        for _ in 0..<2 { end = try run.next(timeout: .seconds(60)) { $0["event"] == "succeeded" }.receivedAt }
        // The time-out of a connection is 15 seconds.
        #expect(end - begin < .seconds(14))
        let bodies = try server.bodies(2)
        #expect(bodies.count == 2, "\(bodies)")
    }

    /// An address that is removed ends what is on its way from there, and nothing else.
    @Test func anAddressThatGoesEndsOnlyItsOwn() throws {
        let server = try self.tool.serve()
        let near = try self.tool.lab.start(
            MonitorProcess.builtProduct("LabPeers"),
            ["serve", "--port", "8081", "127.0.0.1"]
        )
        try near.next { $0["port"] != nil }
        try self.tool.lab.run("ip address add 192.0.2.3/24 dev wan0")
        try self.tool.send("-d", "x", path: "/slow?ms=8000&id=far")
        let result = try self.tool.run("send", "-d", "x", "http://127.0.0.1:8081/slow?ms=8000&id=near")
        try #require(result.status == 0, "\(result.errors)")
        let run = try self.tool.start("queue", "run", "--json")
        try near.next { $0["event"] == "request" }
        try server.nextRequest()
        try self.tool.lab.run("ip address del 192.0.2.3/24 dev wan0")
        for _ in 0..<2 { try run.next { $0["event"] == "succeeded" } }
        #expect(try run.drain().filter { $0["event"] == "attempt" }.isEmpty)
        #expect(try server.bodies().isEmpty && near.drain().filter { $0["event"] == "request" }.isEmpty)
    }

    // MARK: The end

    @Test func aSignalWaitsForWhatIsUnderWayAndBeginsNothing() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "begun", "--key", "lane", path: "/slow?ms=10000&id=a")
        let next = try self.tool.send("-d", "not begun", "--key", "lane")
        let run = try self.tool.start("queue", "run", "--json", "--grace", "60s")
        try server.nextRequest()
        #expect(try run.stop(signal: .terminate) == 0)
        let left = try self.tool.run("queue", "--json").documents
        #expect(left.map { $0["id"]?.string } == [next])
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        #expect(try server.bodies(1) == ["not begun"])
    }

    @Test func aSecondSignalWaitsForNothing() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "begun", path: "/stall-response?id=a")
        let run = try self.tool.start("queue", "run", "--json", "--grace", "10m")
        try server.nextRequest()
        // Two that come at once are one.
        let deadline = ContinuousClock.now + .seconds(60)
        while run.isRunning, .now < deadline {
            run.sendSignal(.terminate)
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(try run.waitForEnd(timeout: .seconds(1)) == 0)
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 1)
    }

    // MARK: Without a path to the internet

    @Test func aServerOnTheLANAndOneOnThisMachineAreReachedWithoutADefaultRoute() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let here = try self.tool.lab.start(
            MonitorProcess.builtProduct("LabPeers"),
            ["serve", "--port", "8081", "127.0.0.1"]
        )
        try here.next { $0["port"] != nil }
        try self.tool.lab.removeDefaultRoute()
        let words = ["send", "--wait", "--timeout", "20s"]
        for origin in ["http://192.0.2.1:8080", "http://127.0.0.1:8081", "http://localhost:8081"] {
            let answer = try self.tool.run(words + [origin + "/ok?id=1"])
            #expect(answer.output == "ok\n", "\(origin): \(answer.errors)")
        }
        // Beside what has to wait, in the process that sends for all.
        try self.tool.send("-d", "far")
        try self.tool.run("send", "-d", "near", "http://192.0.2.1:8080/ok?id=2")
        let run = try self.tool.run("queue", "run", "--until-empty", "--timeout", "10s")
        #expect(run.status == 3)
        #expect(run.errors.contains("1 request is left; the first one waits: no path"), "\(run.errors)")
        let bodies = try server.bodies()
        #expect(bodies.contains("near") && !bodies.contains("far"), "\(bodies)")
    }

    // MARK: Answers of somebody else

    @Test func whatIsNotExpectedIsNotDelivered() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let expectations = [
            ["--expect-status", "201"], ["--expect-header", "X-Ours"], ["--expect-header", "Server: us"],
        ]
        for words in expectations {
            let url = QueueTool.origin + "/ok?id=1"
            let result = try self.tool.run(["send", "--wait", "--max-retries", "0", "-d", "x"] + words + [url])
            #expect(result.status == 1)
            #expect(result.errors.contains("not as expected"), "\(result.errors)")
        }
        let stats = try #require(try self.tool.run("queue", "stats", "--json").documents.first)
        #expect(stats["counts"]?["held"]?.number == 3)
        let held = try self.tool.run("queue", "--json").documents.compactMap { $0["id"]?.string }
        let shown = try held.map { try self.tool.run("queue", "show", $0).output }
        for (text, expected) in zip(shown, ["201", "the header X-Ours", "the header Server"]) {
            #expect(text.contains(/Expects +/) && text.contains(expected), "\(text)")
        }
        let documents = try held.map { try self.tool.run("queue", "show", $0, "--json").documents.first }
        #expect(documents.first??["expectedStatuses"] == .array([.number(201)]))
        #expect(documents.last??["expectedHeaders"] == .array([.string("Server")]))
        for words in [["--expect-status", "200-204"], ["--expect-status", "404", "--expect-status", "200"]] {
            let result = try self.tool.run(["send", "--wait", "-d", "x"] + words + [QueueTool.origin + "/echo"])
            #expect(result.output == "x", "\(result.errors)")
        }
        for text in ["", "20", "200-", "204-200", "200-201-202", "1000"] {
            #expect(try self.tool.run("send", "--expect-status", text, QueueTool.origin + "/ok").status == 64)
        }
    }

    @Test func anAttemptEndsInTime() throws {
        let server = try self.tool.serve()
        try self.tool.send("--max-time", "1s", "--max-retries", "0", "-d", "x", path: "/stall-response?id=a")
        let run = try self.tool.run("queue", "run", "--until-empty", "--timeout", "20s")
        #expect(run.status == 1, "\(run.errors)")
        #expect(try server.bodies(1) == ["x"])
    }
}
