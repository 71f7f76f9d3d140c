// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The command line of the queue, against a real server.
@Suite(.needsCommandLab)
struct QueueCommandTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    @Test func theVersionIsThatOfNetpath() throws {
        let program = try QueueTool.quoted([MonitorProcess.builtProduct("netpath-queue")])
        let facts = try self.tool.lab.run("\(program) --version").split(separator: "\n")
        #expect(facts.first?.wholeMatch(of: /netpath-queue \d+\.\d+\.\d+/) != nil)
        let netpath = try self.tool.lab.run("\(QueueTool.quoted([QueueTool.program])) --version").split(separator: "\n")
        #expect(facts.first?.split(separator: " ").last == netpath.first?.split(separator: " ").last)
        // The two may have been built differently.
        #expect(facts.dropFirst().first?.hasPrefix("commit ") == true)
        #expect(facts.last?.contains(/libcurl \d+\.\d+\.\d+, SQLite 3\.\d+\.\d+/) == true)
        #expect(try self.tool.lab.run("\(program) --version --json").hasPrefix(#"{"schema":1,"version":""#))
    }

    // MARK: Keeping

    @Test func sendReturnsAtOnceAndKeepsTheRequest() throws {
        let id = try self.tool.send("-d", "hello", "--type", "order", "--key", "lane")
        #expect(UUID(uuidString: id) != nil)
        let document = try #require(try self.tool.run("queue", "--json").documents.first)
        #expect(document["id"]?.string == id)
        #expect(document["state"]?.string == "ready")
        #expect(document["waiting"]?["code"]?.string == "notRunning")
        let one = try self.tool.send("-d", "1")
        #expect(try self.tool.run("queue", "show", one).output.contains(/Body +1 byte\n/))
        let list = try self.tool.run("queue", "list")
        #expect(list.output.contains(id))
        #expect(list.output.contains("waiting: "))
    }

    /// The names are a promise: the document that describes them and the commands name the same.
    @Test func documentsHaveTheKeysThatAreDescribed() throws {
        let described = try Self.describedKeys()
        let sent = try #require(try self.tool.run("send", "--json", QueueTool.origin + "/ok?id=1").documents.first)
        #expect(sent.names == described["Receipt"])
        let id = try #require(sent["id"]?.string)
        let listed = try #require(try self.tool.run("queue", "list", "--json").documents.first)
        #expect(listed.names == described["Request"])
        let shown = try #require(try self.tool.run("queue", "show", id, "--json").documents.first)
        #expect(shown.names == described["Request"]?.union(described["Details"] ?? []))
        let stats = try #require(try self.tool.run("queue", "stats", "--json").documents.first)
        #expect(stats.names == described["Stats"])
        #expect(stats["pending"]?.number == 1)
        let time = try #require(listed["enqueued"]?.string)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let events = try self.tool.run("queue", "run", "--until-empty", "--json").documents
        #expect(events.contains { $0["event"]?.string == "succeeded" && $0["status"]?.number == 200 })
        for event in events { #expect(event.names == described["Event"]) }
    }

    /// The names in the tables of JSON.md, by heading.
    private static func describedKeys() throws -> [String: Set<String>] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/OfflineRequests/OfflineRequests.docc/JSON.md")
        var names: [String: Set<String>] = [:]
        var heading = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
            if line.hasPrefix("| `"), let name = line.dropFirst(3).split(separator: "`").first {
                names[heading, default: []].insert(String(name))
            }
        }
        return names
    }

    @Test func secretsAreNowhereShown() throws {
        let id = try self.tool.send(
            "-H",
            "Authorization: Bearer s3cr3t",
            "-H",
            "X-Mine: t0ps3cr3t",
            "--sensitive",
            "x-mine"
        )
        for words in [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"], ["stats"]] {
            let result = try self.tool.run(["queue"] + words)
            #expect(result.status == 0, "\(result.errors)")
            #expect(!(result.output + result.errors).contains("s3cr3t"), "\(words): \(result.output)")
        }
    }

    @Test func oneOfTheSameKindIsKept() throws {
        let first = try self.tool.send("-d", "1", "--unique", "position")
        let second = try self.tool.run("send", "-d", "2", "--unique", "position", QueueTool.origin + "/ok")
        #expect(second.line == first && second.errors.contains("--if-exists replace"), "\(second.errors)")
        #expect(second.errors.contains("is waiting or being sent already"), "\(second.errors)")
        let again = try self.tool.run("send", "--json", "--unique", "position", QueueTool.origin + "/ok").documents
            .first
        #expect(again?["isNew"]?.bool == false)
        let last = try self.tool.send("-d", "3", "--unique", "position", "--if-exists", "replace")
        #expect(last != first)
        #expect(try self.tool.run("queue", "--json").documents.map { $0["id"]?.string } == [last])
    }

    // MARK: Sending

    @Test func runDeliversEverythingAndEnds() throws {
        let server = try self.tool.serve()
        let names = (1...5).map { "n\($0)" }
        for name in names { try self.tool.send("-d", name, path: "/ok?id=\(name)") }
        let run = try self.tool.run("queue", "run", "--until-empty")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("succeeded"))
        #expect(try server.bodies(names.count).sorted() == names)
        #expect(try self.tool.run("queue", "stats").output.contains("EMPTY"))
    }

    @Test func fileAndInputAreSent() throws {
        let file = "\(self.tool.lab.directory)/body"
        try Data("from a file\n".utf8).write(to: URL(filePath: file))
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let fromFile = try self.tool.run("send", "--wait", "-d", "@\(file)", QueueTool.origin + "/echo")
        #expect(fromFile.output == "from a file\n", "\(fromFile.errors)")
        let fromInput = try self.tool.run(
            "send",
            "--wait",
            "-X",
            "PUT",
            "-d",
            "-",
            QueueTool.origin + "/echo",
            input: "from input"
        )
        #expect(fromInput.output == "from input", "\(fromInput.errors)")
        let stats = try #require(try self.tool.run("queue", "stats", "--json").documents.first)
        #expect(stats["pending"]?.number == 0)
        // What was shown is not kept.
        #expect(stats["counts"]?["succeeded"]?.number == 0)
    }

    @Test func waitTellsWhatCameOfIt() throws {
        let offline = try self.tool.run("send", "--wait", "--timeout", "500ms", QueueTool.origin + "/echo", "-d", "x")
        #expect(offline.status == 3)
        #expect(offline.errors.contains("stays in the queue"))
        #expect(try self.tool.run("queue", "cancel", "--all").status == 0)
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let refused = try self.tool.run("send", "--wait", QueueTool.origin + "/status/404")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("404"), "\(refused.errors)")
        let held = try self.tool.run("send", "--wait", QueueTool.origin + "/status/401")
        #expect(held.status == 1)
        #expect(held.errors.contains("held"), "\(held.errors)")
        let json = try self.tool.run("send", "--wait", "--json", "-d", "é", QueueTool.origin + "/echo")
        let response = try #require(try json.documents.first?["response"])
        #expect(response["status"]?.number == 200)
        #expect(response["body"]?.string == "é")
    }

    @Test func theRulesOfTheConfigurationSayWhatIsMetered() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let file = "\(self.tool.lab.directory)/netpath.yaml"
        let text = "backends: [{type: netlink}]\ninterfaces: [{match: {name: wan0}, type: cellular}]\n"
        try Data(text.utf8).write(to: URL(filePath: file))
        let thrifty = ["send", "--wait", "--unmetered-only", "-d", "x", QueueTool.origin + "/echo"]
        for options in [["--config", file], ["--set", "interfaces=[{match: {name: wan0}, expensive: true}]"]] {
            let metered = try self.tool.run(thrifty + ["--timeout", "10s"] + options)
            #expect(metered.status == 3)
            #expect(metered.errors.contains("the path is metered"), "\(metered.errors)")
        }
        // Where netpath itself takes it, before the command.
        let cellular = try self.tool.run(
            ["--config", file, "send", "--wait", "--interface-type", "cellular", QueueTool.origin + "/echo", "-d", "y"]
        )
        #expect(cellular.output == "y", "\(cellular.errors)")
        let run = try self.tool.run("queue", "run", "--until-empty", "--timeout", "1s", "--config", file)
        #expect(run.status == 3)
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        let bad = try self.tool.run(thrifty + ["--set", "interfaces=1"])
        #expect(bad.status == 78)
        #expect(bad.errors.contains("interfaces"), "\(bad.errors)")
    }

    @Test func runSaysThatTheQueueIsNew() throws {
        for isNew in [true, false] {
            let run = try self.tool.run("queue", "run", "--until-empty")
            #expect(run.status == 0)
            #expect(run.errors.contains("there was no queue here") == isNew, "\(run)")
        }
    }

    @Test func signalEndsRunAndLeavesWhatIsNotDone() throws {
        let server = try self.tool.serve()
        let id = try self.tool.send("-d", "x", path: "/stall-response?id=a")
        let run = try self.tool.start("queue", "run", "--json")
        try server.nextRequest()
        let second = try self.tool.run("queue", "run", "--until-empty", "--timeout", "5s")
        #expect(second.errors.contains("(netpath-queue) sends; this one takes over when that ends"), "\(second)")
        #expect(try run.stop(signal: .terminate) == 0)
        let document = try #require(try self.tool.run("queue", "--json").documents.first)
        #expect(document["id"]?.string == id)
        #expect(document["state"]?.string != "dead")
    }

    @Test func deadAreListedRevivedAndForgotten() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let id = try self.tool.send("-d", "x", path: "/status/400?id=a")
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue").output == "Nothing waits.\n")
        let dead = try self.tool.run("queue", "dead")
        #expect(dead.output.contains(id))
        #expect(dead.output.contains("400"))
        #expect(try self.tool.run("queue", "dead", "requeue", id).status == 0)
        #expect(try self.tool.run("queue", "--json").documents.first?["retryCount"]?.number == 0)
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue", "retry", "--all", "--json").documents.first?["retried"]?.number == 1)
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue", "dead", "purge").status == 0)
        #expect(try self.tool.run("queue", "dead").output == "Nothing was given up.\n")
        #expect(try self.tool.run("queue", "dead", "requeue").status == 1)
    }

    @Test func cancelTakesOut() throws {
        let ids = try (1...3).map { try self.tool.send("--key", "lane\($0)", "--type", "kind") }
        #expect(try self.tool.run("queue", "cancel", ids[0]).status == 0)
        let again = try self.tool.run("queue", "cancel", ids[0])
        #expect(again.status == 1, "\(again)")
        #expect(try self.tool.run("queue", "cancel", "--key", "lane2").status == 0)
        #expect(
            try self.tool.run("queue", "cancel", "--type", "kind", "--json").documents.first?["cancelled"]?.number == 1
        )
        #expect(try self.tool.run("queue", "cancel", "--all").status == 1)
        for number in 1...3 { try self.tool.send("-d", "\(number)") }
        #expect(try self.tool.run("queue", "cancel", "--all").output == "3 requests cancelled\n")
    }

    @Test func retryReleasesOnlyWhatIsNamed() throws {
        let ids = try (0..<2).map { number in try self.tool.send("-d", "\(number)", path: "/status/400?id=\(number)") }
        do {
            let server = try self.tool.serve()
            defer { withExtendedLifetime(server) {} }
            #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        }
        #expect(try self.tool.run("queue", "retry", ids[1], "--json").documents.first?["retried"]?.number == 1)
        #expect(try self.tool.run("queue", "--json").documents.compactMap { $0["id"]?.string } == [ids[1]])
        // It is there, and need not wait for anything.
        #expect(try self.tool.run("queue", "retry", ids[1]).status == 0)
        #expect(try self.tool.run("queue", "retry", UUID().uuidString).status == 1)
    }

    @Test func pauseLastsUntilResume() throws {
        let server = try self.tool.serve()
        try self.tool.send("-d", "x", path: "/ok?id=a")
        #expect(try self.tool.run("queue", "pause").output == "queue paused, 1 request pending\n")
        #expect(try self.tool.run("queue", "run", "--until-empty", "--timeout", "30s").status == 1)
        #expect(try server.bodies() == [])
        #expect(try self.tool.run("queue", "resume").status == 0)
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        try self.tool.send("-d", "x")
        #expect(try self.tool.run("queue", "reset").status == 64)
        #expect(try self.tool.run("queue", "reset", "--yes").status == 0)
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 0)
    }
}
