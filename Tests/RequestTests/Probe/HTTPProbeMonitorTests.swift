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

    private static func schedule(
        interval: Duration = .seconds(300),
        roundsPerMinute: Int = 12,
        now: MonotonicTime
    ) -> HTTPProbeSchedule {
        var options = Self.options
        options.interval = interval
        options.maxRoundsPerMinute = roundsPerMinute
        return HTTPProbeSchedule(options, now: now)
    }

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
        var schedule = Self.schedule(roundsPerMinute: 3, now: now)
        var starts: [Duration] = []
        while now - start < .seconds(180) {
            schedule.changed(now: now)
            if schedule.next(now: now) <= now {
                starts.append(now - start)
                schedule.began(now: now)
            }
            now = now + second
        }
        #expect(starts == [0, 1, 11, 60, 70, 80, 120, 130, 140].map { .seconds($0) })
    }

    /// A machine that looks for a network has many changes, and each has a round that cannot be sent.
    @Test func roundsThatCannotBeSentCostNothing() {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(now: now)
        let failed = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: .notResolved)], isComplete: true)
        for _ in 0..<100 {
            #expect(schedule.next(now: now) - now <= .milliseconds(250), "a change is looked at soon")
            now = schedule.next(now: now)
            schedule.began(now: now)
            schedule.ended(failed, wasSent: false, jitter: 0.5, now: now)
            #expect(schedule.next(now: now) - now == .seconds(2))
            schedule.changed(now: now)
            #expect(schedule.next(now: now) - now == .milliseconds(250), "a storm of changes is no storm of rounds")
        }
        now = schedule.next(now: now)
        #expect(schedule.next(now: now) == now)
    }

    /// However many rounds were used up, a sign-in is noticed ten seconds later at most.
    @Test(arguments: [5, 6, 12, 40] as [Int])
    func behindAPortalALookIsKeptInReserve(changes: Int) {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(now: now)
        let portal = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: .portal)], isComplete: true)
        var starts: [MonotonicTime] = []
        func look(_ change: Bool) {
            if change { schedule.changed(now: now) }
            let next = schedule.next(now: now)
            #expect(next - now <= .seconds(11))
            if change, next > now { return }
            now = next
            starts.append(now)
            schedule.began(now: now)
            schedule.ended(portal, jitter: 0.99, now: now)
        }
        for _ in 0..<changes {
            look(true)
            now = now + .milliseconds(100)
        }
        for _ in 0..<20 { look(false) }
        for start in starts { #expect(starts.count { $0 >= start && $0 - start < .seconds(60) } <= 12) }
    }

    @Test func failuresAreFollowedUpSooner() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(roundsPerMinute: 60, now: now)
        func pause(_ result: ProbeOutcome.Result) -> Duration {
            let round = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: result)], isComplete: true)
            schedule.ended(round, jitter: 0.5, now: now)
            return schedule.next(now: now) - now
        }
        #expect(pause(.expected) == .seconds(300))
        for expected in [2, 4, 8, 16, 30, 30] { #expect(pause(.timedOut) == .seconds(expected)) }
        #expect(pause(.expected) == .seconds(300))
        for expected in [2, 4, 8, 10, 10] { #expect(pause(.portal) == .seconds(expected)) }
        #expect(pause(.expected) == .seconds(300))
    }

    /// Rounds that are wanted more often than the limit allows are spread over the minute: at no time is it used up.
    @Test(arguments: [1, 2, 3, 12, 40] as [Int], [0, 0.5, 0.99])
    func aShortIntervalIsSpread(limit: Int, jitter: Double) {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(interval: .seconds(1), roundsPerMinute: limit, now: now)
        let answered = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: .expected)], isComplete: true)
        let least = HTTPProbeSchedule.leastInterval(roundsPerMinute: limit)
        for _ in 0..<100 {
            schedule.began(now: now)
            schedule.ended(answered, jitter: jitter, now: now)
            let pause = schedule.next(now: now) - now
            #expect(pause <= max(least * 1.2, .seconds(11)), "blind for \(pause)")
            now = schedule.next(now: now)
        }
    }

    @Test func whatNothingAnswersIsAskedLessAndLess() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(roundsPerMinute: 600, now: now)
        let failed = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: .timedOut)], isComplete: true)
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 360, 360] {
            schedule.ended(failed, isSilent: true, jitter: 0.5, now: now)
            #expect(schedule.next(now: now) - now == .seconds(expected))
        }
        #expect(schedule.isSilent)
        schedule.changed(now: now)
        #expect(schedule.next(now: now) == now && !schedule.isSilent, "a change is looked at")
    }

    /// In silence Linux repeats a SYN twice at most, with TLS too; a handshake that is slow breaks the silence.
    @Test func inSilenceAConnectionIsGivenUpSoon() async throws {
        let transport = ScriptedTransport(.failure(.timedOut, .notSent))
        transport.answer(.failure(.connectTimedOut, .notSent))
        let options = HTTPProbeMonitor.Options(checks: [HTTPCheck(url: "https://a.example/")])
        let run = BackendRun(HTTPProbeMonitor(options, transport: transport))
        try await transport.waitForRequests(3)
        let limits = transport.requests.prefix(3).map(\.timeouts.connect)
        #expect(limits == [options.timeout, .seconds(3), options.timeout])
        try await run.stop()
    }

    @Test func onAMeteredPathRoundsAreATenth() {
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var schedule = Self.schedule(now: now)
        func pause(_ result: ProbeOutcome.Result) -> Duration {
            let round = ProbeRound(outcomes: [ProbeOutcome(target: "a", result: result)], isComplete: true)
            schedule.ended(round, isMetered: true, jitter: 0.5, now: now)
            return schedule.next(now: now) - now
        }
        #expect(pause(.expected) == .seconds(3_000))
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] { #expect(pause(.timedOut) == .seconds(expected)) }
        #expect(pause(.expected) == .seconds(3_000))
        for expected in [2, 4, 8, 10] { #expect(pause(.portal) == .seconds(expected), "a sign-in is noticed") }
    }

    /// While nothing comes back a connection has a short time, which is how often Linux sends a SYN.
    @Test func silenceIsNotWaitedForLong() async throws {
        let transport = ScriptedTransport(.failure(.connectTimedOut, .notSent))
        let run = BackendRun(HTTPProbeMonitor(Self.options, transport: transport))
        try await transport.waitForRequests(2)
        #expect(transport.requests.prefix(2).map(\.timeouts.connect) == [.seconds(10), .seconds(3)])
        try await run.stop()
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
