// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathTestKit
import Testing

/// What a new configuration changes for whoever runs with the old one.
@Suite struct ConfigurationReloadTests {
    /// Does nothing; what it is made with is all that matters here.
    private struct Idle: PathMonitor {
        func run(_ context: MonitorContext) async throws {}
    }

    private static let registry: BackendRegistry = {
        var registry = BackendRegistry()
        registry.register("plain", summary: "") { section in
            _ = section.duration("interval", default: .seconds(2), in: .zero ... .seconds(60))
            return Idle()
        }
        registry.register("asking", summary: "") { section in
            _ = section.referenceDestinations
            return Idle()
        }
        return registry
    }()

    private func read(_ text: String) throws -> LoadedConfiguration {
        try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text), registry: Self.registry)
    }

    private func reload(from old: String, to new: String) throws -> ConfigurationReload {
        try ConfigurationReload(from: self.read(old), to: self.read(new))
    }

    private static let base = "backends: [{type: plain}, {type: plain, name: second, interval: 5s}]\n"

    @Test(arguments: [
        base, "# a comment\n\n" + base,
        // The same values at other places, in other spellings.
        "grace: 45s\nbackends:\n  - {mode: active, type: \"plain\", name: plain, interval: 2s}\n"
            + "  - {interval: 5s, name: second, type: plain}\nmerge: {policy: priority}\n",
    ])
    func nothingChanges(text: String) throws {
        let reload = try self.reload(from: Self.base, to: text)
        #expect(reload.isEmpty)
        #expect(reload.kept == ["plain", "second"])
        #expect(reload.description == "nothing changed")
    }

    @Test func changedOptionStartsThatBackendAnew() throws {
        let new = "backends: [{type: plain}, {type: plain, name: second, interval: 6s}]\n"
        let reload = try self.reload(from: Self.base, to: new)
        #expect(reload.kept == ["plain"])
        #expect(reload.restarted == ["second"])
        #expect(!reload.changesSettings)
        #expect(reload.description == "restarted: second")
    }

    @Test func changedModeStartsNothingAnew() throws {
        let new = "backends: [{type: plain}, {type: plain, name: second, interval: 5s, mode: standby}]\n"
        let reload = try self.reload(from: Self.base, to: new)
        #expect(reload.kept == ["plain", "second"])
        #expect(reload.changesSettings)
    }

    @Test func anotherTypeUnderTheSameNameStartsAnew() throws {
        let reload = try self.reload(from: "backends: [{type: plain}]", to: "backends: [{type: asking, name: plain}]")
        #expect(reload.restarted == ["plain"])
    }

    @Test func backendsComeAndGo() throws {
        let reload = try self.reload(from: Self.base, to: "backends: [{type: plain}, {type: asking}]")
        #expect((reload.kept, reload.added, reload.removed) == (["plain"], ["asking"], ["second"]))
        #expect(reload.description == "added: asking; removed: second")
    }

    @Test func orderIsPriority() throws {
        let reload = try self.reload(
            from: Self.base,
            to: "backends: [{type: plain, name: second, interval: 5s}, {type: plain}]\n"
        )
        #expect(reload.kept == ["second", "plain"])
        #expect(reload.changesSettings)
    }

    @Test(arguments: [
        "grace: 1s", "merge: {policy: any}", "merge: {probes: required}", "damping: {loss: 1s}",
        "logging: {level: debug}", "interfaces: [{match: {kind: veth}, ignore: true}]",
    ])
    func settingsConcernNoBackend(text: String) throws {
        let reload = try self.reload(from: Self.base, to: Self.base + text)
        #expect(reload.kept == ["plain", "second"])
        #expect(reload.changesSettings)
        #expect(reload.description == "settings changed")
    }

    @Test func referenceDestinationsConcernThoseWhoAskForThem() throws {
        let text = "backends: [{type: plain}, {type: asking}]\n"
        let reload = try self.reload(from: text, to: text + "referenceDestinations: [9.0.0.2, \"2600::2\"]")
        #expect(reload.kept == ["plain"])
        #expect(reload.restarted == ["asking"])
        #expect(reload.description == "restarted: asking")
    }

    @Test func comparingRunsEverythingThatIsNotOff() throws {
        let text = "backends: [{type: plain}, {type: asking, mode: standby}, {type: asking, name: o, mode: off}]"
        let configuration = try self.read(text).comparing
        #expect(configuration.backends.map(\.mode) == [.active, .active, .off])
    }
}
