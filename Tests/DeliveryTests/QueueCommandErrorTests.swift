// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What the command line of the queue refuses: says why, ends with the right status, and leaves nothing half-written.
@Suite(.needsCommandLab)
struct QueueCommandErrorTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    @Test(
        arguments: [
            (["198.51.100.7/ok"], "scheme"), (["ftp://198.51.100.7/"], "http and https"), (["http://"], "endpoint"),
            (["-X", "FETCH", "http://198.51.100.7/"], "FETCH"),
            (["-X", "GET\r\nX: y", "http://198.51.100.7/"], "method"),
            (["-H", "X-A: b\r\nHost: evil", "http://198.51.100.7/"], "header X-A"),
            (["-H", "X A: b", "http://198.51.100.7/"], "header X A"),
            (["-H", "Content-Length: 3", "http://198.51.100.7/"], "Content-Length"),
            (["-d", "@/nowhere/at/all", "http://198.51.100.7/"], "/nowhere/at/all"),
            (["-d", "@/", "http://198.51.100.7/"], "body"),
            (["--idempotency-key", "\u{E9}", "http://198.51.100.7/"], "idempotency key"),
        ]
    )
    func requestIsRefused(_ words: [String], _ expected: String) throws {
        let result = try self.tool.run(["send"] + words)
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains(expected), "\(result.errors)")
        #expect(!result.errors.contains("\r"))
        #expect(result.output == "")
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 0)
    }

    @Test func aClosedInputIsNoEmptyBody() throws {
        let words = ["send", "-d", "-", "http://198.51.100.7/", "--queue", self.tool.file]
        let command = try QueueTool.quoted([QueueTool.program] + words)
        let output = try self.tool.lab.run("\(command) 2>&1 <&-; echo $?")
        #expect(output.contains("standard input") && output.contains("Bad file descriptor"), "\(output)")
        #expect(output.hasSuffix("\n64\n"), "\(output)")
        #expect(try self.tool.run("queue").output == "Nothing waits.\n")
    }

    @Test func bodyOverTheLimitIsRefused() throws {
        let file = "\(self.tool.lab.directory)/large"
        // Holes cost no room.
        try self.tool.lab.run("truncate -s 101M \(file)")
        let result = try self.tool.run("send", "-d", "@\(file)", "http://198.51.100.7/")
        #expect(result.status == 64)
        #expect(result.errors.contains("the limit is 104857600"), "\(result.errors)")
        #expect(try self.tool.run("queue").output == "Nothing waits.\n")
        let bodies = "\(self.tool.file)-bodies"
        let left = (try? FileManager.default.contentsOfDirectory(atPath: bodies)) ?? []
        #expect(left.isEmpty)
    }

    @Test func identifiersAreChecked() throws {
        try self.tool.send()
        #expect(try self.tool.run("queue", "show", "no-such").status == 64)
        let unknown = try self.tool.run("queue", "show", UUID().uuidString)
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("no request has the id"))
        #expect(try self.tool.run("queue", "retry", UUID().uuidString).status == 1)
    }

    @Test func queueFileThatIsAFolder() throws {
        var tool = self.tool
        tool.file = self.tool.lab.directory
        let result = try tool.run("send", "http://198.51.100.7/")
        #expect(result.status == 70)
        #expect(result.errors.contains("folder"), "\(result.errors)")
    }

    @Test(arguments: [
        (UInt32(7), UInt32(1), "not a queue"), (0x4E50_4F52, 99, "newer version"), (0x4E50_5271, 1, "not a queue"),
    ])
    func queueFileOfOthers(application: UInt32, version: UInt32, expected: String) throws {
        var tool = self.tool
        tool.file = "\(self.tool.lab.directory)/other.sqlite"
        try Self.emptyDatabase(application: application, version: version).write(to: URL(filePath: tool.file))
        let result = try tool.run("send", "http://198.51.100.7/")
        #expect(result.status == 70)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    /// The file of a database without tables (the database header and a leaf page of SQLite's file format).
    private static func emptyDatabase(application: UInt32, version: UInt32) -> Data {
        var page = [UInt8](repeating: 0, count: 4096)
        func put(_ value: UInt32, _ width: Int, at offset: Int) {
            for index in 0..<width {
                page[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (width - 1 - index)))
            }
        }
        page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        put(4096, 2, at: 16)
        page.replaceSubrange(18..<24, with: [1, 1, 0, 64, 32, 32])
        put(1, 4, at: 24)
        put(1, 4, at: 28)
        put(4, 4, at: 44)
        put(1, 4, at: 56)
        put(version, 4, at: 60)
        put(application, 4, at: 68)
        put(1, 4, at: 92)
        put(3_046_000, 4, at: 96)
        page[100] = 0x0D
        put(4096, 2, at: 105)
        return Data(page)
    }

    /// On a file system that is read-only: root may write every file that can be written.
    @Test func queueFileThatCannotBeWritten() throws {
        let folder = "\(self.tool.lab.directory)/frozen"
        try self.tool.lab.run("mkdir \(folder) && mount -t tmpfs -o ro none \(folder)")
        var tool = self.tool
        tool.file = "\(folder)/queue.sqlite"
        let result = try tool.run("send", "http://198.51.100.7/")
        #expect(result.status == 70)
        #expect(result.errors.contains("\(folder): this cannot be read and written"), "\(result.errors)")
    }

    /// To look takes no room: what is to be cancelled has to be found.
    @Test func aFullDiskHidesNothing() throws {
        let folder = "\(self.tool.lab.directory)/full"
        try self.tool.lab.run("mkdir \(folder) && mount -t tmpfs -o size=3m none \(folder)")
        var tool = self.tool
        tool.file = "\(folder)/a queue?.sqlite"
        let sent = try tool.run("send", "http://198.51.100.7/")
        try #require(sent.status == 0, "\(sent.errors)")
        try self.tool.lab.run("dd if=/dev/zero of=\(folder)/rest bs=4k status=none 2>&1 || true")
        for words in [["list"], ["list", "--json"], ["dead"], ["stats"]] {
            let result = try tool.run(["queue"] + words)
            #expect(result.status == 0, "\(words): \(result.errors)")
        }
        #expect(try tool.run("queue", "list").output.contains(String(sent.output.prefix(8))))
    }

    @Test func withoutTheOtherProgram() throws {
        let folder = "\(self.tool.lab.directory)/alone"
        let program = try QueueTool.program
        let output = try self.tool.lab.run(
            """
            mkdir \(folder) && cp '\(program)' \(folder)/netpath
            env PATH=/nowhere \(folder)/netpath send http://198.51.100.7/ 2>&1; echo $?
            env PATH=/nowhere \(folder)/netpath send --help >/dev/null; echo $?
            """
        )
        #expect(output.contains("netpath-queue"))
        #expect(output.contains("make install"))
        #expect(output.hasSuffix("70\n0\n"), "\(output)")
    }

    @Test func environmentNamesTheFile() throws {
        let path = "\(self.tool.lab.directory)/named.sqlite"
        let program = try QueueTool.program
        let output = try self.tool.lab.run(
            """
            export NETPATH_QUEUE=\(path)
            '\(program)' send http://198.51.100.7/ >/dev/null && '\(program)' queue stats --json
            export NETPATH_QUEUE= XDG_DATA_HOME=\(self.tool.lab.directory)/share
            '\(program)' queue stats --json; '\(program)' queue pause >/dev/null
            stat -c %a \(path) \(self.tool.lab.directory)/share/netpath/requests/netpath.sqlite
            """
        )
        let lines = output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].contains("\"pending\":1"), "\(output)")
        #expect(lines.count == 4 && lines[1].contains("share/netpath/requests/netpath.sqlite"), "\(output)")
        #expect(lines.suffix(2) == ["600", "600"])
    }
}
