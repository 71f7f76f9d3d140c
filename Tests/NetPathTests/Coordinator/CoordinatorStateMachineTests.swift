// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct CoordinatorStateMachineTests {
    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
    private let online = Evidence.online(Self.eth0)
    private let moved = Evidence.online(.wired("eth1", 3).with("198.51.100.7/24"))
    private let noLink = Evidence.noLink

    // MARK: Start

    @Test func startRunsWhatIsActive() {
        var harness = CoordinatorHarness(.active, .off, .active)
        #expect(harness.machine.nextDeadline == nil)
        harness.start()
        #expect(harness.running == [0, 2])
        #expect(harness.health == [.starting, .off, .starting])
        #expect(harness.published.isEmpty)
    }

    @Test func nothingToRunIsNothingToDo() {
        var harness = CoordinatorHarness(.off)
        harness.start()
        harness.refresh()
        harness.wake()
        #expect(harness.machine.nextDeadline == nil)
        #expect(harness.published.isEmpty)
    }

    // MARK: First publication

    @Test func theMostImportantBackendIsPublishedAtOnce() throws {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        let path = try #require(harness.path)
        #expect(path.status == .satisfied)
        #expect(path.sequence == 1)
        #expect(path.backends.map(\.health) == [.healthy, .starting])
        #expect(path.backends.first?.reportedAt == harness.now)
    }

    @Test func theFirstPublicationWaitsForTheMostImportantBackend() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(1, self.noLink)
        harness.advance(by: .milliseconds(199))
        #expect(harness.published.isEmpty)
        harness.report(0, self.online)
        #expect(harness.published.map(\.status) == [.satisfied])
    }

    @Test func theFirstPublicationWaitsAtMost200Milliseconds() {
        var harness = CoordinatorHarness(.off, .active, .active)
        harness.start()
        harness.advance(by: .milliseconds(100))
        harness.report(2, self.noLink)
        harness.advance(by: .milliseconds(99))
        #expect(harness.published.isEmpty)
        harness.advance(by: .milliseconds(1))
        #expect(harness.published.map(\.status) == [.unsatisfied])
        #expect(harness.elapsed == .milliseconds(200))
    }

    @Test func theFirstPublicationDoesNotWaitForABrokenBackend() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(1, self.online)
        #expect(harness.published.isEmpty)
        harness.end(0)
        #expect(harness.published.map(\.status) == [.satisfied])
    }

    @Test func noVerdictIsNoPath() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online.unanswered(.ipv4))
        harness.advance(by: .seconds(60))
        harness.end(0)
        harness.advance(by: .seconds(60))
        #expect(harness.published.isEmpty)
    }

    @Test func anOpinionLostBeforeTheFirstPublicationIsNoBusyLoop() {
        var harness = CoordinatorHarness(.active, .active, .active)
        harness.start()
        harness.report(1, self.online)
        harness.report(2, .probing(ProbeOutcome(target: "a:1", result: .timedOut)))
        harness.end(1)
        harness.end(0)
        harness.advance(by: .milliseconds(240))
        #expect(harness.published.isEmpty)
    }

    // MARK: Silence

    @Test func silenceIsAFailureAfterTwoSeconds() throws {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(1, self.online)
        harness.advance(by: .milliseconds(1999))
        #expect(harness.health == [.starting, .healthy])
        harness.advance(by: .milliseconds(1))
        #expect(harness.health == [.unhealthy, .healthy])
        #expect(harness.running.contains(0), "it may still come round")
        #expect(try #require(harness.path).backends.first?.error == "no first report within 2 s")
        harness.advance(by: .milliseconds(4999))
        harness.report(0, self.moved)
        #expect(harness.health == [.healthy, .healthy])
        #expect(harness.path?.interfaces.map(\.name) == ["eth1"])
        #expect(harness.path?.backends.first?.error == nil)
    }

    @Test func anUnansweredRefreshIsAFailureAfterOneSecond() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.advance(by: .seconds(100))
        harness.refresh()
        harness.advance(by: .milliseconds(600))
        harness.refresh()
        harness.advance(by: .milliseconds(399))
        #expect(harness.health == [.healthy])
        harness.advance(by: .milliseconds(1))
        #expect(harness.health == [.unhealthy])
        #expect(harness.refreshed == [0, 0])
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        #expect(harness.path?.backends.first?.error == "did not answer a refresh within 1 s")
    }

    @Test func anAnswerThatSaysTheSameIsEnough() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.refresh()
        harness.advance(by: .milliseconds(999))
        harness.report(0, self.online.changed { $0.observedAt = $0.observedAt + .seconds(1) })
        harness.advance(by: .seconds(60))
        #expect(harness.health == [.healthy])
        #expect(harness.published.count == 1)
        #expect(harness.machine.nextDeadline == nil, "idle means idle")
    }

    @Test func aChangeAsksTheOthersAndAnAnswerDoesNot() {
        var harness = CoordinatorHarness(.active, .active, .off)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        harness.report(0, self.online)
        harness.advance(by: .seconds(10))
        #expect(harness.refreshed == [1, 0])
        harness.report(0, self.noLink)
        #expect(harness.refreshed == [1, 0, 1])
        harness.report(1, self.online)
        #expect(harness.refreshed == [1, 0, 1], "nothing new, nobody to ask")
        harness.report(0, self.noLink)
        #expect(harness.refreshed == [1, 0, 1])
        #expect(harness.machine.nextDeadline == nil)
    }

    @Test func whatAProbeFoundAsksNobody() {
        let answered = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected))
        let failed = Evidence.probing(ProbeOutcome(target: "a:1", result: .timedOut))
        var harness = CoordinatorHarness(.active, .active, .active)
        harness.start()
        for backend in [1, 2, 1, 2] {
            harness.report(backend, answered)
            harness.report(backend, failed)
        }
        #expect(harness.refreshed.isEmpty)
        // One that sees interfaces too asks because of them, not because of its probes.
        harness.report(0, self.online)
        #expect(harness.refreshed == [1, 2])
        harness.report(0, self.online.changed { $0.probes = answered.probes })
        #expect(harness.refreshed == [1, 2])
        harness.report(0, self.online.changed { $0.dnsServers = [DNSServer(InternetAddress(ipv4: 0xC000_0235))] })
        #expect(harness.refreshed == [1, 2, 1, 2])
    }

    /// A refresh is answered by a new round, or by the last one, whose age is told.
    @Test func whatAProbeTellsAgainIsAsOldAsItIs() {
        let ended = CoordinatorHarness.origin
        let round = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected), at: ended)
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, round)
        harness.advance(by: .seconds(10))
        harness.refresh()
        harness.report(0, round)
        #expect(harness.health == [.healthy])
        #expect(harness.machine.snapshots[0].report.reportedAt == harness.now)
        #expect(harness.machine.snapshots[0].report.observedAt == ended)
        #expect(harness.path?.observedAt == ended)
    }

    @Test func aResumptionAsksTheOthersEvenWhenNothingChanged() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, .probing(ProbeOutcome(target: "a:1", result: .connected)))
        #expect(harness.refreshed == [1])
        let resumed = self.online.changed { $0.suspensions = 1 }
        harness.report(0, resumed)
        #expect(harness.refreshed == [1, 1])
        harness.report(0, resumed)
        #expect(harness.refreshed == [1, 1], "once for each")
        #expect(harness.published.count == 2, "nothing changed but the internet at the beginning")
        // A new run counts from the beginning.
        harness.end(0)
        harness.advance(by: .seconds(1))
        harness.report(1, .probing(ProbeOutcome(target: "a:1", result: .connected)))
        let asked = harness.refreshed.count
        harness.report(0, self.online)
        #expect(harness.refreshed.count == asked)
    }

    @Test func aWedgedBackendIsFoundAtTheNextEventOfAnother() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        harness.report(0, self.online)
        harness.advance(by: .seconds(3600))
        #expect(harness.health == [.healthy, .healthy])
        harness.report(1, self.noLink)
        #expect(harness.path?.status == .satisfied)
        harness.advance(by: .seconds(1))
        #expect(harness.health == [.unhealthy, .healthy])
        #expect(harness.path?.status == .satisfied, "who takes over has to look again")
        #expect(harness.path?.isStale == true)
        harness.report(1, self.noLink)
        #expect(harness.path?.status == .unsatisfied)
    }

    // MARK: Failure and recovery

    @Test func theLastPathStaysAndIsMarked() throws {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        let before = try #require(harness.path)
        harness.end(0, "the socket is gone")
        let stale = try #require(harness.path)
        #expect(stale.isStale)
        #expect(stale.status == .satisfied)
        #expect(stale.interfaces == before.interfaces)
        #expect(stale.backends.first?.error == "the socket is gone")
        harness.advance(by: .milliseconds(250))
        #expect(harness.published.count == 2, "starting again is no change")
        harness.report(0, self.online)
        #expect(harness.path?.isStale == false)
        #expect(harness.path == before)
        #expect(harness.path?.backends.first?.restarts == 1)
        #expect(harness.published.map(\.sequence) == [1, 2, 3])
    }

    @Test func losingTheOpinionKeepsTheLastPath() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.report(0, self.online.unanswered(.ipv4))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        #expect(harness.health == [.healthy])
    }

    @Test func anEndWithoutErrorIsAFailureToo() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.end(0, nil)
        #expect(harness.machine.snapshots.first?.report.error == "ended without being asked to")
    }

    @Test func delaysDoubleUpToACeilingAndStartOverAfterALongRun() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        for expected in [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000] {
            harness.end(0)
            #expect(harness.machine.nextDeadline == harness.now + .milliseconds(expected))
            harness.advance(by: .milliseconds(expected - 1))
            #expect(harness.running.isEmpty)
            harness.advance(by: .milliseconds(1))
            #expect(harness.running == [0])
        }
        harness.advance(by: .milliseconds(9999))
        harness.end(0)
        #expect(harness.machine.nextDeadline == harness.now + .seconds(15), "not settled yet")
        harness.advance(by: .seconds(15))
        harness.advance(by: .seconds(10))
        harness.end(0)
        #expect(harness.machine.nextDeadline == harness.now + .milliseconds(250))
    }

    @Test func lateWordsOfAnEarlierRunAreIgnored() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.end(0)
        harness.report(0, self.noLink)
        #expect(harness.path?.isStale == true, "it does not run")
        harness.advance(by: .seconds(1))
        harness.report(0, self.noLink, generation: 1)
        harness.end(0, generation: 1)
        #expect(harness.running == [0])
        #expect(harness.path?.status == .satisfied)
        harness.report(0, self.moved, generation: 2)
        #expect(harness.path?.interfaces.map(\.name) == ["eth1"])
        harness.end(0)
        harness.end(0)
        #expect(harness.machine.nextDeadline == harness.now + .milliseconds(500), "one run ends once")
    }

    // MARK: Time

    @Test func aGraceEndsOnTime() {
        let waiting = NetworkInterface.wired("eth0", 2).expectingAddress(since: CoordinatorHarness.origin)
        var harness = CoordinatorHarness(
            .active,
            evaluation: EvaluationPolicy(configurationGrace: .seconds(45))
        )
        harness.start()
        harness.report(0, .seeing(waiting))
        #expect(harness.path?.status == .requiresConnection)
        #expect(harness.machine.nextDeadline == CoordinatorHarness.origin + .seconds(45))
        harness.advance(by: .seconds(44))
        #expect(harness.published.count == 1)
        harness.advance(by: .seconds(1))
        #expect(harness.published.map(\.reason.code) == [.configuringAddress, .noAddress])
        #expect(harness.machine.nextDeadline == nil)
    }

    @Test func graceOfABrokenBackendIsNoBusyLoop() {
        let waiting = NetworkInterface.wired("eth0", 2).expectingAddress(since: CoordinatorHarness.origin)
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, .seeing(waiting))
        harness.advance(by: .seconds(44))
        harness.end(0)
        harness.advance(by: .seconds(10))
        #expect(harness.path?.status == .requiresConnection, "a broken backend has no verdict")
    }

    @Test func aWakeUpForNothingDoesNothing() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        for _ in 0..<3 { harness.wake() }
        #expect(harness.published.count == 1)
        #expect(harness.refreshed.isEmpty)
    }
}

@Suite struct RestartBackoffTests {
    @Test(arguments: zip(0...12, [250, 500, 1000, 2000, 4000, 8000] + Array(repeating: 15_000, count: 7)))
    func jitterAtMostDoublesTheDelay(attempt: Int, floor: Int) {
        #expect(RestartBackoff.delay(attempt: attempt, jitter: 0) == .milliseconds(floor))
        #expect(RestartBackoff.delay(attempt: attempt, jitter: 0.5) == .milliseconds(floor + floor / 2))
        let longest = RestartBackoff.delay(attempt: attempt, jitter: 1.0.nextDown)
        #expect(longest <= .milliseconds(2 * floor) && longest > .milliseconds(2 * floor - 2))
        #expect(longest <= .seconds(30))
    }

    @Test func anyNumberOfAttemptsIsFine() {
        #expect(RestartBackoff.delay(attempt: .max, jitter: 0) == .seconds(15))
    }
}
