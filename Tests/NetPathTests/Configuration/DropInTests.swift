// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

/// Files beside the configuration that change it, and files of another version.
@Suite struct DropInTests {
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
        try self.directory.write(
            "netpath.yaml",
            "grace: 1s\nmerge:\n  policy: any\n  probes: required\nhooks: [{name: a, command: [/bin/true]}]\n"
        )
    }

    private func load(_ overrides: String...) throws(ConfigurationError) -> LoadedConfiguration {
        try LoadedConfiguration.load(path: self.directory["netpath.yaml"], environment: [:], overrides: overrides)
    }

    private func refusal() throws -> [ConfigurationDiagnostic] {
        do throws(ConfigurationError) {
            _ = try self.load()
            return []
        } catch {
            return error.diagnostics
        }
    }

    private func origin(of path: String, in configuration: LoadedConfiguration) -> String? {
        configuration.effective.values.first { $0.path == path }.map { value in
            "\(value.text) \(value.origin)".replacing(self.directory["netpath.yaml"], with: "F")
        }
    }

    @Test func theyApplyInTheOrderOfTheirNames() throws {
        try self.directory.write("netpath.yaml.d/20-b.yaml", "# b\ngrace: 3s\nhooks: []\n")
        try self.directory.write("netpath.yaml.d/10-a.yaml", "grace: 2s\nmerge: {policy: majority}\n")
        try self.directory.write("netpath.yaml.d/Z.yaml", "damping:\n  gain: 5s\n  maxWait: 9s\n")
        for name in [".hidden.yaml", "note.txt", "30-c.yaml~"] {
            try self.directory.write("netpath.yaml.d/\(name)", "grace: 9s\n")
        }
        let configuration = try self.load()
        #expect(configuration.dropIns == ["10-a", "20-b", "Z"].map { self.directory["netpath.yaml.d/\($0).yaml"] })
        #expect(self.origin(of: "grace", in: configuration) == "3s F.d/20-b.yaml:2")
        #expect(self.origin(of: "merge.policy", in: configuration) == "majority F.d/10-a.yaml:2")
        #expect(self.origin(of: "merge.probes", in: configuration) == "required F:4")
        #expect(self.origin(of: "damping.gain", in: configuration) == "5s F.d/Z.yaml:2")
        #expect(self.origin(of: "backends[0].type", in: configuration) == "netlink default")
        #expect(configuration.hooks.isEmpty)
        // What is said on the command line is last.
        #expect(try self.load("grace=4s").evaluation.configurationGrace == .seconds(4))
        let again = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: configuration.effective.text))
        #expect(again.effective.values.map(\.text) == configuration.effective.values.map(\.text))
    }

    @Test func theFileItselfNeedNotBeThere() throws {
        try self.directory.remove("netpath.yaml")
        #expect(try self.refusal().first?.message.contains("does not exist") == true)
        try self.directory.write("netpath.yaml.d/a.yaml", "grace: 2s\n")
        #expect(try self.load().evaluation.configurationGrace == .seconds(2))
    }

    @Test func errorsNameTheirPlace() throws {
        try self.directory.write("netpath.yaml.d/10-a.yaml", "merge:\n  policy: nonsense\n")
        try self.directory.write("netpath.yaml.d/20-b.yaml", "damping:\n  gian: 3s\n")
        let places = try self.refusal().map { error in
            "\(error.origin.split(separator: "/").last ?? ""):\(error.position.map { "\($0)" } ?? "")"
        }
        #expect(places.sorted() == ["10-a.yaml:2:11", "20-b.yaml:2:3"])
        // All that is wrong, with the form too.
        try self.directory.write("netpath.yaml.d/10-a.yaml", "- a list\n")
        try self.directory.write("netpath.yaml.d/20-b.yaml", "grace: [\n")
        let names = try self.refusal().map { String($0.origin.split(separator: "/").last ?? "") }
        #expect(names.sorted() == ["10-a.yaml", "20-b.yaml"])
    }

    @Test func emptyOnesChangeNothing() throws {
        try self.directory.write("netpath.yaml.d/10-a.yaml", "# nothing\n")
        let configuration = try self.load()
        #expect(configuration.evaluation.configurationGrace == .seconds(1) && !configuration.saysNothing)
        try self.directory.write("netpath.yaml", "")
        #expect(try self.load().saysNothing)
    }

    @Test(arguments: ["0.2", "0.1.1", "7.0", "1.0.0"])
    func unknownKeysOfANewerVersionAreWarnedOf(_ version: String) throws {
        let head = "version: \(version)\nfuture: 1\n"
        try self.directory.write("netpath.yaml.d/a.yaml", head + "merge: {later: x, policy: all}\n")
        #expect(try self.refusal().map(\.path) == ["merge.policy"], "an unknown value is wrong all the same")
        try self.directory.write("netpath.yaml.d/a.yaml", head + "merge: {later: x}\n")
        let configuration = try self.load()
        let newer = configuration.warnings.filter { $0.message.contains("is for a newer netpath") }
        #expect(newer.map(\.path).sorted() == ["future", "merge.later"])
        // The other file says nothing of the kind.
        try self.directory.write("netpath.yaml", "furture: 1\n")
        #expect(try self.refusal().map(\.path) == ["furture"])
    }

    @Test(arguments: ["0.1.0", "0.1", "\"0.0.9\""])
    func thoseOfThisOneAreErrors(_ version: String) throws {
        try self.directory.write("netpath.yaml", "version: \(version)\nfuture: 1\n")
        #expect(try self.refusal().map(\.path) == ["future"])
    }

    @Test(arguments: ["1", "\"0\"", "1.2.3.4", "latest", "-1", "1..2", "[1]"])
    func whatIsNoVersion(_ version: String) throws {
        try self.directory.write("netpath.yaml", "version: \(version)\n")
        #expect(try self.refusal().map(\.path) == ["version"])
    }
}
