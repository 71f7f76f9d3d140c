// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathCLI

/// How `netpath` finds the program that its commands about requests belong to.
@Suite struct CompanionProgramTests {
    @Test func isLookedForBesideTheProgramThenInItsHelpersThenInThePath() {
        let program = CompanionProgram("helper", executable: "/opt/x/bin/netpath", searchPath: "/usr/bin:.::bin:/bin")
        #expect(
            program.places == [
                "/opt/x/bin/helper", "/opt/x/bin/../libexec/netpath/helper", "/usr/bin/helper", "/bin/helper",
            ]
        )
        #expect(CompanionProgram("helper", executable: nil, searchPath: nil).places == [])
    }

    @Test func thisProgramIsKnown() throws {
        let path = try #require(CompanionProgram.runningProgram)
        #expect(path.hasPrefix("/"))
    }

    @Test func whatCannotBeExecutedIsPassedOver() throws {
        let folder = try TemporaryDirectory()
        try folder.write("helper", "not executable")
        let program = CompanionProgram("helper", executable: folder["netpath"], searchPath: "/proc/self/nothing")
        try program.execute(as: "netpath", ["send"])
    }

    /// The words reach the other program as they are; without it the message names it, and what to do.
    @Test func commandsAboutRequestsAreHandedOver() throws {
        let seen = Mutex<[String]>([])
        var context = ToolContext()
        context.requests = { command in
            seen.withLock { $0 = ToolContext.current.arguments + [String(describing: type(of: command))] }
            return .timedOut
        }
        let words = ["send", "-d", "@file", "--key", "a", "http://203.0.113.1/"]
        #expect(NetPathTool.run(words, in: context) == .timedOut)
        #expect(seen.withLock { $0 } == words + ["SendCommand"])
        #expect(NetPathTool.run(["queue"], in: context) == .timedOut)
        #expect(seen.withLock { $0 } == ["queue", "List"])
        #expect(NetPathTool.run(["--json", "queue", "dead"], in: context) == .timedOut)

        let messages = Mutex("")
        context.message = { text in messages.withLock { $0 += text } }
        context.requests = { _ in throw ToolFailure(.failure, "there is no such program") }
        #expect(NetPathTool.run(["queue", "stats"], in: context) == .failure)
        #expect(messages.withLock { $0 } == "netpath: error: there is no such program")
    }

    @Test(
        arguments: [
            ["send"], ["send", "-H", "nothing", "http://203.0.113.1/"],
            ["send", "--timeout", "1s", "http://203.0.113.1/"],
            ["send", "--if-exists", "keep", "http://203.0.113.1/"],
            ["send", "--on-failure", "skip", "http://203.0.113.1/"],
            ["send", "--idempotency-key", "a", "--no-idempotency-key", "http://203.0.113.1/"],
            ["send", "--max-retries", "-1", "http://203.0.113.1/"],
            ["send", "--expires-in", "soon", "http://203.0.113.1/"],
            ["send", "--expect-header", ":", "http://203.0.113.1/"],
            // What the runtime makes of an argument that is not UTF-8.
            ["send", "-d", "\u{FFFD}", "http://203.0.113.1/"], ["queue", "cancel", "--key", "\u{FFFD}"],
            ["queue", "reset"], ["queue", "cancel"], ["queue", "cancel", "--all", "--key", "a"],
            ["queue", "retry", "--all", "x"], ["queue", "list", "--limit", "0"], ["queue", "run", "--timeout", "1s"],
            ["queue", "nothing"],
        ]
    )
    func wrongUsageStartsNothing(_ words: [String]) {
        var context = ToolContext()
        context.message = { _ in }
        context.requests = { _ in
            Issue.record("it was carried out")
            return .failure
        }
        #expect(NetPathTool.run(words, in: context) == .usage)
    }

    @Test(
        arguments: [
            ("A: b", "A", "b"), ("A:b", "A", "b"), ("A:", "A", ""), ("A:  b: c ", "A", "b: c"),
            ("A: b\r\nC: d", "A", "b\r\nC: d"),
        ]
    )
    func headersAreSplit(_ text: String, _ name: String, _ value: String) throws {
        let field = try #require(SendCommand.field(text))
        #expect(field.name == name)
        #expect(field.value == value)
    }

    @Test(arguments: ["", "A", ": b"])
    func whatIsNoHeaderIsNone(_ text: String) {
        #expect(SendCommand.field(text) == nil)
    }
}
