// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem
import Testing

@testable import NetPathCLI

/// What `netpath hooks` shows.
@Suite struct HookReportTests {
    private static func run(_ outcome: HookRun.Outcome, attempt: Int = 1, droppedBytes: Int = 0) -> HookRun {
        HookRun(
            startedAt: Fixtures.clock.wall,
            status: .unsatisfied,
            reason: PathReason(.noCarrier, "eth0 has no carrier"),
            previousStatus: .satisfied,
            isInitial: false,
            attempt: attempt,
            duration: .milliseconds(120),
            outcome: outcome,
            droppedBytes: droppedBytes
        )
    }

    static var report: HookReport {
        var hook = Hook(name: "vpn", command: ["/usr/local/bin/on-change", "--verbose"])
        hook.holdTime = .seconds(5)
        var report = HookReport(hook: hook)
        report.record(Self.run(.ended(.exited(3)), droppedBytes: 17))
        report.record(Self.run(.ended(.exited(0)), attempt: 2))
        return report
    }

    @Test func document() {
        #expect(
            Self.report.document.line
                == #"{"name":"vpn","on":"status","forMilliseconds":5000,"command":["/usr/local/bin/on-change","--verbose"],"#
                + #""timeoutMilliseconds":30000,"retries":0,"user":null,"runningSince":null,"runCount":2,"failureCount":1,"#
                + #""runs":[{"time":"2026-10-21T12:31:46.123Z","status":"unsatisfied","reason":{"code":"noCarrier","#
                + #""message":"eth0 has no carrier"},"previousStatus":"satisfied","initial":false,"attempt":2,"#
                + #""outcome":"exited","exitStatus":0,"signal":null,"error":null,"durationMilliseconds":120,"droppedBytes":0},"#
                + #"{"time":"2026-10-21T12:31:46.123Z","status":"unsatisfied","reason":{"code":"noCarrier","#
                + #""message":"eth0 has no carrier"},"previousStatus":"satisfied","initial":false,"attempt":1,"#
                + #""outcome":"exited","exitStatus":3,"signal":null,"error":null,"durationMilliseconds":120,"droppedBytes":17}]}"#
        )
    }

    @Test func screen() {
        let style = TextStyle(isColored: false, width: nil)
        let text = HookReport.screen([Self.report], style) { CivilTime($0, offsetSeconds: 0) }
        #expect(
            text == """

                vpn
                  on              status for 5s
                  command         /usr/local/bin/on-change --verbose
                  state           idle; 2 runs, 1 failed
                  latest runs     2026-10-21 12:31:46 satisfied → unsatisfied: ended with exit status 0 after 120 ms, attempt 2
                                  2026-10-21 12:31:46 satisfied → unsatisfied: ended with exit status 3 after 120 ms, 17 bytes of output dropped

                """
        )
        let none = HookReport.screen([], style) { CivilTime($0, offsetSeconds: 0) }
        #expect(none == "  There are no hooks.\n")
    }

    /// Neither the command nor an address in a sentence.
    @Test func othersSeeCodes() {
        let shown = Self.report.forOthers.document.line
        #expect(shown.contains(#""command":[]"#))
        #expect(shown.contains(#""reason":{"code":"noCarrier","message":"noCarrier"}"#))
        #expect(!shown.contains("eth0"))
    }

    @Test func onlyTheLatestRunsAreKept() {
        var report = HookReport(hook: Hook(name: "a", command: ["/bin/true"]))
        for attempt in 1...30 { report.record(Self.run(.timedOut, attempt: attempt)) }
        report.record(Self.run(.stopped, attempt: 31))
        #expect(report.runs.map(\.attempt) == Array((22...31).reversed()))
        // One that netpath itself stopped did not fail.
        #expect((report.runCount, report.failureCount) == (31, 30))
    }
}
