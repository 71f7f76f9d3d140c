// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What `netpath send --wait` does beside other processes, and what its user sees meanwhile.
@Suite(.needsCommandLab)
struct SendWaitTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    @Test func whoWaitsForOneRequestSendsNoOther() throws {
        let server = try self.tool.serve()
        let other = try self.tool.send("-d", "other", path: "/ok?id=other")
        let answer = try self.tool.run("send", "--wait", "-d", "mine", QueueTool.origin + "/echo")
        #expect(answer.output == "mine", "\(answer.errors)")
        #expect(try server.bodies(1) == ["mine"])
        let left = try self.tool.run("queue", "--json").documents
        #expect(left.map { $0["id"]?.string } == [other])
        #expect(left.first?["attempts"]?.number == 0)
    }

    @Test func whoWaitsForOneRequestLeavesSendingToOthers() throws {
        let server = try self.tool.serve()
        let waiting = try self.tool.start(
            "send",
            "--wait",
            "-d",
            "mine",
            "--interface-type",
            "wifi",
            QueueTool.origin + "/echo",
            environment: ["http_proxy": "http://192.0.2.1:9"]
        )
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.tool.run("queue", "--json").documents.isEmpty { try #require(.now < deadline) }
        try self.tool.send("-d", "other", path: "/ok?id=other")
        let run = try self.tool.start("queue", "run", "--json")
        try run.next { $0["event"] == "succeeded" }
        #expect(try server.bodies(1) == ["other"])
        while !waiting.standardError.contains(" waits: ") { try #require(.now < deadline) }
        waiting.sendSignal(.terminate)
        try waiting.waitForEnd()
    }

    @Test func whoWaitsWhileTheQueueIsPausedHearsHowToGoOn() throws {
        _ = try self.tool.run("queue", "pause")
        let late = try self.tool.run("send", "--wait", "--timeout", "10s", "-d", "x", QueueTool.origin + "/ok")
        #expect(late.status == 3)
        #expect(late.errors.contains(" waits: the queue is paused: 'netpath queue resume"), "\(late.errors)")
        #expect(late.errors.contains("stays in the queue; it waits: the queue is paused: '"), "\(late.errors)")
    }

    @Test func whoWaitsForOneRequestHearsWhatAnotherProcessDidWithIt() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let run = try self.tool.start("queue", "run", "--json")
        try self.tool.send("-d", "x")
        try run.next { $0["event"] == "succeeded" }
        func send(_ limit: String, _ path: String) throws -> QueueTool.Result {
            try self.tool.run("send", "--wait", "--timeout", limit, "-d", "x", QueueTool.origin + path)
        }
        let held = try send("60s", "/status/401?id=a")
        #expect(held.status == 1)
        #expect(held.errors.contains("is held: the server did not accept"), "\(held.errors)")
        let late = try send("20s", "/status/503?retry-after=90")
        #expect(late.status == 3)
        #expect(late.errors.contains("the server answered 503; tries again in "), "\(late.errors)")
        #expect(try run.stop() == 0)
    }

    @Test func whatIsNotReachedIsSaidToo() throws {
        let words = ["send", "--wait", "--timeout", "10s", "-d", "x", "http://198.51.100.7:9/"]
        let refused = try self.tool.run(words)
        #expect(refused.status == 3)
        let tries = /; tries again in \d+s, 0 of 10 retries used,/
        #expect(refused.errors.contains(tries), "\(refused.errors)")
        #expect(refused.errors.contains("attempts that reach no server do not count (--max-retries)\n"))
        #expect(!refused.errors.contains("at most"), "\(refused.errors)")
    }

    @Test func whatIsHeldEndsAQueueThatRunsUntilItIsEmptyWithAWord() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        try self.tool.send("-d", "x", path: "/status/401")
        let run = try self.tool.run("queue", "run", "--until-empty")
        #expect(run.status == 1)
        #expect(run.errors.contains("1 held: "), "\(run.errors)")
    }

    /// Other processes say that one sends it, and when, and of the others that none does.
    @Test func whoWaitsForOneRequestIsSeen() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let other = try self.tool.send("-d", "other")
        func awaitReason(_ code: String, hasTime: Bool = false) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while true {
                let documents = try self.tool.run("queue", "--json").documents
                #expect(documents.first { $0["id"]?.string == other }?["waiting"]?["code"]?.string == "notRunning")
                let waiting = documents.first { $0["id"]?.string != other }?["waiting"]
                let message = waiting?["message"]?.string ?? ""
                #expect((waiting?["code"]?.string == "ownSender") == message.contains("sends this request alone"))
                if waiting?["code"]?.string == code, (waiting?["until"]?.string != nil) == hasTime { return }
                try #require(.now < deadline, "\(documents)")
            }
        }
        let words = ["send", "--wait", "-d", "mine"]
        for path in ["/status/503?retry-after=3600", "/ok"] {
            let isTried = path != "/ok"
            let more = isTried ? [] : ["--interface-type", "wifi"]
            let waiting = try self.tool.lab.start(
                try QueueTool.program,
                words + more + [QueueTool.origin + path, "--queue", self.tool.file]
            )
            try awaitReason("ownSender", hasTime: isTried)
            waiting.sendSignal(.kill)
            try waiting.waitForEnd()
            try awaitReason("notRunning")
            for document in try self.tool.run("queue", "--json").documents where document["id"]?.string != other {
                try self.tool.run("queue", "cancel", #require(document["id"]?.string))
            }
        }
    }

    /// A user who waits sees each answer that is not as expected.
    @Test func whoWaitsForACertainAnswerSeesTheOther() throws {
        let server = try self.tool.serve()
        let words = ["send", "--wait", "--max-retries", "1", "--expect-status", "201", "-d", "x"]
        let result = try self.tool.run(words + [QueueTool.origin + "/ok?id=1"])
        #expect(result.status == 1)
        let said = /the server answered 200 instead of 201; tries again in 1s, for the last time \(--max-retries\)/
        #expect(result.errors.contains(said), "\(result.errors)")
        #expect(result.errors.contains("is held: the answer is not as expected: 200 inst"), "\(result.errors)")
        #expect(try server.bodies(2) == ["x", "x"])
    }

    @Test func whoWaitsForOneRequestHearsThatItExpired() throws {
        let words = ["send", "--wait", "--timeout", "60s", "--expires-in", "2s", "--interface-type", "wifi", "-d", "x"]
        let answer = try self.tool.run(words + [QueueTool.origin + "/ok"])
        #expect(answer.status == 1)
        #expect(answer.errors.contains("it expired"), "\(answer.errors)")
        let held = try self.tool.run(words + ["--key", "lane", QueueTool.origin + "/ok"])
        #expect(held.status == 1)
        #expect(held.errors.contains("held"), "\(held.errors)")
    }

    @Test func aSignalLeavesTheRequestInTheQueueWithAWord() throws {
        let waiting = try self.tool.start("send", "--wait", "--interface-type", "wifi", "-d", "x", QueueTool.origin)
        let deadline = ContinuousClock.now + .seconds(60)
        var left: [JSONValue] = []
        while left.first?["waiting"]?["code"]?.string != "ownSender" {
            left = try self.tool.run("queue", "--json").documents
            try #require(.now < deadline, "\(left)")
        }
        #expect(try waiting.stop(signal: .terminate) == 128 + 15)
        let id = try #require(left.first?["id"]?.string)
        #expect(waiting.standardError.contains("netpath: \(id) stays in the queue"), "\(waiting.standardError)")
        #expect(try self.tool.run("queue", "--json").documents.first?["id"]?.string == id)
    }

    @Test func whoWaitsForOneRequestHearsThatItWasCancelled() throws {
        let waiting = try self.tool.start("send", "--wait", "-d", "x", "http://198.51.100.7:9/")
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.tool.run("queue", "--json").documents.first?["lastError"]?.string == nil {
            try #require(.now < deadline)
        }
        #expect(try self.tool.run("queue", "cancel", "--all").status == 0)
        #expect(try waiting.waitForEnd() == 1)
        #expect(waiting.standardError.contains("was not delivered: it was cancelled"), "\(waiting.standardError)")
    }

    /// What holds the lock of the sender, and does not do its work.
    @Test func aSenderThatStandsStillIsNamed() throws {
        let server = try self.tool.serve()
        let run = try self.tool.start("queue", "run", "--json")
        try self.tool.send("-d", "before")
        try run.next { $0["event"] == "drained" }
        #expect(try server.bodies(1) == ["before"])
        run.sendSignal(.suspend)
        let url = QueueTool.origin + "/ok"
        let expired = try self.tool.run("send", "--wait", "--expires-in", "1s", "-d", "x", url)
        #expect(expired.status == 1)
        #expect(
            expired.errors.contains("has expired") && expired.errors.contains("does not answer"),
            "\(expired.errors)"
        )
        let late = try self.tool.run("send", "--wait", "--timeout", "1s", "-d", "y", url)
        #expect(late.status == 3)
        for result in [expired, late] {
            #expect(result.errors.contains("process \(run.processIdentifier) ("), "\(result.errors)")
        }
        run.sendSignal(.resume)
        try run.next { $0["event"] == "succeeded" }
        #expect(try run.stop() == 0)
    }

    @Test func aResponseThatCannotBeWrittenIsKept() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let words = ["send", "--wait", "-d", "mine", QueueTool.origin + "/echo", "--queue", self.tool.file]
        let command = try QueueTool.quoted([QueueTool.program] + words)
        let output = try self.tool.lab.run("\(command) 2>&1 >/dev/full; echo $?")
        #expect(output.contains("cannot write to standard output: No space left on device"), "\(output)")
        #expect(output.contains("was delivered, and its response is kept") && output.hasSuffix("\n70\n"), "\(output)")
        #expect(try self.tool.run("queue", "responses", "--json").documents.count == 1)
    }

    @Test func whoWaitsForOneRequestTriesAgain() throws {
        let server = try self.tool.serve()
        let answer = try self.tool.run(
            "send",
            "--wait",
            "--timeout",
            "30s",
            "-d",
            "mine",
            QueueTool.origin + "/fail-then-ok?times=2&id=a"
        )
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.output == "ok\n")
        #expect(try server.bodies(3) == ["mine", "mine", "mine"])
    }
}
