// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

/// Who may have a privileged netpath execute what.
@Suite(.enabled(if: geteuid() == 0, "only the configuration of a privileged netpath is restricted"))
struct ExecOriginTests {
    private static let text = "backends:\n  - type: netlink\n  - {type: exec, command: [/bin/true], mode: standby}\n"

    private func load(
        _ directory: TemporaryDirectory,
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

    @Test func aFileOfRootsMayNameAProgram() throws {
        let directory = try TemporaryDirectory()
        try directory.write("netpath.yaml", Self.text)
        let path = directory["netpath.yaml"]
        #expect(self.load(directory, path: path) == nil)
        // How it is used is for anybody to say.
        #expect(self.load(directory, path: path, overrides: ["backends.exec.mode=active"]) == nil)
        #expect(self.load(directory, path: path, environment: ["NETPATH_SET": "backends.exec.mode=off"]) == nil)
    }

    @Test(arguments: [
        "backends.exec.command=[/bin/false]", "backends.exec.command.0=/bin/false", "backends.exec.user=root",
        "backends.exec.environment=[LD_PRELOAD=/tmp/x]", "backends.2={type: exec, name: x, command: [/bin/true]}",
        "backends.netlink={type: exec, name: x, command: [/bin/true]}", "backends.exec.scope=remote",
    ])
    func valuesBesidesTheFileMayNot(override: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("netpath.yaml", Self.text)
        let path = directory["netpath.yaml"]
        #expect(self.load(directory, path: path, overrides: [override])?.contains("cannot come from --set") == true)
        let other = self.load(directory, path: path, environment: ["NETPATH_SET": override])
        #expect(other?.contains("cannot come from $NETPATH_SET") == true)
    }

    @Test func filesOfOthersMayNot() throws {
        let directory = try TemporaryDirectory()
        try directory.write("netpath/netpath.yaml", Self.text)
        let path = directory["netpath/netpath.yaml"]
        let named = self.load(directory, environment: ["NETPATH_CONFIG": path])
        #expect(named?.contains("cannot come from a file that $NETPATH_CONFIG names") == true)
        let own = self.load(directory, environment: ["XDG_CONFIG_HOME": directory.path])
        #expect(own?.contains("cannot come from the user's own configuration") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        #expect(self.load(directory, path: path)?.contains("others than root can write to") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try FileManager.default.setAttributes([.ownerAccountID: 1], ofItemAtPath: path)
        #expect(self.load(directory, path: path)?.contains("others than root can write to") == true)
    }

    @Test func aPrivilegedNetPathNeedsAnAbsolutePath() throws {
        let text = "backends: [{type: exec, command: [true]}]"
        #expect(throws: ConfigurationError.self) {
            try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        }
    }

    /// Whether a service can answer for a question: by what the path depends on, and by nothing else.
    @Test func aFingerprintIsThatOfWhatPathsDependOn() throws {
        func fingerprint(_ text: String) throws -> UInt64 {
            try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text)).fingerprint
        }
        let plain = "backends: [{type: netlink}]\n"
        let usual = try fingerprint(plain)
        for same in [
            "# a remark\n" + plain, "grace: 45s\n" + plain, plain + "logging: {level: debug}",
            plain + "record: {enabled: false}", plain + "hooks: [{name: a, command: [/bin/true]}]",
        ] {
            #expect(try fingerprint(same) == usual, "\(same)")
        }
        for other in [
            plain + "grace: 46s", plain + "merge: {policy: any}", "backends: [{type: netlink, name: a}]",
            plain + "interfaces: [{match: {name: a}, ignore: true}]", "backends: [{type: netlink}, {type: sysfs}]",
        ] {
            #expect(try fingerprint(other) != usual, "\(other)")
        }
    }

    @Test func plugInsAreLeftOutOfAnAnswer() throws {
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: Self.text))
        #expect(configuration.answering.backends.map(\.mode) == [.active, .off])
        #expect(Array(configuration.answering.leftOut.values) == [.standby] && configuration.leftOut.isEmpty)
        let alone = "backends: [{type: exec, command: [/bin/true]}, {type: tcpProbe, targets: [\"a:1\"]}]"
        let only = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: alone))
        #expect(only.answering.backends.map(\.mode) == [.active, .active])
        let required = try LoadedConfiguration.parse(
            ConfigurationSource(name: "t", text: Self.text + "merge: {probes: required}")
        )
        #expect(required.answering.backends.map(\.mode) == [.active, .standby])
    }
}
