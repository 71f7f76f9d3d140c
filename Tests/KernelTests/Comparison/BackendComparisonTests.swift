// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

/// A backend beside netlink, as the author of one sets it there.
@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct BackendComparisonTests {
    private static let scenarios = [
        Scenario(
            "the cable is pulled",
            netlink: .no(.noCarrier),
            probe: .unanswered,
            change: { stage in try stage.wan.setPeerCarrier(false) }
        ),
        Scenario(
            "the gateway is gone",
            netlink: .routed,
            probe: .unanswered,
            why: "only a packet can tell",
            change: { stage in try stage.lab.runOnFarSide("ip address flush dev \(stage.peer)") }
        ),
    ]

    @Test func oneThatSeesTheSame() async throws {
        let comparison = try BackendComparison("sysfs") { stage in
            "{type: sysfs, mode: active, interval: 200ms, fastInterval: 100ms, resolvConf: \(stage.resolverFile)}"
        }
        let table = await comparison.play(Self.scenarios)
        #expect(table.isAllowed && table.rows.map(\.judgement) == [.same, .same], "\(table)")
        #expect(table.rows[0].delay != nil && table.rows[0].referenceDelay != nil && table.rows[1].delay == nil)
        #expect(
            table.description.hasSuffix(
                "2 the same, 0 without a verdict, 0 different and allowed, 0 different, 0 did not run, 0 not played"
            )
        )
    }

    @Test func oneThatSeesMore() async throws {
        var comparison = try BackendComparison("tcpProbe") { stage in
            "{type: tcpProbe, targets: [\"\(stage.targets[0]):443\"], interval: 1s, timeout: 500ms, maxPerMinute: 600}"
        }
        comparison.timeToNotice = .seconds(15)
        let table = await comparison.play([Self.scenarios[1]])
        #expect(
            table.isAllowed && table.rows[0].judgement == .allowed("as tcpProbe: only a packet can tell"),
            "\(table)"
        )
    }

    /// This machine's own refusal is always there: a backend that says yes whatever happens.
    @Test func oneThatIsWrong() async throws {
        let always = "{type: tcpProbe, targets: [\"127.0.0.1:1\"], interval: 1s}"
        let wrong = try BackendComparison("always", patience: .seconds(5)) { _ in always }
        let table = await wrong.play([Self.scenarios[0]])
        #expect(!table.isAllowed && table.differences.count == 1, "\(table)")
        #expect(table.description.contains("DIFFERS: expected unsatisfied(noCarrier)"), "\(table)")
        let allowed = try BackendComparison(
            "always",
            patience: .seconds(5),
            allowing: ["the cable is pulled": "it asks itself"]
        ) { _ in always }
        #expect(await allowed.play([Self.scenarios[0]]).rows[0].judgement == .allowed("it asks itself"))
    }

    /// Facts that a program in Python gets from `ip -json` lead to what netlink says, in all scenarios.
    @Test(.enabled(if: geteuid() == 0, "as root, who owns the example"))
    func oneThatStatesFactsInAnotherLanguage() async throws {
        let example = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Examples/Plugins/ip_facts.py").standardized
        // Root runs what lies in folders of root's alone, and a checkout may lie anywhere.
        let folder = try TemporaryDirectory(in: "/run")
        try folder.write("ip_facts.py", String(contentsOf: example, encoding: .utf8))
        let command = "[/usr/bin/python3, \(folder["ip_facts.py"])]"
        let comparison = try BackendComparison("ip") { _ in "{type: exec, command: \(command)}" }
        let table = await comparison.play()
        #expect(table.differences.isEmpty, "\(table)")
        // A sandbox without netlink sockets silences it.
        #expect(table.rows.count { $0.judgement == .silent } <= 2, "\(table)")
        #expect(table.rows.contains { $0.judgement == .same && $0.delay != nil }, "\(table)")
    }

    @Test func whatCannotBePlayedIsNotPraised() async throws {
        let comparison = try BackendComparison("sysfs") { _ in "{type: sysfs}" }
        let table = await comparison.play([
            self.row("the stage breaks", .routed) { try $0.lab.run("false") },
            self.row("the expectation is wrong", .no(.noRoute)) { _ in },
            Self.scenarios[0],
        ])
        #expect(table.failures.map(\.title) == ["the stage breaks", "the expectation is wrong"], "\(table)")
        #expect(!table.isAllowed, "\(table)")
        #expect(table.description.contains("DID NOT RUN: 'false' ended with status 1"), "\(table)")
        #expect(table.description.contains("netlink says satisfied(routed) instead of"), "\(table)")
    }

    private func row(
        _ title: String,
        _ cell: ScenarioCell,
        change: @escaping @Sendable (ScenarioStage) throws -> Void
    ) -> Scenario { Scenario(title, netlink: cell, probe: .answered, change: change) }

    private static let hello = #"echo '{"netpath":1,"name":"mine"}'"#
    private static let yes = #"echo '{"conclusion":{"status":"satisfied"}}'"#

    /// A program that never ran, or did not go on, has no verdict that could be allowed.
    @Test(arguments: [
        (["/usr/bin/there-is-no-such-plugin"], "there-is-no-such-plugin"),
        (["/bin/sh", "-c", "echo no luck >&2; exit 3"], "ended with exit status 3; it wrote: no luck"),
        (["/bin/sh", "-c", "echo garbage; exec sleep 1000"], "is not JSON"),
        (["/bin/sh", "-c", "\(Self.hello); exec sleep 1000"], "it reported nothing"),
        (["/bin/sh", "-c", "\(Self.hello); \(Self.yes); sleep 0.5; exit 4"], "ended with exit status 4"),
    ])
    func oneThatDoesNotRun(_ command: [String], error: String) async throws {
        let words = command.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ", ")
        let entry = "{type: exec, command: [\(words)]}"
        let comparison = try BackendComparison("mine", patience: .seconds(2)) { _ in entry }
        let table = await comparison.play([self.row("nothing happens", .routed) { _ in }])
        #expect(!table.isAllowed && table.failures.count == 1, "\(table)")
        #expect(table.description.contains("DID NOT RUN: ") && table.description.contains(error), "\(table)")
    }

    /// An ordinary user is root in a user namespace, where everything of the machine's belongs to another user.
    @Test func itServesAnOrdinaryUser() throws {
        let script = "\(Self.hello); while :; do \(Self.yes); sleep 0.2; done"
        let program = try MonitorProcess.builtProduct("netpath-plugin")
        var words = [
            program, "plugin", "compare", "--only", "the address is removed, and", "--", "/bin/sh", "-c", script,
        ]
        if geteuid() == 0 {
            words = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words
        }
        let process = Process()
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let written = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let isRefused = written.contains("No network namespace could be made")
        #expect(written.contains(" 0 did not run") || isRefused, "\(written)")
    }
}
