// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import NetPathCLI

@Suite struct CompletionTests {
    private static func program(_ name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(filePath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs a shell on a file.
    ///
    /// - Returns: What it wrote, to both of its outputs, and its exit status.
    private static func run(_ program: URL, _ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }

    @Test(arguments: CompletionCommand.Shell.allCases)
    func namesWhatThereIs(_ shell: CompletionCommand.Shell) {
        let script = shell.script
        for word in ["explain", "changes-only", "quiet", "supportsIPv6", "always", "zsh"] {
            #expect(script.contains(word), "\(shell) does not complete \(word)")
        }
    }

    /// Whether a shell is there, or has to be: in CI a missing one is a failure, not a skip.
    private static func canTest(_ shell: CompletionCommand.Shell) -> Bool {
        Self.program(shell.rawValue) != nil || ProcessInfo.processInfo.environment["NETPATH_CI"] != nil
    }

    @Test func bashReadsItsScript() throws {
        try self.expectNoComplaint(.bash)
    }

    @Test(.enabled(if: Self.canTest(.zsh), "zsh is not installed"))
    func zshReadsItsScript() throws {
        try self.expectNoComplaint(.zsh)
    }

    @Test(.enabled(if: Self.canTest(.fish), "fish is not installed"))
    func fishReadsItsScript() throws {
        try self.expectNoComplaint(.fish)
    }

    private func expectNoComplaint(_ shell: CompletionCommand.Shell) throws {
        let program = try #require(Self.program(shell.rawValue))
        let file = FileManager.default.temporaryDirectory.appending(path: "netpath-\(UUID().uuidString)")
        try shell.script.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let check = try Self.run(program, ["-n", file.path])
        #expect(check.status == 0 && check.output == "", "\(check.output)")
    }

    /// What bash offers after the words of a command line that is not finished.
    @Test(
        arguments: [
            ("netpath ", "explain"), ("netpath watch --ch", "--changes-only"),
            ("netpath status --field supportsIPv", "supportsIPv6"),
            ("netpath completion ", "fish"), ("netpath send --interface-type ", "cellular"),
            ("netpath queue dead ", "requeue"), ("netpath queue run --un", "--until-empty"),
        ]
    )
    func bashCompletes(_ line: String, _ expected: String) throws {
        let bash = try #require(Self.program("bash"), "bash is not installed")
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            \(CompletionCommand.Shell.bash.script)
            function_name=$(complete -p netpath | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
            COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count - 1) COMP_LINE='\(line)' COMP_POINT=\(line.count)
            "$function_name" netpath '\(words.last ?? "")' '\(words.dropLast().last ?? "")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try Self.run(bash, ["--norc", "-c", script])
        let offers = result.output.split(separator: "\n").map { $0.trimmingPrefix(" ").description }
        #expect(offers.contains { $0.hasPrefix(expected) }, "\(result.output)")
    }
}
