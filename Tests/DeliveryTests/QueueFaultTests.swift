// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathTestKit
import Testing

extension Trait where Self == ConditionTrait {
    /// Runs where strace may follow programs (ptrace(2)).
    fileprivate static var needsFaults: Self {
        .enabled("strace may not follow programs here: no fault of a disk is tested") {
            let strace = Process()
            strace.executableURL = URL(filePath: "/usr/bin/strace")
            strace.arguments = ["-o", "/dev/null", "true"]
            do { try strace.run() } catch { return false }
            strace.waitUntilExit()
            return strace.terminationStatus == 0
        }
    }
}

/// Faults of a disk and shortages of the system: strace(1) has calls of the program fail.
///
/// None of them is damage, nothing is lost by one, and what was put off is done once it is over.
@Suite(.needsCommandLab, .needsFaults, .timeLimit(.minutes(10)))
struct QueueFaultTests {
    private var tool: QueueTool

    init() throws { self.tool = try QueueTool() }

    /// Runs a command of which calls fail, those about one of the queue's files or all.
    private func run(
        _ words: [String],
        failing call: String,
        on suffix: String? = nil,
        with error: String,
        when number: Int
    ) throws -> QueueTool.Result {
        let options = ["-f", "-o", "/dev/null", "-e", "trace=\(call)"]
        let files = suffix.map { ["-P", self.tool.file + $0] } ?? []
        let fault = "--inject=\(call):error=\(error):when=\(number)"
        return try self.tool.run(words, under: ["strace"] + options + files + [fault])
    }

    /// The names of what was set aside.
    private var setAside: [String] {
        get throws {
            let folder = URL(filePath: self.tool.file).deletingLastPathComponent().path
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".corrupt-") }
        }
    }

    /// Twelve requests, in a file of which a page is damaged that none of them needs; eight of them may be in the journal alone.
    private func leaveDamage(in folder: String, atPage page: Int, isInJournal: Bool) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for number in 0..<4 { try self.tool.send("-d", "x", path: "/ok?id=\(number)") }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: self.tool.file, configuration: configuration)
        // What a reader has in sight stays in the journal.
        if isInJournal { try reader.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM request") } }
        let body = String(repeating: "x", count: isInJournal ? 600 : 1)
        for number in 4..<12 { try self.tool.send("-d", body, path: "/ok?id=\(number)") }
        for suffix in ["", "-wal", "-lock", "-reserve"]
        where FileManager.default.fileExists(atPath: self.tool.file + suffix) {
            try FileManager.default.copyItem(atPath: self.tool.file + suffix, toPath: "\(folder)/q\(suffix)")
        }
        if isInJournal { try reader.inDatabase { try $0.execute(sql: "COMMIT") } }
        try reader.close()
        let file = try FileHandle(forUpdating: URL(filePath: "\(folder)/q"))
        try file.seek(toOffset: UInt64(page * 2048))
        try file.write(contentsOf: Data(repeating: 0xff, count: 16))
        try file.close()
    }

    @Test(
        arguments: [
            ("pread64", "-mended", 3...10, false), ("newfstatat", "-wal", 7...15, true),
            ("newfstatat", "", 28...33, true),
        ]
    )
    mutating func aRepairLosesNothing(call: String, suffix: String, calls: ClosedRange<Int>, isInJournal: Bool) throws {
        let template = "\(self.tool.lab.directory)/template"
        try self.leaveDamage(in: template, atPage: isInJournal ? 5 : 4, isInJournal: isInJournal)
        for number in [0] + calls {
            let folder = "\(self.tool.lab.directory)/\(number)"
            try FileManager.default.copyItem(atPath: template, toPath: folder)
            self.tool.file = "\(folder)/q"
            let first =
                try number == 0
                ? nil : self.run(["queue", "repair"], failing: call, on: suffix, with: "EIO", when: number)
            let second = try self.tool.run("queue", "repair")
            let kept = try self.tool.run("queue", "list", "--json").documents.count
            #expect(kept == 12, "\(call) \(number): \(first?.errors ?? "") \(second.errors)")
            #expect(try !self.setAside.isEmpty, "\(call) \(number)")
        }
    }

    /// The file itself, with its wrong header, gives nothing.
    @Test mutating func aRepairWithoutRoomForACopyIsPutOff() throws {
        let folder = "\(self.tool.lab.directory)/damaged"
        try self.leaveDamage(in: folder, atPage: 4, isInJournal: false)
        self.tool.file = "\(folder)/q"
        let file = try FileHandle(forUpdating: URL(filePath: self.tool.file))
        try file.seek(toOffset: 20)
        try file.write(contentsOf: Data([0xFF, 0xFF, 0xFF, 0xFF]))
        try file.close()
        let first = try self.run(["queue", "repair"], failing: "sendfile", on: "-mended", with: "ENOSPC", when: 1)
        #expect(first.status == 70 && first.errors.contains("the disk is full"), "\(first.errors)")
        #expect(try self.setAside.isEmpty)
        _ = try self.tool.run("queue", "repair")
        #expect(try self.tool.run("queue", "list", "--json").documents.count == 12)
    }

    /// Only one that is not there, or is another, is damaged.
    @Test(arguments: ["EACCES", "ETIMEDOUT"])
    func aBodyThatIsNotGivenNowIsSentLater(error: String) throws {
        let server = try self.tool.serve()
        let body = String(repeating: "A", count: 70_000)
        try body.write(toFile: "\(self.tool.lab.directory)/body", atomically: false, encoding: .utf8)
        try self.tool.send("-d", "@\(self.tool.lab.directory)/body")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: "\(self.tool.file)-bodies").first)
        let words = ["queue", "run", "--until-empty", "--timeout", "100s"]
        let run = try self.run(words, failing: "openat", on: "-bodies/\(name)", with: error, when: 1)
        #expect(run.status == 0, "\(run.errors)")
        try server.nextRequest()
    }

    /// A limit of the shell's on the length of files is a signal at first, which ends a program without a word.
    @Test func aFileThatMustNotGrowIsAnError() throws {
        try self.tool.send("-d", "x")
        let words = ["send", "-d", String(repeating: "x", count: 20_000), QueueTool.origin]
        let refused = try self.tool.run(words, under: ["prlimit", "--fsize=8192"])
        #expect(refused.status == 70 && !refused.errors.isEmpty, "\(refused)")
        #expect(try self.tool.run("queue", "list", "--json").documents.count == 1)
    }

    /// Nothing is heard of the files in a folder when that gets another name.
    @Test mutating func aQueueWhoseFolderIsMovedEnds() throws {
        let folder = "\(self.tool.lab.directory)/folder"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        self.tool.file = "\(folder)/q"
        let run = try self.tool.start("queue", "run", "--json")
        try self.tool.send("-d", "x")
        try run.next()
        try self.tool.lab.run("mv \(folder) \(folder).moved; mkdir \(folder)")
        #expect(try run.waitForEnd() == 70)
        #expect(run.standardError.contains("removed"), "\(run.standardError)")
    }

    /// SQLite falls back to files that it may only read.
    @Test(arguments: ["", "-wal"], ["EMFILE", "EIO"])
    func whatIsNotOpenedToWriteIsNoDamage(suffix: String, error: String) throws {
        let server = try self.tool.serve()
        for number in 0..<3 { try self.tool.send("-d", "\(number)", path: "/ok?id=\(number)") }
        let words = ["queue", "run", "--until-empty", "--timeout", "40s"]
        let run = try self.run(words, failing: "openat", on: suffix, with: error, when: 2)
        #expect(!run.errors.contains("damaged"), "\(run.errors)")
        #expect(try self.setAside.isEmpty)
        // Opened once more, or by this command or the next.
        #expect(try self.tool.run(words).status == 0)
        #expect(try server.bodies(3).sorted() == ["0", "1", "2"])
    }

    /// Of any other reason than another process's lock no end would be heard.
    @Test func aLockThatTheSystemRefusesIsTriedAgain() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "x")
        let words = ["queue", "run", "--until-empty", "--timeout", "100s"]
        let run = try self.run(words, failing: "flock", on: "-sender", with: "ENOLCK", when: 1)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try server.bodies(1) == ["x"])
    }

    /// Without the lock on it, the process that sends would take it for one that belongs to no request.
    @Test func aBodyThatCannotBeLockedIsNotTaken() throws {
        let body = "\(self.tool.lab.directory)/body"
        try Data(repeating: 65, count: 300_000).write(to: URL(filePath: body))
        try self.tool.send("-d", "x")
        // To open the queue and to leave it; that of the body; and to put the request there.
        let words = ["send", "-d", "@\(body)", QueueTool.origin]
        let refused = try self.run(words, failing: "flock", with: "ENOLCK", when: 3)
        #expect(refused.status == 70, "\(refused.errors)")
        #expect(try self.tool.run("queue", "list", "--json").documents.count == 1)
    }
}
