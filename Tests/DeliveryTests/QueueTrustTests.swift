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

    @Test func rootLeavesTheFilesToTheOwnerOfTheFolder() throws {
        let folder = "\(self.tool.lab.directory)/home"
        try self.tool.lab.run("mkdir \(folder) && chown 12345:12346 \(folder)")
        var tool = self.tool
        tool.file = "\(folder)/made/queue.sqlite"
        try tool.lab.run("head -c 100000 /dev/zero >\(folder)/body && chown 12345:12346 \(folder)/body")
        try tool.send("-d", "@\(folder)/body")
        #expect(try tool.run("queue", "run", "--until-empty", "--timeout", "1s").status == 3)
        let others = try tool.lab.run("find \(folder) ! -user 12345 -o ! -group 12346")
        #expect(others == "", "\(others)")
        let names = try tool.lab.run("ls \(folder)/made")
        for name in ["-lock", "-sender", "-bodies"] { #expect(names.contains("queue.sqlite\(name)"), "\(names)") }
    }

    @Test(arguments: [("chmod 666", "others can write"), ("chown 12345", "another user"), ("link", "hard links")])
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
