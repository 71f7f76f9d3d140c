// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

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
                "2 the same, 0 without a verdict, 0 different and allowed, 0 different, 0 not played"
            )
        )
    }

    @Test func oneThatSeesMore() async throws {
        let comparison = try BackendComparison("tcpProbe") { stage in
            "{type: tcpProbe, targets: [\"\(stage.targets[0]):443\"], interval: 1s, timeout: 500ms, maxPerMinute: 600}"
        }
        let table = await comparison.play([Self.scenarios[1]])
        #expect(
            table.isAllowed && table.rows[0].judgement == .allowed("as tcpProbe: only a packet can tell"),
            "\(table)"
        )
    }

    /// This machine's own refusal is always there: a backend that says yes whatever happens.
    @Test func oneThatIsWrong() async throws {
        let always = "{type: tcpProbe, targets: [\"127.0.0.1:1\"], interval: 1s}"
        let wrong = try BackendComparison("always", patience: .seconds(1)) { _ in always }
        let table = await wrong.play([Self.scenarios[0]])
        #expect(!table.isAllowed && table.differences.count == 1, "\(table)")
        #expect(table.description.contains("DIFFERS: expected unsatisfied(noCarrier)"), "\(table)")
        let allowed = try BackendComparison(
            "always",
            patience: .seconds(1),
            allowing: ["the cable is pulled": "it asks itself"]
        ) { _ in always }
        #expect(await allowed.play([Self.scenarios[0]]).rows[0].judgement == .allowed("it asks itself"))
    }

    @Test func whatCannotBePlayedIsNotPraised() async throws {
        let comparison = try BackendComparison("sysfs") { _ in "{type: sysfs}" }
        let table = await comparison.play([
            Scenario("the stage breaks", netlink: .routed, probe: .answered, change: { try $0.lab.run("false") })
        ])
        #expect(!table.isAllowed && table.description.contains("not played: 'false' ended with status 1"), "\(table)")
    }
}
