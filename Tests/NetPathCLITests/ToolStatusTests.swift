// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct ToolStatusTests {
    /// What a command line wrote, and its exit status.
    private struct Outcome {
        var status: ToolStatus
        var output: String
        var messages: String
    }

    private final class Transcript: Sendable {
        let output = Mutex("")
        let messages = Mutex("")
    }

    private func context(_ transcript: Transcript) -> ToolContext {
        ToolContext(
            registry: BackendRegistry(),
            environment: [:],
            isTerminal: false,
            columns: nil,
            write: { text in transcript.output.withLock { $0 += text } },
            message: { text in transcript.messages.withLock { $0 += text + "\n" } },
            note: { text in transcript.messages.withLock { $0 += text + "\n" } }
        )
    }

    private func run(_ arguments: String...) async -> Outcome {
        let transcript = Transcript()
        let status = NetPathTool.run(arguments, in: self.context(transcript))
        return Outcome(
            status: status,
            output: transcript.output.withLock { $0 },
            messages: transcript.messages.withLock { $0 }
        )
    }

    @Test func aToolOfAnotherName() {
        let transcript = Transcript()
        var context = self.context(transcript)
        context.name = "uplink"
        context.facts = BuildFacts(program: "uplink")
        context.offersRequests = { false }
        func output(_ words: String...) -> String {
            transcript.output.withLock { $0 = "" }
            _ = NetPathTool.run(words, in: context)
            return transcript.output.withLock { $0 }
        }
        #expect(output("--version").hasPrefix("uplink "))
        let help = output("--help")
        #expect(help.contains("USAGE: uplink "))
        #expect(!help.contains("netpath "))
        // Of no use without the program that carries them out.
        #expect(!help.contains("\n  send "))
        #expect(!help.contains("\n  queue "))
        #expect(output("completion", "bash").contains("uplink"))
        #expect(output("completion", "--help").contains("_uplink"))
        #expect(NetPathTool.run(["explain", "--config", "/nonexistent", "--bad"], in: context) == .usage)
        #expect(transcript.messages.withLock { $0 }.contains("uplink explain"))

        context.offersRequests = { true }
        #expect(output("--help").contains("\n  send "))
    }

    @Test func theTable() {
        #expect(ToolStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 64, 69, 70, 78])
        #expect(ToolStatus.allCases.allSatisfy { ToolStatus.help.contains("\n  \($0.rawValue) ") })
    }

    @Test func verdicts() {
        #expect(ToolStatus(Fixtures.snapshot(Fixtures.routed).path) == .satisfied)
        let blind = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        #expect(ToolStatus(Fixtures.snapshot(blind).path) == .unsatisfied)
        let wlan = Fixtures.interface(type: .wifi, carrier: false, gateway: nil)
        #expect(ToolStatus(Fixtures.snapshot(Fixtures.evidence([wlan], ipv4: .noRoute)).path) == .requiresConnection)
        #expect(ToolStatus(nil) == .unavailable)
    }

    @Test(
        arguments: [
            ["--bogus"], ["bogus"], ["status", "--timeout", "soon"], ["watch", "extra"], ["--color", "pink"],
            ["config", "check", "a", "b"], ["--config"], ["status", "--field", "reson"],
            ["status", "--quiet", "--field", "status"], ["watch", "--count", "0"], ["watch", "--timeout", "soon"],
            ["help", "bogus"], ["config", "bogus"], ["watch", "--retries", "3"], ["watch", "--on=any"],
        ]
    )
    func usage(_ arguments: [String]) async {
        let transcript = Transcript()
        #expect(NetPathTool.run(arguments, in: self.context(transcript)) == .usage)
        #expect(transcript.output.withLock { $0 } == "")
        #expect(transcript.messages.withLock { $0 }.contains("Usage: netpath"))
    }

    @Test func helpAndVersionAreData() async {
        let version = await self.run("--version")
        #expect(version.status == .satisfied)
        let facts = version.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(facts.first == "netpath 0.1.0")
        #expect(facts.count == 5)
        #expect(facts.dropFirst().first?.wholeMatch(of: /commit ([0-9a-f]{12}(-dirty)?|unknown)/) != nil)
        #expect(version.output.contains(/built with Swift 6\.\d.*, (debug|release)\n/))
        #expect(version.output.hasSuffix("\n"))
        let json = await self.run("--version", "--json")
        #expect(json.status == .satisfied)
        #expect(json.output.hasPrefix(#"{"schema":1,"version":"0.1.0","commit":""#))
        #expect(json.output.hasSuffix("]}\n"))
        #expect(version.output.contains(/\nlibnl 3\.\d+\.\d+, libyaml 0\.\d+\.\d+\n/))
        let help = await self.run("--help")
        #expect(help.status == .satisfied)
        #expect(help.output.contains(ToolStatus.help.split(separator: "\n").last ?? "?"))
        // ArgumentParser breaks what is longer than a line, and continues it at the margin.
        #expect(ToolStatus.help.split(separator: "\n").allSatisfy { $0.count <= 80 && help.output.contains($0 + "\n") })
        #expect(help.messages == "")
        #expect(await self.run("help", "watch").output.contains("--json"))
    }

    @Test func badConfiguration() async {
        let text = await self.run("config", "check", "/nonexistent/bad.yaml")
        #expect(text.status == .badConfiguration)
        #expect(text.output == "")
        #expect(text.messages.hasPrefix("/nonexistent/bad.yaml"))
        let json = await self.run("--json", "config", "check", "/nonexistent/bad.yaml")
        #expect(json.status == .badConfiguration)
        #expect(json.output.contains(#""ok":false,"errors":[{"file":"/nonexistent/bad.yaml""#))
        for command in ["status", "explain", "backends", "watch"] {
            #expect(await self.run(command, "--config", "/nonexistent/bad.yaml").status == .badConfiguration)
        }
    }

    /// A file of something else, an empty folder, and a recording that ends within its first line.
    @Test func whatIsNoRecording() throws {
        let folder = try TemporaryDirectory()
        try folder.write("other", "data\n")
        try folder.write("cut", #"{"at":1,"wall":2,"head"#)
        try folder.write("folder/other", "data\n")
        for path in [folder["other"], folder["cut"], folder["folder"]] {
            for words in [[], ["--json"], ["--at", "2026-11-23T03:12:00Z"]] {
                let transcript = Transcript()
                let arguments = ["history", "--recording", path] + words
                #expect(NetPathTool.run(arguments, in: self.context(transcript)) == .unavailable, "\(arguments)")
                #expect(transcript.output.withLock { $0 } == "")
                let message = "netpath: error: \(path) holds no recording of netpath\n"
                #expect(transcript.messages.withLock { $0 } == message)
            }
        }
    }

    @Test func aMomentAndATimeExcludeEachOther() async {
        for since in [["--since", "1h"], ["--since=1h"]] {
            let transcript = Transcript()
            let arguments = ["history", "--recording", "/nonexistent", "--at", "03:12"] + since
            #expect(NetPathTool.run(arguments, in: self.context(transcript)) == .usage)
            #expect(transcript.messages.withLock { $0 }.contains("use either --at or --since, not both"))
        }
    }

    @Test func aRecordingWithOneDamagedLine() async throws {
        let folder = try TemporaryDirectory()
        try folder.write("r.jsonl", "{\"at\":1,\"wall\":2}\ndata\n")
        let history = await self.run("history", "--recording", folder["r.jsonl"])
        #expect(history.status == .satisfied)
        #expect(history.messages == "netpath: 1 line of the recording cannot be read and is left out\n")
    }

    @Test func doubtfulConfiguration() throws {
        let folder = try TemporaryDirectory()
        try folder.write("f.yaml", "backends:\n  - type: modest\n    limit: 1\n")
        for isJSON in [false, true] {
            let transcript = Transcript()
            var context = self.context(transcript)
            context.registry.register("modest", summary: "") { section in
                _ = section.integer("limit", in: 1...2)
                section.warn("limit", "is little; write 2")
                return ScriptedMonitor()
            }
            let arguments = ["config", "check", folder["f.yaml"]] + (isJSON ? ["--json"] : [])
            #expect(NetPathTool.run(arguments, in: context) == .satisfied)
            let (output, messages) = (transcript.output.withLock { $0 }, transcript.messages.withLock { $0 })
            if isJSON {
                #expect(messages == "" && output.contains(#""ok":true,"errors":[],"omittedErrors":0,"warnings":[{"#))
                #expect(output.contains(#""line":3,"column":12"#))
            } else {
                #expect(output == "\(folder["f.yaml"]): ok\n")
                let warning = "f.yaml:3:12: warning: 'backends[0].limit' is little; write 2, found '1'\n    limit: 1\n"
                #expect(messages.contains(warning))
            }
        }
    }

    @Test func globalOptionsStandAnywhere() async {
        let before = await self.run("--json", "config", "default")
        let after = await self.run("config", "default", "--json")
        #expect(before.status == .satisfied)
        #expect(before.output.hasPrefix(#"{"schema":1,"text":""#))
        #expect(before.output == after.output)
        #expect(await self.run("config", "default").output != after.output)
    }

    /// ArgumentParser would exit with 1, which here means "unsatisfied".
    @Test func thrownErrors() {
        struct Failure: Error, CustomStringConvertible {
            var description: String { "it broke\u{1B}[2J" }
        }
        let transcript = Transcript()
        #expect(NetPathTool.report(Failure(), in: self.context(transcript)) == .failure)
        #expect(transcript.messages.withLock { $0 } == "netpath: error: it broke\\u{1B}[2J\n")
        #expect(NetPathTool.report(CancellationError(), in: self.context(transcript)) == .failure)
    }
}
