// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

/// Every backend alone and all merged, in every scenario of the table, against a real kernel.
@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct ComparisonTests {
    private static let missing =
        NetworkNamespace.isAvailable
        ? ScenarioTable.rows.filter { $0.need?.isMet == false }.map { "\($0.title) (needs \($0.need?.rawValue ?? ""))" }
        : []

    /// With NETPATH_ROWS only the rows whose titles contain its text.
    private static let played = ScenarioTable.rows.filter { row in
        let wanted = ProcessInfo.processInfo.environment["NETPATH_ROWS"] ?? ""
        return row.need?.isMet != false && (wanted.isEmpty || row.title.contains(wanted))
    }

    @Test(arguments: Self.played)
    func everyColumnSaysWhatTheTableSays(_ scenario: Scenario) async {
        let failures = await ScenarioRun.failures(of: scenario, inspect: ScenarioTable.checkAdvice)
        #expect(failures.isEmpty, "\(scenario.title):\n\(failures.joined(separator: "\n"))")
    }

    /// The runner finds what is wrong: a cell in every column, a status in between.
    @Test func aWrongRowIsFound() async {
        let wrong = Scenario(
            "nothing happens, and all is lost",
            netlink: .no(.noRoute),
            probe: .unanswered,
            change: { _ in }
        )
        let failures = await ScenarioRun.failures(of: wrong, patience: .seconds(1)).joined(separator: "\n")
        for moment in ["started before", "started after"] {
            for column in ScenarioColumn.allCases {
                #expect(failures.contains("\(moment): \(column): expected unsatisfied"))
            }
        }
        let restless = Scenario("the route flaps", steady: true, netlink: .routed, probe: .answered) { stage in
            for _ in 0..<20 {
                try stage.lab.removeDefaultRoute()
                // Long enough for a busy machine to look.
                Thread.sleep(forTimeInterval: 0.2)
                try stage.lab.addDefaultRoute(via: "192.0.2.1", through: stage.wan)
            }
        }
        let unrest = await ScenarioRun.failures(of: restless).joined(separator: "\n")
        #expect(unrest.contains("netlink said unsatisfied(noRoute) in between"))
    }

    /// A skip that says so: what this machine could not play.
    @Test(.enabled(if: Self.missing.isEmpty, "not played here: \(Self.missing.joined(separator: "; "))"))
    func everyRowIsPlayed() {}
}

/// The table itself.
@Suite struct TableTests {
    @Test func thereAreEnoughRows() {
        #expect(ScenarioTable.rows.count >= 45)
    }

    @Test func titlesAreUnique() {
        let titles = ScenarioTable.rows.map(\.title)
        #expect(Set(titles).count == titles.count)
    }

    @Test func whereThereIsNoPathThereIsAdvice() {
        let titles = ScenarioTable.rows.map(\.title)
        for row in ScenarioTable.rows where row.needsAdvice {
            #expect(ScenarioTable.advice[row.title] != nil, "\(row.title)")
        }
        for title in ScenarioTable.advice.keys { #expect(titles.contains(title), "\(title) is no row") }
    }

    @Test(arguments: ScenarioTable.rows)
    func columnsThatDifferSayWhy(_ scenario: Scenario) {
        #expect(!scenario.differs || !scenario.why.isEmpty, "\(scenario.title)")
    }
}
