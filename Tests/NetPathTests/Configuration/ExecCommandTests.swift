// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathSystem
import NetPathTestKit
import Testing

/// What `netpath config check` finds out of a command without running it.
struct ExecCommandTests {
    private func warnings(_ command: String) throws -> [String] {
        let text = "backends:\n  - type: netlink\n  - {type: exec, command: [\(command)], user: root}\n"
        let source = ConfigurationSource(name: "test", text: text)
        return try LoadedConfiguration.parse(source).warnings.map(\.description)
    }

    @Test(arguments: [
        ("/usr/bin/there-is-no-such-plugin", "check the path"), ("/etc/passwd", "chmod +x it"),
        ("/usr/bin", "program"), ("/bin/sh/door", "door"),
    ])
    func whatCannotRunIsToldWithItsPlace(_ command: String, advice: String) throws {
        let found = try self.warnings(command)
        #expect(found.count == 1 && found[0].contains("cannot be run now: ") && found[0].contains(advice), "\(found)")
        #expect(found[0].hasPrefix("test:3:"), "\(found)")
    }

    @Test(arguments: ["backends: [{type: exec, command: [/bin/true], ", "hooks: [{name: a, command: [/bin/true], "])
    func aUserWhomNobodyKnowsIsTold(_ entry: String) throws {
        let found = { (user: String) in
            let source = ConfigurationSource(name: "test", text: "\(entry)user: \(user)}]\n")
            return try LoadedConfiguration.parse(source).warnings.map(\.description)
        }
        #expect(try found("root").isEmpty)
        let unknown = try found("no-such-user")
        #expect(unknown.count == 1 && unknown[0].contains("user' names no user of this machine"), "\(unknown)")
    }

    @Test func whatCanRunIsNot() throws {
        #expect(try self.warnings("/bin/sh, -c, true").isEmpty)
    }

    /// The kernel executes neither.
    @Test(arguments: ["", "echo hello\n"]) func aTextWithoutAnInterpreterIsNoProgram(_ text: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("door", text)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory["door"])
        let obstacle = LaunchPlan.obstacle(to: [directory["door"]], isPrivileged: false)
        #expect(obstacle?.description.contains("needs a first line such as #!/bin/sh") == true)
        try directory.write("script", "#!/bin/sh\n" + text)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory["script"])
        #expect(LaunchPlan.obstacle(to: [directory["script"]], isPrivileged: false) == nil)
    }

    /// The folder for everyone stays one.
    @Test(.enabled(if: geteuid() == 0, "only a privileged netpath refuses folders"))
    func everybodysFolderIsNotToBeChanged() throws {
        let directory = try TemporaryDirectory()
        try directory.write("door.sh", "#!/bin/sh\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory["door.sh"])
        let found = try self.warnings(directory["door.sh"])
        #expect(found.count == 1 && found[0].contains("use a folder of root's"), "\(found)")
        #expect(!found[0].contains("chmod"), "\(found)")
    }
}

/// What a backend asks for that every entry has.
struct ReservedOptionTests {
    private struct Idle: PathMonitor {
        func run(_ context: MonitorContext) async throws {}
    }

    @Test(arguments: ["mode", "name", "type"])
    func areRefused(_ key: String) {
        var registry = BackendRegistry()
        registry.register("mine", summary: "mine") { section in
            _ = section.string(key)
            return Idle()
        }
        let source = ConfigurationSource(name: "test", text: "backends: [{type: mine, mode: active, name: x}]\n")
        let error = #expect(throws: ConfigurationError.self) {
            try LoadedConfiguration.parse(source, registry: registry)
        }
        #expect(String(describing: error).contains("give this one another name"), "\(String(describing: error))")
    }

    @Test func nestedOnesAreNot() throws {
        var registry = BackendRegistry()
        registry.register("mine", summary: "mine") { section in
            _ = section.nested("header").string("name")
            return Idle()
        }
        let source = ConfigurationSource(name: "test", text: "backends: [{type: mine, header: {name: x}}]\n")
        #expect(try LoadedConfiguration.parse(source, registry: registry).backends.count == 1)
    }
}
