// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Recordings of the shipped program that are cut short, and reports.
@Suite(.needsNamespaces)
struct RecordingTests {
    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["10.77.3.2/24"], gateway: "10.77.3.1")
    }

    private func watch(recording: String) throws -> MonitorProcess {
        let monitor = try self.lab.start(Watched.program, ["watch", "--json", "--record", recording])
        try monitor.next { $0["status"] == "satisfied" }
        return monitor
    }

    /// Runs the program, and tells its exit status on the last line.
    private func run(_ arguments: String) throws -> (text: String, status: String) {
        let answer = try self.lab.run("\(Watched.program) \(arguments) 2>&1; echo \"status $?\"")
        let lines = answer.split(separator: "\n")
        return (lines.dropLast().joined(separator: "\n"), lines.last.map(String.init) ?? "")
    }

    /// How many times the path was down.
    private func outages(in file: String) throws -> Double {
        let document = try JSONValue(json: self.run("history --json --recording \(file)").text)
        return document["availability"]?["down"]?["count"]?.number ?? 0
    }

    @Test func killedWhileItRecords() throws {
        let file = "\(self.lab.directory)/killed.jsonl"
        let monitor = try self.watch(recording: file)
        for _ in 0..<5 {
            try self.lab.run("ip link set wan0 down")
            try monitor.next { $0["status"] == "unsatisfied" }
            try self.lab.run("ip link set wan0 up && ip route add default via 10.77.3.1")
            try monitor.next { $0["status"] == "satisfied" }
        }
        // What happened in the last tenth of a second need not be there yet.
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.outages(in: file) < 5 {
            try #require(ContinuousClock.now < deadline, "not everything is written")
        }
        kill(monitor.processIdentifier, SIGKILL)
        while monitor.isRunning { usleep(1_000) }
        let replay = try self.run("replay \(file)")
        #expect(replay.status == "status 0", "\(replay.text)")
        #expect(replay.text.split(separator: "\n").count >= 10)
        #expect(try self.outages(in: file) == 5)
        // Nobody knows of what came after.
        let now = try self.run("history --at \"$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)\" --recording \(file)")
        #expect(now.status == "status 69" && now.text.contains("the recording ends at"), "\(now.text)")
    }

    @Test func otherSettingsShowWhatWouldHaveBeen() throws {
        let file = "\(self.lab.directory)/other.jsonl"
        let monitor = try self.watch(recording: file)
        #expect(try monitor.stop(signal: .terminate) == 0)
        let ignoring = "--set 'interfaces=[{match: {name: wan0}, ignore: true}]'"
        for words in ["replay \(ignoring) \(file)", "replay \(file) \(ignoring)", "\(ignoring) replay \(file)"] {
            #expect(try self.run(words).text.contains("unsatisfied"), "\(words)")
        }
        let wrong = try self.run("replay --set foo=1 \(file)")
        #expect(wrong.status == "status 78" && wrong.text.contains("unknown key 'foo'"), "\(wrong)")
    }

    /// Where a configuration has the service record, one looks with the same configuration.
    @Test func aFolderOfOnesOwn() throws {
        let folder = "\(self.lab.directory)/kept"
        // Folders of its own, for this and those that ask: not those of the machine's service.
        try self.lab.run("export RUNTIME_DIRECTORY=\(folder)-run STATE_DIRECTORY=\(folder)-state")
        let service = try self.lab.start(
            Watched.program,
            ["run", "--set", "record.folder=\(folder)"],
            environment: ["RUNTIME_DIRECTORY": "\(folder)-run", "STATE_DIRECTORY": "\(folder)-state"]
        )
        let deadline = ContinuousClock.now + .seconds(60)
        var history = ""
        while !history.contains("wan0") {
            try #require(service.isRunning && ContinuousClock.now < deadline, "\(history) \(service.standardError)")
            history = try self.run("history --set record.folder=\(folder)").text
        }
        #expect(try self.run("history --config /nonexistent").status == "status 78")
    }

    /// Half of its lines are there, and one is damaged.
    @Test func cutAndDamaged() throws {
        let file = "\(self.lab.directory)/cut.jsonl"
        let monitor = try self.watch(recording: file)
        try self.lab.run("ip link set wan0 down")
        try monitor.next { $0["status"] == "unsatisfied" }
        #expect(try monitor.stop() == 0)
        let bytes = try Data(contentsOf: URL(filePath: file))
        try bytes.dropLast(40).write(to: URL(filePath: file))
        let cut = try self.run("replay \(file)")
        #expect(cut.status == "status 0" && cut.text.contains("1 line cannot be read"), "\(cut.text)")
        try Data("nothing\n".utf8).write(to: URL(filePath: file))
        let empty = try self.run("replay \(file)")
        #expect(empty.status == "status 70" && empty.text.contains("holds no recording of netpath"), "\(empty.text)")
        let newer = String(decoding: bytes, as: UTF8.self).replacing("\"recording\":1", with: "\"recording\":9")
        try Data(newer.utf8).write(to: URL(filePath: file))
        for command in ["replay \(file)", "history --recording \(file)"] {
            let answer = try self.run(command)
            #expect(answer.status == "status 70" && answer.text.contains("use a newer netpath"), "\(answer.text)")
        }
    }

    /// The monitor goes on, says so once, and the recording tells what is missing.
    @Test func fullDisk() throws {
        let folder = "\(self.lab.directory)/small"
        try self.lab.run("mkdir \(folder) && mount -t tmpfs -o size=64k none \(folder)")
        let program = try Watched.program
        let monitor = try self.lab.start(program, ["watch", "--json", "--record", "\(folder)/r.jsonl"])
        try monitor.next { $0["status"] == "satisfied" }
        try self.lab.run("dd if=/dev/zero of=\(folder)/rest bs=4k 2>/dev/null || true")
        func flap() throws {
            try self.lab.run("ip link set wan0 down")
            try monitor.next { $0["status"] == "unsatisfied" }
            try self.lab.run("ip link set wan0 up && ip route add default via 10.77.3.1")
            try monitor.next { $0["status"] == "satisfied" }
        }
        let message = "what happens until writing works again is missing"
        // The last page may have room for what comes first.
        let deadline = ContinuousClock.now + .seconds(60)
        while !monitor.standardError.contains(message) {
            try #require(ContinuousClock.now < deadline, "the disk is not full")
            try flap()
        }
        let begin = ContinuousClock.now
        for _ in 0..<40 { try flap() }
        #expect(monitor.standardError.components(separatedBy: message).count == 2)
        let missing = ContinuousClock.now - begin
        try self.lab.run("rm \(folder)/rest && ip link set wan0 down")
        try monitor.next { $0["status"] == "unsatisfied" }
        #expect(try monitor.stop() == 0)
        let replay = try self.run("replay \(folder)/r.jsonl")
        #expect(replay.status == "status 0", "\(replay.text)")
        let history = try self.run("history --json --recording \(folder)/r.jsonl")
        #expect(history.text.contains("No space left on device"), "\(history.text)")
        // All that is missing is unknown, and not only what came last.
        let unknown = try JSONValue(json: history.text)["availability"]?["unknownMilliseconds"]?.number ?? 0
        #expect(unknown >= missing / .milliseconds(1), "\(unknown) ms of \(missing)")
        try self.lab.run("umount \(folder)")
    }

    private func service(_ name: String, recording folder: String) throws -> MonitorProcess {
        try self.lab.start(
            "env",
            [
                "RUNTIME_DIRECTORY=\(self.lab.directory)/\(name)", "STATE_DIRECTORY=\(self.lab.directory)/\(name)",
                Watched.program, "run", "--set", "record.folder=\(folder)", "--set", "logging.level=info",
            ]
        )
    }

    private func message(_ text: String, in service: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !service.standardError.contains(text) {
            try #require(service.isRunning && ContinuousClock.now < deadline, "\(text): \(service.standardError)")
            usleep(5_000)
        }
    }

    /// Nothing happens to the network when there is room again.
    @Test func fullDiskAtTheStart() throws {
        let folder = "\(self.lab.directory)/full"
        try self.lab.run("mkdir \(folder) && mount -t tmpfs -o size=64k none \(folder)")
        try self.lab.run("dd if=/dev/zero of=\(folder)/rest bs=4k 2>/dev/null || true")
        let service = try self.service("full-disk", recording: folder)
        try self.message("No space left on device", in: service)
        try self.message("nothing is recorded until that works", in: service)
        try self.lab.run("rm \(folder)/rest")
        try self.message("the recording goes on", in: service)
        #expect(try service.stop() == 0)
        let history = try self.run("history --json --recording \(folder)")
        #expect(history.text.contains("No space left on device") && history.text.contains("wan0"), "\(history.text)")
        try self.lab.run("umount \(folder)")
    }

    @Test func twoServicesOnOneFolder() throws {
        let folder = "\(self.lab.directory)/shared"
        let first = try self.service("first", recording: folder)
        try self.message("satisfied", in: first)
        let second = try self.service("second", recording: folder)
        try self.message("records in \(folder) already", in: second)
        try self.message("satisfied", in: second)
        #expect(try first.stop() == 0)
        // It takes over.
        try self.message("the recording goes on", in: second)
        #expect(try second.stop() == 0)
        #expect(try self.run("replay \(folder)").status == "status 0")
    }

    /// Times that no clock shows are damage; no command ends by a trap.
    @Test(arguments: [
        #"{"at":9223372036854775807,"report":{}}"#, #"{"at":-9223372036854775808,"report":{}}"#,
        #"{"at":1,"wall":9223372036854775807}"#, #"{"at":5,"wall":-9223372036854775808,"gap":"x"}"#,
        #"{"at":2305843009213693951,"wall":-9223372036854775808,"checkpoint":{}}"#,
    ])
    func timesThatNoClockShows(line: String) throws {
        let file = "\(self.lab.directory)/extreme.jsonl"
        let monitor = try self.watch(recording: file)
        #expect(try monitor.stop() == 0)
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        try Data((line + "\n" + text + line + "\n" + text).utf8).write(to: URL(filePath: file))
        for command in ["history", "history --json", "history --since 30000d", "history --at 1980-01-01T00:00:00Z"] {
            let answer = try self.run("\(command) --recording \(file)")
            #expect(["status 0", "status 69"].contains(answer.status), "\(command): \(answer.status) \(answer.text)")
        }
        #expect(try self.run("replay \(file)").status == "status 0")
    }

    /// A report of a recording: masked, replayable, never written over an older one.
    @Test func report() throws {
        let file = "\(self.lab.directory)/whole.jsonl"
        let monitor = try self.watch(recording: file)
        try self.lab.run("ip link set wan0 down")
        try monitor.next { $0["status"] == "unsatisfied" }
        #expect(try monitor.stop() == 0)
        let report = "\(self.lab.directory)/report.txt"
        let made = try self.run("report \(report) --yes --recording \(file)")
        #expect(made.status == "status 0" && made.text.contains("Masked"), "\(made.text)")
        let text = try String(contentsOf: URL(filePath: report), encoding: .utf8)
        let address = try self.lab.run("cat /sys/class/net/wan0/address").filter { !$0.isNewline }
        #expect(!text.contains("10.77.3."))
        #expect(!text.contains(address))
        for section in ["versions", "configuration", "explain", "history", "network", "resolver", "recording"] {
            #expect(text.contains("\n== \(section) ==\n"), "\(section)")
        }
        let replay = try self.run("replay \(report)")
        #expect(replay.status == "status 0" && replay.text.contains("unsatisfied"), "\(replay.text)")
        #expect(try self.run("history --recording \(report)").text.contains("wan0"))
        let again = try self.run("report \(report) --yes --recording \(file)")
        #expect(again.status == "status 70" && again.text.contains("is there already"), "\(again.text)")
        let missing = try self.run("report \(report).1 --yes --recording \(file).gone")
        #expect(missing.status == "status 70" && missing.text.contains("cannot read the recording"), "\(missing.text)")
        #expect(!FileManager.default.fileExists(atPath: "\(report).1"))
        let open = try self.run("report \(report).2 --yes --unmasked --json --recording \(file)")
        #expect(open.status == "status 0" && open.text.contains("\"masked\":null"), "\(open.text)")
        #expect(try String(contentsOf: URL(filePath: "\(report).2"), encoding: .utf8).contains(address))
    }
}
