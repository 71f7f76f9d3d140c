// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathTestKit
import Testing

@testable import NetPathExec
@testable import NetPathSystem

/// What a privileged process executes.
///
/// As root only: nobody else can make files of root's.
@Suite(.enabled(if: geteuid() == 0, "files of root's can only be made by root"))
struct TrustTests {
    /// A folder that nobody but root can write to, removed with its owner.
    private final class Folder: Sendable {
        let path: String

        init() throws {
            self.path = "/run/netpath-\(UInt64.random(in: 0 ... .max))"
            try #require(unsafe mkdir(self.path, 0o755) == 0)
        }

        deinit {
            for name in ["plugin", "link", "inner/plugin", "helper.sh"] { _ = unsafe unlink("\(self.path)/\(name)") }
            _ = unsafe rmdir("\(self.path)/inner")
            _ = unsafe rmdir(self.path)
        }

        func write(_ name: String, _ text: String, mode: mode_t = 0o755) throws {
            guard let file = unsafe fopen("\(self.path)/\(name)", "w") else { return }
            unsafe fputs(text, file)
            unsafe fclose(file)
            try #require(unsafe chmod("\(self.path)/\(name)", mode) == 0)
        }
    }

    private func refusal(_ command: [String]) -> String? {
        do throws(LaunchError) {
            _ = try ExecMonitor.Options(command: command).launchPlan(isPrivileged: true)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func whatIsRootsAloneIsExecuted() throws {
        let folder = try Folder()
        try folder.write("plugin", "#!/bin/sh\n")
        try #require(unsafe symlink("plugin", "\(folder.path)/link") == 0)
        #expect(self.refusal(["\(folder.path)/plugin"]) == nil)
        #expect(self.refusal(["\(folder.path)/link"]) == nil)
        #expect(self.refusal(["\(folder.path)/../\(folder.path.dropFirst(5))/./plugin"]) == nil)
        #expect(self.refusal(["/bin/sh", "-c", "true", "\(folder.path)/plugin"]) == nil)
    }

    @Test func aPathHasToBeAbsolute() {
        #expect(self.refusal(["sh"])?.contains("absolute path") == true)
    }

    @Test func whatOthersCanWriteToIsRefused() throws {
        let folder = try Folder()
        for mode: mode_t in [0o775, 0o757, 0o777] {
            try folder.write("plugin", "#!/bin/sh\n", mode: mode)
            #expect(self.refusal(["\(folder.path)/plugin"])?.contains("can write to") == true)
        }
    }

    @Test func whatBelongsToOthersIsRefused() throws {
        let folder = try Folder()
        try folder.write("plugin", "#!/bin/sh\n")
        try #require(unsafe chown("\(folder.path)/plugin", 1, 0) == 0)
        #expect(self.refusal(["\(folder.path)/plugin"])?.contains("belongs to another user") == true)
    }

    @Test func everyFolderOnTheWayCounts() throws {
        let folder = try Folder()
        try #require(unsafe mkdir("\(folder.path)/inner", 0o755) == 0)
        try folder.write("inner/plugin", "#!/bin/sh\n")
        #expect(self.refusal(["\(folder.path)/inner/plugin"]) == nil)
        try #require(unsafe chmod("\(folder.path)/inner", 0o777) == 0)
        #expect(self.refusal(["\(folder.path)/inner/plugin"])?.contains("/inner'") == true)
        // Also those that a symbolic link leads through.
        try #require(unsafe symlink("inner/plugin", "\(folder.path)/link") == 0)
        #expect(self.refusal(["\(folder.path)/link"])?.contains("/inner'") == true)
        // Everybody's folder, though nobody can replace what is another's there.
        let shared = self.refusal(["/tmp/\(folder.path.dropFirst(5))"])
        #expect(shared?.hasPrefix("'/tmp' is a folder in which every user may put files; use a folder") == true)
        #expect(shared?.contains("chmod") == false)
    }

    @Test func anArgumentThatIsRefusedIsNamed() throws {
        let folder = try Folder()
        try folder.write("plugin", "#!/bin/sh\n")
        let directory = try TemporaryDirectory(in: "/tmp")
        try directory.write("data", "")
        let refusal = try #require(self.refusal(["\(folder.path)/plugin", directory["data"]]))
        let beginning = "the argument '\(directory["data"])' may be a part of the program: '/tmp' is"
        #expect(refusal.hasPrefix(beginning), "\(refusal)")
    }

    @Test func whoServesTheMachine() {
        for (user, folder, isService) in [
            (0, nil, false), (1_000, nil, false), (1_000, "/run/user/1000/netpath", false), (998, nil, true),
            (65_534, nil, true), (62_000, nil, true), (1_000, "/run/netpath", true), (0, "/tmp/x", false),
        ] as [(UInt32, String?, Bool)] {
            #expect(Privileges.areOfService(folder, user: user) == isService, "\(user) \(folder ?? "-")")
        }
    }

    @Test func scriptsAmongTheArgumentsCount() throws {
        let folder = try Folder()
        try folder.write("helper.sh", "true\n", mode: 0o777)
        #expect(self.refusal(["/bin/sh", "\(folder.path)/helper.sh"])?.contains("helper.sh") == true)
        #expect(
            self.refusal(["/bin/sh", "-e", String("\(folder.path)/helper.sh".dropFirst())])?.contains("helper.sh")
                == true
        )
    }

    @Test func theInterpreterCounts() throws {
        let folder = try Folder()
        try folder.write("helper.sh", "", mode: 0o777)
        try folder.write("plugin", "#! \(folder.path)/helper.sh -x\n")
        #expect(self.refusal(["\(folder.path)/plugin"])?.contains("helper.sh") == true)
    }

    /// A script that was looked at runs, though its name leads to another one by then.
    @Test func whatWasLookedAtIsWhatRuns() throws {
        let folder = try Folder()
        try folder.write("plugin", "#!/bin/sh\nexit 7\n")
        let plan = try ExecMonitor.Options(command: ["\(folder.path)/plugin"]).launchPlan(isPrivileged: true)
        try #require(unsafe rename("\(folder.path)/plugin", "\(folder.path)/link") == 0)
        try folder.write("plugin", "#!/bin/sh\nexit 9\n")
        let process = try ChildProcess(plan)
        while process.ending == nil { usleep(1000) }
        #expect(process.ending == .exited(7))
    }

    @Test func anotherUserHasNoneOfTheRights() throws {
        var options = ExecMonitor.Options(command: [
            "/bin/sh", "-c", "test $(id -u) != 0 && test \"$(id -G)\" != 0 && exit 42",
        ])
        options.user = "nobody"
        let process = try ChildProcess(options.launchPlan(isPrivileged: true))
        while process.ending == nil { usleep(1000) }
        #expect(process.ending == .exited(42))
        options.user = "no-such-user"
        #expect(throws: LaunchError("there is no user 'no-such-user'")) {
            try options.launchPlan(isPrivileged: true)
        }
    }
}
