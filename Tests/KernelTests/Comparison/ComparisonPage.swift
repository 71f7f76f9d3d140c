// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// The table as a page of the documentation.
enum ComparisonPage {
    /// The page in Markdown.
    static var text: String {
        ([self.introduction] + ScenarioTable.sections.map(self.section) + [self.limits]).joined(separator: "\n")
    }

    private static let introduction = """
        # Scenarios

        What every backend says in \(ScenarioTable.rows.count) situations, and why they may rightly differ.

        <!-- Written by `make scenarios` from Sources/NetPathTestKit/Comparison/Scenarios; edit that. -->

        ## Overview

        Each row is played by `make test` in private network namespaces, against the program as it is shipped: every
        backend alone, and all of them merged. First the network works and all monitors run; then the row happens, and
        every column has to come to say what the table says, and to keep to it. Monitors that are started afterwards have
        to say the same. Rows marked *at the start* have only that second part; in rows marked *steady* no monitor may say
        anything else in between.

        | column | is |
        |---|---|
        | netlink | the kernel's route netlink socket alone: the kernel's own forwarding decision |
        | sysfs | sysfs and procfs alone, polled |
        | tcpProbe | connections to a target on the far side alone |
        | merged | all three by priority; the probe advises, which sets `internet` and not the status |
        | required | all three, with `merge: {probes: required}` |

        A cell is the status and the reason's code: *yes* is satisfied (`routed`, or `probeAnswered` where a probe is
        alone), *no* unsatisfied, *step* requiresConnection; – is no verdict, which never means "no".

        """

    private static func section(_ section: ScenarioSection) -> String {
        let header = """
            ## \(section.title)

            \(section.note)

            | what happens | netlink | sysfs | tcpProbe | merged | required |
            |---|---|---|---|---|---|

            """
        return header + section.rows.map(Self.row).joined()
    }

    private static func row(_ scenario: Scenario) -> String {
        var marks: [String] = []
        if scenario.approach == .atStart { marks.append("at the start") }
        if scenario.isSteady { marks.append("steady") }
        if let need = scenario.need { marks.append("needs \(need.rawValue)") }
        var title = scenario.title
        if !marks.isEmpty { title += " *(\(marks.joined(separator: ", ")))*" }
        if !scenario.why.isEmpty { title += "<br>Why: \(scenario.why)." }
        let cells = ScenarioColumn.allCases.map { scenario.cell($0).documentation }
        return "| \(([title] + cells).joined(separator: " | ")) |\n"
    }

    private static let limits = """
        ## What no row can show

        - A jump of CLOCK_REALTIME: there is one for the whole machine, and no namespace of it. No deadline of netpath is
          measured by it; the netlink backend listens for its jumps only to learn of a resume from sleep. The clocks that
          deadlines are measured by do not jump; the rows with other clocks show that their values do not matter.
        - Sleep of the machine itself: a suspended process is as near as a namespace comes.
        - Wi-Fi, modems and other hardware, which namespaces do not have: see the tests of the evaluation.

        """
}
