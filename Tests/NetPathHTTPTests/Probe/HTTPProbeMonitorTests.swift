// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import NetPathHTTPProbe

/// When the monitor asks, and what it says meanwhile.
@Suite(.timeLimit(.minutes(5))) struct HTTPProbeMonitorTests {
    private static let options = HTTPProbeMonitor.Options(checks: [HTTPCheck(url: "http://a.example/")])

    @Test func whoIsAskedOnceAnswersAndReturns() async throws {
        let monitor = HTTPProbeMonitor(Self.options, transport: ScriptedTransport(.status(204)))
        let run = BackendRun(monitor, asksOnce: true)
        try await run.waitForEnd()
        // Where nothing runs for a while, a first word without an answer comes before.
        #expect(run.reports.last?.probes?.outcomes.first?.result == .expected)
    }

    @Test func aServerThatHoldsItsAnswerDelaysNoFirstWord() async throws {
        let transport = ScriptedTransport(.held(.notSent))
        let run = BackendRun(HTTPProbeMonitor(Self.options, transport: transport))
        let first = try await run.waitForEvidence()
        #expect(first.probes == ProbeRound(outcomes: [], isComplete: false))
        try await run.stop()
    }

    @Test func aRefreshIsAnsweredAtOnceAndAsksAnew() async throws {
        let transport = ScriptedTransport(.status(204))
        let run = BackendRun(HTTPProbeMonitor(Self.options, transport: transport))
        try await run.waitForEvidence { $0.probes?.isComplete == true }
        transport.answerUsually(.status(302, ["Location": "http://portal.example/"]))
        run.refresh()
        let portal = try await run.waitForEvidence { $0.probes?.portalURL != nil }
        #expect(portal.probes?.portalURL == "http://portal.example/")
        #expect(run.reports.count >= 3, "what was known came first")
        try await run.stop()
    }

    @Test func roundsAreLimited() {
        let second = Duration.seconds(1)
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        let start = now
        var schedule = HTTPProbeSchedule(interval: .seconds(300), roundsPerMinute: 3, now: now)
        var starts: [Duration] = []
        while now - start < .seconds(180) {
            schedule.changed(now: now)
            if schedule.next(now: now) <= now {
                starts.append(now - start)
                schedule.began(now: now)
            }
            now = now + second
        }
        #expect(starts == [0, 1, 2, 60, 61, 62, 120, 121, 122].map { .seconds($0) })
    }

    @Test func failuresAreFollowedUpSooner() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = HTTPProbeSchedule(interval: .seconds(300), roundsPerMinute: 60, now: now)
        func pause(_ result: ProbeOutcome.Result) -> Duration {
            let round = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: result)], isComplete: true)
            schedule.ended(round, jitter: 0.5, now: now)
            return schedule.next(now: now) - now
        }
        #expect(pause(.expected) == .seconds(300))
        let pauses = [2, 4, 8, 16, 30, 30].map { Duration.seconds($0) }
        for expected in pauses { #expect(pause(.portal) == expected) }
        #expect(pause(.expected) == .seconds(300))
    }

    @Test func aProgramWithoutATransportSaysSo() async throws {
        var registry = BackendRegistry()
        HTTPProbeMonitor.register(in: &registry, runBy: "other")
        let registration = try #require(registry.registration(for: "httpProbe"))
        #expect(registration.program == "other")
        let run = BackendRun(registration.make(.empty))
        await #expect(throws: (any Error).self) { try await run.waitForEnd() }
    }

    @Test func presetsHaveNamesOfTheirOwnAndWholeAddresses() {
        let presets = HTTPCheckPreset.all
        #expect(presets.map(\.name) == presets.map(\.name).sorted())
        #expect(presets.allSatisfy { WebAddress($0.check.url) != nil && !$0.owner.isEmpty })
    }
}

/// The documentation lists what there is.
@Suite struct HTTPProbeDocumentationTests {
    @Test func everyPresetIsDocumented() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../Sources/NetPath/NetPath.docc/HTTPProbe.md")
        let rows = try String(contentsOf: file.standardized, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("`http") && $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        let documented = rows.map { "\($0[0]) \($0[1]) \($0[3]) \($0[4])" }
        let expected = HTTPCheckPreset.all.map { "`\($0.name)` `\($0.check.url)` \($0.owner) \($0.purpose)" }
        #expect(documented == expected)
    }
}
