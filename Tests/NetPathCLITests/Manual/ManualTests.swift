// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization
import Testing

@testable import NetPathCLI

/// The committed manual page is the one that the commands make; with NETPATH_UPDATE_MANUAL (`make man`) it becomes it.
@Suite struct ManualTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL
    private static let committed = root.appending(path: "Documentation/netpath.1")

    private static func tool() throws -> CommandDescription {
        let output = Mutex("")
        var context = ToolContext()
        context.offersRequests = { true }
        context.write = { text in output.withLock { $0 += text } }
        try #require(NetPathTool.run(["--experimental-dump-help"], in: context) == .satisfied)
        let data = Data(output.withLock { $0 }.utf8)
        return try JSONDecoder().decode(CommandDescription.Tool.self, from: data).command
    }

    @Test func theCommittedPageIsUpToDate() throws {
        let page = ManualPage.text(try Self.tool())
        if ProcessInfo.processInfo.environment["NETPATH_UPDATE_MANUAL"] != nil {
            try page.write(to: Self.committed, atomically: true, encoding: .utf8)
        }
        let isUpToDate = try page == String(contentsOf: Self.committed, encoding: .utf8)
        #expect(isUpToDate, "Documentation/netpath.1 does not describe the commands as they are now; run `make man`")
    }

    @Test func everyCommandOptionAndStatusIsNamed() throws {
        let tool = try Self.tool()
        let page = try String(contentsOf: Self.committed, encoding: .utf8)
        for command in tool.all where command.shouldDisplay && command.commandName != "help" {
            #expect(page.contains(ManualPage.escaped(command.words)), "\(command.words)")
            for argument in command.ownArguments + command.commonArguments {
                for name in argument.spellings {
                    #expect(page.contains("\\fB\(ManualPage.escaped(name))\\fR"), "\(command.words) \(name)")
                }
            }
        }
        for status in ToolStatus.allCases { #expect(page.contains(".B \(status.rawValue)\n"), "\(status)") }
    }

    /// Every variable that a source file looks up has its entry.
    @Test func everyVariableIsNamed() throws {
        let documented = ManualText.environment.map(\.0)
        var found: Set<String> = []
        for folder in ["Sources/NetPathCLI", "Sources/NetPathConfiguration"] {
            let files = FileManager.default.enumerator(
                at: Self.root.appending(path: folder),
                includingPropertiesForKeys: nil
            )
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                found.formUnion(text.matches(of: /(?:environment\[|first\()"([A-Z_]+)"/).map { String($0.1) })
            }
        }
        #expect(found == Set(documented))
    }

    /// groff, as man runs it, has nothing to say about the page.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")
                || ProcessInfo.processInfo.environment["NETPATH_CI"] != nil,
            "groff is not installed"
        )
    )
    func groffHasNoComplaint() throws {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/groff")
        process.arguments = ["-man", "-Tutf8", "-ww", "-b", Self.committed.path]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(complaints == "")
        #expect(text.contains("requiresConnection:"))
    }

    @Test(
        arguments: [
            ("--a-b", #"\-\-a\-b"#), (".x", #"\&.x"#), ("'x'", #"\(aqx\(aq"#), (#"a\b"#, #"a\eb"#), ("~", #"\(ti"#),
        ]
    )
    func escapes(_ text: String, _ expected: String) {
        #expect(ManualPage.escaped(text) == expected)
    }
}
