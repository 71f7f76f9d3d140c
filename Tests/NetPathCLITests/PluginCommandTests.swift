// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import Foundation
import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathCLI

/// `netpath plugin`, as far as `netpath` itself carries it out.
@Suite struct PluginCommandTests {
    /// Runs a command; what it wrote, to either stream.
    private func run(_ words: [String], prepare: (inout ToolContext) -> Void = { _ in }) -> (ToolStatus, String) {
        let output = Mutex("")
        var context = ToolContext()
        context.write = { text in output.withLock { $0 += text } }
        context.message = { text in output.withLock { $0 += text } }
        prepare(&context)
        let status = NetPathTool.run(["plugin"] + words, in: context)
        return (status, output.withLock(\.self))
    }

    @Test func namesBecomeTypesAndModules() throws {
        let name = try #require(PluginName("modem-watch2"))
        #expect((name.type, name.module) == ("modemWatch2", "ModemWatch2"))
        for wrong in ["", "2modems", "modem_watch", "modem--watch", "-modem", "modem/watch", "módem", "modem watch"] {
            #expect(PluginName(wrong) == nil, "\(wrong)")
            #expect(self.run(["new", "--netpath", "/", "--", wrong]).0 == .usage)
        }
    }

    /// What cannot work is refused before anything is written.
    @Test(arguments: [
        ("net-path", "module NetPath is netpath's own"), ("netpath-door", "module NetpathDoor is netpath's own"),
        ("netlink", "is an existing backend (type netlink)"), ("tcp-probe", "is an existing backend"),
        ("swift", "module Swift is Swift's own"), ("testing", "module Testing is Swift's own"),
        ("plugin", "module PluginCommand is netpath's own"), ("foundation", "module Foundation is Swift's own"),
    ])
    func namesThatCannotWorkAreRefused(_ name: String, reason: String) {
        var registry = BackendRegistry()
        for type in ["netlink", "tcpProbe"] {
            registry.register(type, summary: "") { _ in ScriptedMonitor(.noLink) }
        }
        let (status, text) = self.run(["new", name, "--netpath", "/nowhere"]) { [registry] in $0.registry = registry }
        #expect(status == .usage && text.contains(reason) && text.contains("choose another name"), "\(text)")
    }

    @Test func programsMayBeCalledAsModulesAre() throws {
        let name = try #require(PluginName("testing"))
        #expect(name.obstacle(to: .python, types: ["netlink"]) == nil)
        #expect(try #require(PluginName("netlink")).obstacle(to: .shell, types: ["netlink"]) != nil)
        #expect(try #require(PluginName("door-watch")).obstacle(to: .swift, types: ["netlink"]) == nil)
    }

    @Test(arguments: NewPluginCommand.Language.allCases)
    func filesAreWrittenOnce(_ language: NewPluginCommand.Language) throws {
        let folder = try TemporaryDirectory()
        // The name is the folder's, and a folder may be anywhere: what is written is relative to where one is.
        let files =
            switch language {
            case .swift:
                PluginTemplate.swift(try #require(PluginName("door")), dependency: (line: "", identity: ""))
            case .python: PluginTemplate.python(try #require(PluginName("door")))
            case .shell: PluginTemplate.shell(try #require(PluginName("door")))
            }
        try NewFolder.write(files, to: folder["door"])
        for file in files {
            let path = "\(folder["door"])/\(file.path)"
            #expect(try String(contentsOfFile: path, encoding: .utf8) == file.text)
            #expect(FileManager.default.isExecutableFile(atPath: path) == file.isProgram, "\(file.path)")
            #expect(!file.text.contains("BuildFacts") && file.text.hasSuffix("\n"), "\(file.path)")
        }
        #expect(throws: (any Error).self) { try NewFolder.write(files, to: folder["door"]) }
    }

    @Test func aPackageHasToKnowWhereNetpathIs() {
        let (status, text) = self.run(["new", "door", "--language", "swift"])
        #expect(status == .usage && text.contains("--netpath FOLDER-OR-ADDRESS"), "\(text)")
        let useless = self.run(["new", "door", "--language", "shell", "--netpath", "/"])
        #expect(useless.0 == .usage && useless.1.contains("--netpath is for a backend in Swift"), "\(useless.1)")
    }

    @Test func theLanguageIsThatWhichNeedsNothing() throws {
        #expect(try NewPluginCommand.parse(["door"]).chosen == .python)
        #expect(try NewPluginCommand.parse(["door", "--netpath", "/"]).chosen == .swift)
    }

    /// A program runs in `/`: what a person names in the working folder is found all the same.
    @Test func filesOfTheWorkingFolderAreNamedAbsolutely() throws {
        let here = try FileAccess.absolute(".")
        let folder = try TemporaryDirectory()
        try "".write(toFile: folder["door.py"], atomically: true, encoding: .utf8)
        let steps = here.split(separator: "/").map { _ in ".." } + [String(folder["door.py"].dropFirst())]
        let path = steps.joined(separator: "/")
        let command = try CheckPluginCommand.parse(["--", "/usr/bin/python3", path, "eth0", "--file=\(path)"])
        #expect(try command.absoluteCommand == ["/usr/bin/python3", "\(here)/\(path)", "eth0", "--file=\(path)"])
    }

    @Test func checksAreHandedOver() {
        let seen = Mutex<[String]>([])
        let (status, _) = self.run(["check", "--cycles", "5", "--", "/bin/door", "--fast"]) { context in
            context.plugins = { command in
                seen.withLock { $0 = command.command + [String(describing: type(of: command))] }
                return .unsatisfied
            }
        }
        #expect(status == .unsatisfied)
        #expect(seen.withLock(\.self) == ["/bin/door", "--fast", "CheckPluginCommand"])
        for command in ["check", "compare"] {
            let (status, text) = self.run([command])
            #expect(status == .usage && text.contains("name the backend's program after '--'"), "\(text)")
        }
    }
}
