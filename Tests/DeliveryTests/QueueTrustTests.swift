// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Whose the files of a queue are, and under which names.
@Suite(.needsCommandLab)
struct QueueTrustTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    /// Outside of a laboratory, in which root is the only user.
    @Test(.enabled(if: geteuid() == 0))
    func rootLeavesTheFilesToTheOwnerOfTheFolder() throws {
        let folder = try TemporaryDirectory()
        let program = try QueueTool.quoted([QueueTool.program])
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-ec",
            """
            cd \(folder.path); mkdir home; head -c 100000 /dev/zero >home/body; chown -R 12345:12346 home
            export NETPATH_QUEUE=\(folder.path)/home/made/queue.sqlite
            \(program) send -d @home/body http://127.0.0.1:9/ >/dev/null
            \(program) queue run --until-empty --timeout 1s >/dev/null 2>&1 || [ $? = 3 ]
            ls home/made; find home '(' ! -user 12345 -o ! -group 12346 ')' -printf 'NOT THEIRS: %p\\n'
            chown 54321 "$NETPATH_QUEUE"; \(program) queue 2>&1 || echo "status $?"
            """,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        for name in ["", "-lock", "-sender", "-bodies"] { #expect(text.contains("queue.sqlite\(name)\n"), "\(text)") }
        #expect(!text.contains("NOT THEIRS"), "\(text)")
        #expect(text.contains("another user") && text.contains("status 70"), "\(text)")
    }

    @Test(arguments: [("chmod 666", "others can write"), ("link", "hard links")])
    func whatOthersMayHaveWrittenIsRefused(_ change: String, _ expected: String) throws {
        try self.tool.send()
        let file = self.tool.file
        try self.tool.lab.run(change == "link" ? "ln \(file) \(file)2" : "\(change) \(file)")
        for words in [["queue", "list"], ["send", QueueTool.origin + "/ok"], ["queue", "run", "--until-empty"]] {
            let result = try self.tool.run(words)
            #expect(result.status == 70, "\(result)")
            #expect(result.errors.contains(expected), "\(result.errors)")
        }
    }

    @Test(arguments: ["lock", "sender", "reserve", "shm", "journal"])
    func whatIsNoFileIsRefused(_ name: String) throws {
        try self.tool.send()
        let file = "\(self.tool.file)-\(name)"
        try self.tool.lab.run("rm -f \(file); mkfifo \(file)")
        for words in [["queue", "list"], ["send", QueueTool.origin + "/ok"], ["queue", "run", "--until-empty"]] {
            let result = try self.tool.run(words)
            #expect(result.status == 70, "\(result)")
            #expect(result.errors.contains("no regular file"), "\(result.errors)")
        }
    }

    @Test func whatTheQueueHasNotMadeStays() throws {
        try self.tool.send()
        let folder = "\(self.tool.lab.directory)/others"
        let bodies = "\(self.tool.file)-bodies"
        try self.tool.lab.run("mkdir \(folder); touch \(folder)/notes; ln -s \(folder) \(bodies)")
        try self.tool.run("queue", "run", "--until-empty", "--timeout", "1s")
        try self.tool.lab.run("test -e \(folder)/notes; rm \(bodies); mv \(folder) \(bodies)")
        try self.tool.run("queue", "run", "--until-empty", "--timeout", "1s")
        try self.tool.lab.run("test -e \(bodies)/notes")
    }

    @Test func aQueueHasOneNameAndOneSender() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "x", "--key", "k", path: "/stall-response?id=a")
        var linked = self.tool
        linked.file = "\(self.tool.lab.directory)/link.sqlite"
        try self.tool.lab.run("ln -s \(self.tool.file) \(linked.file)")
        let one = try self.tool.start("queue", "run", "--json")
        try server.nextRequest()
        let other = try linked.run("queue", "run", "--until-empty", "--timeout", "2s")
        #expect(other.status == 3, "\(other)")
        #expect(try server.bodies() == [])
        #expect(try one.stop(signal: .terminate) == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: self.tool.lab.directory)
        #expect(names.filter { $0.hasPrefix("link.sqlite") } == ["link.sqlite"])
    }

    @Test func aLinkThatAnybodyCouldHaveMadeIsRefused() throws {
        try self.tool.send()
        let folder = "\(self.tool.lab.directory)/shared"
        try self.tool.lab.run("mkdir -m 1777 \(folder) && ln -s \(self.tool.file) \(folder)/queue.sqlite")
        var shared = self.tool
        shared.file = "\(folder)/queue.sqlite"
        let result = try shared.run("queue")
        #expect(result.status == 70)
        #expect(result.errors.contains("symbolic link"), "\(result.errors)")
    }
}
