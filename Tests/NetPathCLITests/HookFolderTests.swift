// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// The folder whose programs are hooks.
@Suite struct HookFolderTests {
    private func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// A folder with a program of each name.
    private func folder(in parent: String? = nil, _ names: String...) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory(in: parent)
        for name in names {
            try folder.write(name, "#!/bin/sh\n")
            try self.setMode(0o755, folder[name])
        }
        return folder
    }

    @Test func itsProgramsAreThoseOfRunParts() throws {
        let folder = try self.folder("20-b", "10_a", "Z", "backup~", "a.dpkg-old", ".hidden", "plain")
        try self.setMode(0o644, folder["plain"])
        try folder.makeDirectory("folder")
        try folder.link("link", to: "Z")
        try folder.link("dangling", to: "nowhere")
        let programs = try ProgramFolder(folder.path, isPrivileged: false)
        #expect(programs.programs == ["10_a", "20-b", "Z", "link"].map { folder[$0] })
        #expect(programs.remarks.count == 5)
        #expect(programs.remarks.contains { $0.contains("/plain' is skipped: it is not executable") })
        #expect(programs.remarks.contains { $0.contains("/backup~' is skipped: its name has more") })
        #expect(programs.remarks.contains { $0.contains("/dangling' is skipped: it is not a regular file") })
    }

    /// NetworkManager's scripts, whose names may have full stops.
    @Test func dispatcherScripts() throws {
        let names = ("20-b.sh", "10-a", "c.dpkg-old", "d.rpmsave", "e~")
        let parent = geteuid() == 0 ? "/run" : nil
        let folder = try self.folder(in: parent, names.0, names.1, names.2, names.3, names.4)
        try folder.makeDirectory("pre-up.d")
        var remarks = 0
        let hooks = HookFolder.hooks(in: folder.path, isDispatcher: true) { _, _ in remarks += 1 }
        #expect(hooks.map(\.name) == ["dispatcher.d/10-a", "dispatcher.d/20-b.sh"])
        #expect(hooks.allSatisfy { $0.trigger == .dispatcher && $0.timeout == .seconds(600) })
        #expect(remarks == 4)
    }

    @Test func whatIsNoFolderStopsNobody() throws {
        let folder = try self.folder("file")
        for path in [folder["nothing"], folder["file"]] {
            var messages: [String] = []
            #expect(HookFolder.hooks(in: path) { messages.append("\($0.rawValue): \($1)") } == [])
            #expect(messages.count == 1)
            #expect(messages.first?.hasPrefix("error: no hook of '\(path)' is run: ") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "files of root's can only be made by root"))
    func aPrivilegedNetPathTakesNoFolderThatOthersCanWriteTo() throws {
        let folder = try self.folder(in: "/run", "hook")
        #expect(try ProgramFolder(folder.path, isPrivileged: true).programs == [folder["hook"]])
        try self.setMode(0o777, folder.path)
        let error = #expect(throws: LaunchError.self) { try ProgramFolder(folder.path, isPrivileged: true) }
        #expect(error?.description.contains("others than root can write to") == true)
        // Nor one that a folder above it lets others replace.
        let shared = try self.folder("hook")
        #expect(throws: LaunchError.self) { try ProgramFolder(shared.path, isPrivileged: true) }
    }

    @Test func theConfigurationNamesTheFolder() throws {
        let folder = try self.folder(in: geteuid() == 0 ? "/run" : nil, "first", "second")
        let text = "hooks: [{name: own, command: [/bin/true]}]\nhooksFolder: \(folder.path)\n"
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        let hooks = configuration.allHooks { Issue.record("\($0): \($1)") }
        #expect(hooks.map(\.name) == ["own", "hooks.d/first", "hooks.d/second"])
        #expect(hooks.last?.command == [folder["second"]])
        let without = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: "grace: 1s"))
        #expect(without.allHooks(usualFolder: folder["nothing"]) { Issue.record("\($0): \($1)") } == [])
        #expect(without.allHooks(usualFolder: folder.path) { _, _ in }.count == 2)
    }
}
