// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import Testing

@testable import NetPath
@testable import NetPathCLI

/// What backends state of interfaces is shown with them, and whose word it is.
@Suite struct InterfaceFactsScreenTests {
    private static var facts: InterfaceFacts {
        var facts = InterfaceFacts("eth0")
        facts.type = .wifi
        facts.isExpensive = true
        facts.isConstrained = false
        facts.pendingStep = PathReason(.authenticating, "the RADIUS server is asked")
        facts.label = "home, WPA3"
        return facts
    }

    private static var enriched: Evidence {
        var evidence = Fixtures.routed
        evidence.statements = [.init(by: "wpa", Self.facts), .init(by: "modem", InterfaceFacts("wwan0"))]
        return evidence
    }

    @Test func status() {
        var snapshot = Fixtures.snapshot(Self.enriched)
        var report = Fixtures.report("wpa", health: .healthy)
        report.describedInterfaces = ["eth0", "eth1"]
        snapshot.backends.append(report)
        let screen = snapshot.statusScreen(TextStyle(isColored: false, width: nil))
        #expect(screen.contains("  eth0            wifi, up: eth0 carries the path\n"))
        #expect(screen.contains("\n                  home, WPA3 (wpa says)\n"))
        #expect(screen.contains("\n  wpa             healthy: describes eth0, eth1"))
        #expect(screen.contains("Expensive"))
    }

    @Test func document() {
        let line = String(decoding: Fixtures.snapshot(Self.enriched).jsonLine, as: UTF8.self)
        #expect(line.contains(#""labels":[{"backend":"wpa","text":"home, WPA3"}]"#))
    }

    @Test func explanation() {
        let verdict = Self.enriched.verdict(policy: EvaluationPolicy(), now: Fixtures.now)
        let facts = Self.enriched.explanation(of: verdict, now: Fixtures.now).evidence
        #expect(
            facts.contains(
                """
                wpa says of eth0: type wifi, traffic is likely to cost money, traffic need not be kept low, \
                a step is pending (authenticating): the RADIUS server is asked, home, WPA3
                """
            )
        )
        #expect(facts.contains("modem says of wwan0, which is not among the interfaces: nothing"))
    }

    @Test func aNewLabelIsTold() {
        let before = Fixtures.snapshot(Fixtures.routed).path
        let after = Fixtures.snapshot(Self.enriched).path
        let differences = after.map { PathChange(from: before, to: $0).differences } ?? []
        #expect(differences.contains { if case .interface(_, .labels) = $0 { true } else { false } })
    }

    @Test func numbersOfBackendsAreExported() {
        var text = MetricsText(isOpenMetrics: false)
        let own = BackendMetric.Sample(-61.5, ["interface": "wlan0"])
        text.add([
            ("wpa", [BackendMetric("signal_dbm", "The \"signal\".", samples: [own])]),
            (
                "other",
                [
                    BackendMetric("signal_dbm", "Another help.", samples: [.init(-70)]),
                    BackendMetric("roams", "Roams.", kind: .counter, samples: [.init(4)]),
                ]
            ),
            ("third", [BackendMetric("signal_dbm", "", kind: .counter, samples: [.init(1)])]),
        ])
        #expect(
            text.text == """
                # HELP netpath_plugin_roams_total Roams.
                # TYPE netpath_plugin_roams_total counter
                netpath_plugin_roams_total{backend="other"} 4
                # HELP netpath_plugin_signal_dbm The 'signal'.
                # TYPE netpath_plugin_signal_dbm gauge
                netpath_plugin_signal_dbm{backend="wpa",interface="wlan0"} -61.5
                netpath_plugin_signal_dbm{backend="other"} -70

                """
        )
    }
}
