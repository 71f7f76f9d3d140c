// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

/// The keys `hooks` and `hooksFolder`.
@Suite struct HookTests {
    private static let backends = "backends: [{type: netlink}]\n"

    private func read(_ text: String) throws -> LoadedConfiguration {
        try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: Self.backends + text))
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try self.read(
            """
            hooks:
              - name: vpn
                on: interface
                for: 5s
                command: [/usr/local/bin/on-change, --verbose]
                timeout: 1m
                retries: 3
                user: nobody
              - {name: plain, command: [/bin/true]}
            hooksFolder: /etc/netpath/hooks.d
            """
        )
        var hook = Hook(name: "vpn", command: ["/usr/local/bin/on-change", "--verbose"])
        hook.trigger = .interface
        hook.holdTime = .seconds(5)
        hook.timeout = .seconds(60)
        hook.retries = 3
        hook.user = "nobody"
        #expect(configuration.hooks == [hook, Hook(name: "plain", command: ["/bin/true"])])
        #expect(configuration.hooksFolder == "/etc/netpath/hooks.d")
        let plain = configuration.hooks[1]
        #expect((plain.trigger, plain.holdTime, plain.timeout, plain.retries) == (.status, .zero, .seconds(30), 0))
        // As `config show` has it, which reads back as the same.
        #expect(configuration.effective.text.contains("for: 5s "))
        let again = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: configuration.effective.text))
        #expect(again.hooks == configuration.hooks)
    }

    @Test(arguments: [
        ("hooks: [{name: a, command: [/bin/true], on: path}]", "t:2:45: error: 'hooks[0].on' must be one of"),
        ("hooks: [{name: a, comand: [/bin/true]}]", "t:2:19: error: unknown key 'comand' in 'hooks[0]'"),
        ("hooks: [{name: a b, command: [/bin/true]}]", "t:2:16: error: 'hooks[0].name' must be made of letters"),
        ("hooks: [{name: a, command: [x/y]}]", "t:2:29: error: 'hooks[0].command[0]' must be an absolute path"),
        ("hooks: [{name: a, command: [/b]}, {name: a, command: [/b]}]", "names a second hook 'a'"),
        ("hooks: [{name: a, command: [/b], for: soon}]", "'hooks[0].for' must be a duration"),
        ("hooks: [{name: a, command: [/b], timeout: 0}]", "'hooks[0].timeout' must be a duration from 100ms to 24h"),
        ("hooks: [{name: a, command: [/b], retries: 101}]", "'hooks[0].retries'"),
        ("hooks: {a: b}", "t:2:8: error: 'hooks' must be a list of mappings"),
        ("hooksFolder: hooks.d", "t:2:14: error: 'hooksFolder' must be the absolute path of a folder"),
    ])
    func whatIsWrongIsNamedWithItsPlace(text: String, complaint: String) {
        let error = #expect(throws: ConfigurationError.self) { try self.read(text) }
        let complaints = error?.diagnostics.map(\.description) ?? []
        #expect(complaints.contains { $0.contains(complaint) }, "\(complaints)")
    }

    /// As a command that is not there.
    @Test(arguments: ["hooksFolder", "dispatcherFolder"])
    func aFolderThatIsNotThereIsAWarning(key: String) throws {
        let warnings = try self.read("\(key): /etc/nope/hooks.d").warnings.map(\.description)
        #expect(warnings.count == 1)
        let warning = "'\(key)' cannot be used now: cannot "
        #expect(warnings.first?.contains(warning) == true, "\(warnings)")
        #expect(try self.read("\(key): /usr/bin").warnings.isEmpty)
    }

    @Test func aReloadTellsOfThem() throws {
        let hook = "hooks: [{name: a, command: [/bin/true]}]"
        #expect(try ConfigurationReload(from: self.read(hook), to: self.read(hook)).description == "nothing changed")
        let reload = try ConfigurationReload(from: self.read(""), to: self.read(hook))
        #expect(reload.description == "hooks changed")
        // For the backends nothing changes.
        #expect(reload.isEmpty)
        let folder = try ConfigurationReload(from: self.read(""), to: self.read("hooksFolder: /etc/hooks"))
        #expect(folder.changesHooks)
    }

    /// Who may have a privileged netpath execute what.
    @Suite(.enabled(if: geteuid() == 0, "only the configuration of a privileged netpath is restricted"))
    struct OriginTests {
        private static let text = HookTests.backends + "hooks: [{name: a, command: [/bin/true]}]\n"

        private func refusal(
            path: String? = nil,
            environment: [String: String] = [:],
            overrides: [String] = []
        ) -> String? {
            do {
                _ = try LoadedConfiguration.load(path: path, environment: environment, overrides: overrides)
                return nil
            } catch {
                return "\(error)"
            }
        }

        @Test func onlyAFileOfRootsMayNameAHook() throws {
            let directory = try TemporaryDirectory()
            try directory.write("netpath/netpath.yaml", Self.text)
            let path = directory["netpath/netpath.yaml"]
            #expect(self.refusal(path: path) == nil)
            let named = self.refusal(environment: ["NETPATH_CONFIG": path])
            #expect(named?.contains("cannot come from a file that $NETPATH_CONFIG names") == true)
            let own = self.refusal(environment: ["XDG_CONFIG_HOME": directory.path])
            #expect(own?.contains("cannot come from the user's own configuration") == true)
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
            #expect(self.refusal(path: path)?.contains("others than root can write to") == true)
        }

        @Test(arguments: [
            "hooks=[{name: b, command: [/bin/false]}]", "hooks.a.command=[/bin/false]", "hooks.a.user=root",
            "hooks.0.timeout=1h", "hooksFolder=/tmp",
        ])
        func valuesBesidesTheFileMayNot(override: String) throws {
            let directory = try TemporaryDirectory()
            try directory.write("netpath.yaml", Self.text)
            let path = directory["netpath.yaml"]
            #expect(self.refusal(path: path, overrides: [override])?.contains("cannot come from --set") == true)
            let other = self.refusal(path: path, environment: ["NETPATH_SET": override])
            #expect(other?.contains("cannot come from $NETPATH_SET") == true)
        }

        @Test func aFolderOfOthersMayNotBeNamedEither() throws {
            let directory = try TemporaryDirectory()
            try directory.write("netpath.yaml", HookTests.backends + "hooksFolder: /etc/netpath/hooks.d\n")
            let named = self.refusal(environment: ["NETPATH_CONFIG": directory["netpath.yaml"]])
            #expect(named?.contains("'hooksFolder' cannot come from") == true)
        }
    }
}
