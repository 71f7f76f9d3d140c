// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathConfiguration

/// `--set` and $NETPATH_SET: values beside the file, and what `config show` says of all of them.
@Suite struct OverrideTests {
    private static let file = """
        backends:
          - type: netlink
            name: kernel
            receiveBuffer: 4096
          - type: netlink
            mode: "off"
        grace: 10s
        """

    private func load(_ overrides: [String], variable: String? = nil) throws -> LoadedConfiguration {
        let folder = try TemporaryFolder()
        let path = try folder.file("netpath.yaml", Array(Self.file.utf8))
        let environment = variable.map { ["NETPATH_SET": $0] } ?? [:]
        return try LoadedConfiguration.load(path: path, environment: environment, overrides: overrides)
    }

    private func complaints(_ overrides: String..., variable: String? = nil) -> [String] {
        let error = #expect(throws: ConfigurationError.self) { try self.load(overrides, variable: variable) }
        return error?.diagnostics.map(\.description) ?? []
    }

    @Test func entriesGoByNameOrNumber() throws {
        for path in ["backends.kernel.mode", "backends.0.mode", "backends[0].mode"] {
            let modes = try self.load(["\(path)=off", "backends.netlink.mode=active"]).backends.map(\.mode)
            #expect(modes == [.off, .active])
        }
    }

    @Test func commandLineBeforeEnvironmentBeforeFile() throws {
        func grace(_ overrides: String..., variable: String? = nil) throws -> Duration {
            try self.load(overrides, variable: variable).evaluation.configurationGrace
        }
        #expect(try grace() == .seconds(10))
        #expect(try grace(variable: "grace=20s") == .seconds(20))
        #expect(try grace(variable: "logging.level=info; grace=20s ;") == .seconds(20))
        #expect(try grace("grace=30s", variable: "grace=20s") == .seconds(30))
        #expect(try grace("grace=30s", "grace=40s") == .seconds(40), "the last one wins")
    }

    @Test func whatIsAbsentIsMade() throws {
        let configuration = try self.load([
            "logging.level=debug",
            "interfaces.0.match.kind=veth",
            "interfaces.0.ignore=true",
            "interfaces.1={match: {name: \"w*\"}, expensive: true}",
            "referenceDestinations=[198.18.0.1, \"2001:db8::1\"]",
        ])
        #expect(configuration.logLevel == .debug)
        #expect(configuration.evaluation.interfaceRules.map(\.isIgnored) == [true, false])
        #expect(configuration.evaluation.interfaceRules.map(\.isExpensive) == [nil, true])
        #expect(configuration.effective.values.filter { $0.path.hasPrefix("ref") }.map(\.text).first == "198.18.0.1")
    }

    @Test(arguments: [
        (
            "grace=soon",
            "--set 1:1:7: error: 'grace' must be a duration such as 2s or 500ms, found 'soon'\ngrace=soon\n      ^"
        ),
        ("grace=", "--set 1:1:1: error: 'grace' has no value; give it one or remove the key\ngrace=\n^"),
        ("foo", "--set 1:1:1: error: must be a path and a value such as backends.netlink.mode=off\nfoo\n^"),
        ("a..b=1", "--set 1:1:3: error: has an empty step in its path\na..b=1\n  ^"),
        ("a[0=1", "--set 1:1:2: error: has a '[' without its ']'\na[0=1\n ^"),
        ("grace.x=1", "--set 1:1:7: error: 'grace' is a single value and holds nothing, found 'x'\ngrace.x=1\n      ^"),
        (
            "backends.kernl.mode=off",
            "--set 1:1:10: error: 'backends' has no entry of this name; name one, or give its number from 0, "
                + "found 'kernl' (did you mean 'kernel'?); allowed: kernel, netlink\nbackends.kernl.mode=off\n         ^"
        ),
        (
            "backends.7.mode=off",
            "--set 1:1:10: error: 'backends' takes numbers from 0 to 2; 2 adds an entry, found '7'\n"
                + "backends.7.mode=off\n         ^"
        ),
        (
            "logging.levl=info",
            "--set 1:1:9: error: unknown key 'levl' in 'logging' (did you mean 'level'?); allowed: level\n"
                + "logging.levl=info\n        ^"
        ),
    ])
    func pointsAtItsColumn(text: String, complaint: String) {
        #expect(self.complaints(text) == [complaint])
    }

    @Test func allErrorsComeAtOnce() {
        let found = self.complaints("grace=soon", "foo", "x=]", variable: "backends.0.mode=on; bar").map {
            $0.prefix(24)
        }
        #expect(
            found == [
                "$NETPATH_SET:1:17: error", "$NETPATH_SET:1:21: error", "--set 1:1:7: error: 'gra",
                "--set 2:1:1: error: must", "--set 3:1:3: error: not ",
            ]
        )
    }

    // MARK: What is in effect

    @Test func originsAreTold() throws {
        let effective = try self.load(["backends.kernel.sysfs=/mnt"], variable: "grace=20s").effective
        func origin(_ path: String) -> String? {
            effective.values.first { $0.path == path }?.origin.description.split(separator: "/").last.map(String.init)
        }
        #expect(origin("backends[0].name") == "netpath.yaml:3")
        #expect(origin("backends[0].sysfs") == "--set 1")
        #expect(origin("backends[0].resolvConf") == "default")
        #expect(origin("backends[1].mode") == "netpath.yaml:6")
        #expect(origin("grace") == "$NETPATH_SET")
        #expect(origin("interfaces") == "default")
        #expect(origin("logging.level") == "default")
    }

    @Test func backendsStayTheDefaultOnesUnlessNamed() throws {
        let text = "grace: 30s\ninterfaces: [{match: {name: lan0}, ignore: true}]\n"
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        #expect(configuration.backends.map(\.name) == ["netlink", "sysfs"])
        #expect(configuration.backends.map(\.mode) == [.active, .standby])
        let origins = configuration.effective.values.reduce(into: [:]) { $0[$1.path] = $1.origin.description }
        #expect(origins["backends[1].mode"] == "default")
        #expect(origins["grace"] == "t:1")
        #expect(origins["interfaces[0].ignore"] == "t:2")
        let again = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: configuration.effective.text))
        #expect(again.effective.values.map(\.text) == configuration.effective.values.map(\.text))

        let folder = try TemporaryFolder()
        let overridden = try LoadedConfiguration.load(
            path: folder.file("netpath.yaml", Array("grace: 30s\n".utf8)),
            environment: [:],
            overrides: ["backends.sysfs.mode=off"]
        )
        #expect(overridden.backends.map(\.mode) == [.active, .off])
        #expect(overridden.effective.values.contains { $0.path == "backends[1].mode" && $0.origin.name == "--set 1" })
    }

    @Test func theTextReadsBackAsItself() throws {
        let effective = try self.load([
            "backends.0.name=\"on: \\\"a\\\" \\e\\\\ #\"",
            "backends.1.name=\"true\"",
            "backends.1.sysfs=\"/a b\"",
            "interfaces=[{match: {name: \"*\", mac: 02:aa}, ignore: false}, {match: {kind: \"5\"}}]",
        ]).effective
        let source = ConfigurationSource(name: "shown", text: effective.text)
        let again = try LoadedConfiguration.parse(source).effective
        #expect(again.values.map(\.path) == effective.values.map(\.path))
        #expect(again.values.map(\.text) == effective.values.map(\.text))
        #expect(effective.text.contains("  - match:\n      name: \"*\""))
    }
}
