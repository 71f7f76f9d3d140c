// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// The tutorial shows what `netpath plugin new` writes, which is built and run elsewhere, and five lines that run here.
@Suite struct WritingABackendTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/NetPath/NetPath.docc/WritingABackend.md")

    /// The blocks of a language, each without indentation.
    private static func blocks(_ language: String) throws -> [[String]] {
        var blocks: [[String]] = []
        var lines = try String(contentsOf: self.page, encoding: .utf8).components(separatedBy: "\n")[...]
        while let start = lines.firstIndex(of: "```\(language)") {
            let block = Array(lines[(start + 1)...].prefix { $0 != "```" })
            lines = lines[(start + 1 + block.count)...]
            blocks.append(block)
        }
        return blocks
    }

    private static func trimmed(_ lines: [String]) -> [String] {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(arguments: [("swift", 5), ("python", 1)])
    func everyFormIsWrittenByTheCommand(_ language: String, count: Int) throws {
        let name = try #require(PluginName("door-watch"))
        let files =
            PluginTemplate.swift(name, dependency: (line: "", identity: "")) + PluginTemplate.python(name)
            + PluginTemplate.shell(name)
        let texts = files.map { Self.trimmed($0.text.components(separatedBy: "\n")) }
        let blocks = try Self.blocks(language)
        #expect(blocks.count == count)
        for block in blocks {
            #expect(texts.contains { $0.contains(Self.trimmed(block)) }, "\(block.joined(separator: "\n"))")
        }
    }

    /// Starts a program, writes to it, and returns its first lines.
    private func lines(_ path: String, _ arguments: [String] = [], input: String, count: Int) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let (standardInput, output) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        try process.run()
        defer { process.terminate() }
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        var text = ""
        while text.filter({ $0 == "\n" }).count < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return Array(text.components(separatedBy: "\n").prefix(count))
    }

    @Test func fiveLinesSpeakTheProtocol() throws {
        let script = try #require(try Self.blocks("shell").first)
        #expect(script.count == 5)
        let folder = try TemporaryDirectory()
        let flag = folder["up"]
        let text = script.joined(separator: "\n").replacing("/run/uplink-is-up", with: flag)
        try NewFolder.write([NewFolder.File(path: "door.sh", text: text + "\n", isProgram: true)], to: folder["five"])
        let said = try self.lines("\(folder["five"])/door.sh", input: "", count: 3)
        let no = #"{"conclusion":{"status":"unsatisfied"}}"#
        #expect(said == [#"{"netpath":1,"name":"door","heartbeat":5}"#, no, no])
        try folder.write("up", "")
        #expect(
            try self.lines("\(folder["five"])/door.sh", input: "", count: 2).last?.contains("\"satisfied\"") == true
        )
    }

    @Test(arguments: ["py", "sh"])
    func programsAnswerRequests(_ language: String) throws {
        let name = try #require(PluginName("door"))
        let folder = try TemporaryDirectory()
        let files = language == "py" ? PluginTemplate.python(name) : PluginTemplate.shell(name)
        try NewFolder.write(files, to: folder["door"])
        let said = try self.lines(
            "\(folder["door"])/door.\(language)",
            [folder["up"]],
            input: "{\"request\":\"refresh\"}\n",
            count: 3
        )
        #expect(said.count == 3 && said[1] == said[2] && said[1].contains("unsatisfied"), "\(said)")
    }

    /// A file behind a file cannot be seen, which is not that it is missing.
    @Test(arguments: ["py", "sh"])
    func programsTellMissingFromUnknown(_ language: String) throws {
        let name = try #require(PluginName("door"))
        let folder = try TemporaryDirectory()
        let files = language == "py" ? PluginTemplate.python(name) : PluginTemplate.shell(name)
        try NewFolder.write(files, to: folder["door"])
        let said = try self.lines("\(folder["door"])/door.\(language)", ["/dev/null/up"], input: "", count: 2)
        #expect(said.last?.contains("\"unavailable\":") == true, "\(said)")
    }

    /// As the tutorial has it: the script of five lines, by its relative path, and without leaving a rule out.
    @Test func fiveLinesConform() throws {
        // Where netpath is privileged it runs nothing out of a folder that others can write.
        let folder = try TemporaryDirectory(in: geteuid() == 0 ? "/var/lib" : nil)
        let text = try #require(try Self.blocks("shell").first).joined(separator: "\n")
        let script = text.replacing("/run/uplink-is-up", with: folder["up"])
        try NewFolder.write([NewFolder.File(path: "door.sh", text: script + "\n", isProgram: true)], to: folder["five"])
        let process = Process()
        process.executableURL = URL(filePath: try MonitorProcess.builtProduct("netpath-plugin"))
        let options = ["--json", "--cycles", "5", "--patience-factor", "20"]
        process.arguments = ["plugin", "check"] + options + ["--", "./door.sh"]
        process.currentDirectoryURL = URL(filePath: folder["five"])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let written = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(written)")
        let report = try JSONValue(json: written)
        #expect(report["conforms"]?.bool == true)
        let findings = report["findings"]?.elements ?? []
        let refresh = findings.first { $0["rule"]?.string == "refresh" }
        #expect(refresh?["outcome"]?.string == "unchecked" && findings.count == 15, "\(written)")
    }

    /// The same programs where netpath runs them.
    @Test(
        .enabled(if: BackendRegistry.builtIn.registration(for: "exec") != nil, "this netpath has no type exec"),
        arguments: ["py", "sh"]
    )
    func programsConform(_ language: String) async throws {
        let name = try #require(PluginName("door"))
        // Where netpath is privileged it runs nothing out of a folder that others can write.
        let folder = try TemporaryDirectory(in: geteuid() == 0 ? "/var/lib" : nil)
        let files = language == "py" ? PluginTemplate.python(name) : PluginTemplate.shell(name)
        try NewFolder.write(files, to: folder["door"])
        let text = "backends: [{type: exec, command: [\(folder["door"])/door.\(language), \(folder["up"])]}]"
        var limits = BackendConformance.Limits().extended(by: 30)
        // What the suites beside this one open is less than a leak then.
        limits.cycles = 200
        let suite = BackendConformance("door", limits: limits) {
            let source = ConfigurationSource(name: "test", text: text)
            return try #require(try LoadedConfiguration.parse(source).backends.first).monitor
        }
        let report = await suite.check()
        #expect(report.isConforming, "\(report)")
    }
}
