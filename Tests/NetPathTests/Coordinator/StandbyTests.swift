// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// Who runs when.
@Suite struct StandbyTests {
    private let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))

    @Test func aStandbyRunsOnlyWhileItsSuperiorIsUnhealthy() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        #expect(harness.running == [0])
        #expect(harness.health == [.starting, .standby])
        harness.report(0, self.online)
        harness.end(0)
        #expect(harness.running == [1], "the moment the superior failed")
        #expect(harness.health == [.unhealthy, .starting])
        harness.report(1, self.online)
        #expect(harness.path?.isStale == false)
        harness.advance(by: .milliseconds(250))
        #expect(harness.running == [0, 1])
        #expect(harness.cancelled == [], "a run is not yet a word")
        harness.report(0, self.online)
        #expect(harness.cancelled == [1])
        #expect(harness.health == [.healthy, .standby])
        #expect(harness.machine.snapshots[1].evidence == nil, "its word says nothing any more")
        harness.end(1, "cancelled")
        #expect(harness.running == [0])
        #expect(harness.warnings == ["broke; it will be started again"], "an end on request is no failure")
        #expect(harness.machine.nextDeadline == nil, "idle means idle")
        #expect(harness.published.allSatisfy { $0.status == .satisfied })
    }

    @Test func aFailureIsSaidOnceAndNotAtEachAttempt() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        for pause in [250, 500, 1_000] {
            harness.end(0)
            harness.advance(by: .milliseconds(pause))
            #expect(harness.running == [0])
        }
        #expect(harness.warnings == ["broke; it will be started again"])
        harness.end(0, "is another trouble")
        harness.advance(by: .seconds(2))
        harness.report(0, self.online)
        harness.end(0, "is another trouble")
        #expect(harness.warnings.count == 3, "it was well in between")
    }

    @Test func silenceCallsTheStandbyToo() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.advance(by: .milliseconds(1999))
        #expect(harness.running == [0])
        harness.advance(by: .milliseconds(1))
        #expect(harness.running == [0, 1])
        harness.report(0, self.online)
        #expect(harness.cancelled == [1], "a late report ends it before its first")
    }

    @Test func everySuperiorCounts() {
        var harness = CoordinatorHarness(.active, .off, .standby, .standby)
        harness.start()
        harness.end(0)
        #expect(harness.running == [2], "the second standby stays behind the first")
        #expect(harness.health == [.unhealthy, .off, .starting, .standby])
        harness.end(2)
        #expect(harness.running == [3])
        harness.advance(by: .milliseconds(500))
        harness.report(2, self.online)
        #expect(harness.cancelled == [3])
        #expect(harness.running.contains(0) && harness.running.contains(2))
        harness.report(0, self.online)
        #expect(harness.cancelled == [3, 2])
    }

    @Test func theFirstOfNothingButStandbysRuns() {
        var harness = CoordinatorHarness(.off, .standby, .standby)
        harness.start()
        #expect(harness.running == [1])
        #expect(harness.health == [.off, .starting, .standby])
    }

    private static let answered = Evidence.probing(ProbeOutcome(target: "a:1", result: .connected))
    private static let remote: Evidence = {
        var conclusion = Conclusion(.satisfied, PathReason(.stated, "online"))
        conclusion.host = "router"
        return .stating(conclusion)
    }()

    /// A healthy probe does not see interfaces, so it is no reason to go without a backend that does.
    @Test(arguments: [Self.answered, Self.remote])
    func aProbeKeepsNoStandbyFromRunning(word: Evidence) {
        var harness = CoordinatorHarness(.active, .active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, word)
        harness.end(0)
        #expect(harness.running == [1, 2])

        var alone = CoordinatorHarness(.active, .standby)
        alone.start()
        alone.report(0, word)
        #expect(alone.running == [0, 1], "though it is the only superior")
        alone.report(1, .noLink)
        #expect(alone.path?.status == .unsatisfied)
        alone.report(0, word)
        #expect(alone.cancelled.isEmpty, "a cable that is pulled is seen")
        alone.report(1, self.online)
        #expect(alone.path?.reason.code == .routed)
    }

    /// What a standby is good for shows when it runs; one that only probes is not needed beside another probe.
    @Test func aProbeThatProbesStandsBy() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, Self.answered)
        #expect(harness.running == [0, 1])
        harness.report(1, Self.answered)
        #expect(harness.cancelled == [1])
        harness.end(1, "cancelled")
        harness.report(0, Self.answered)
        #expect(harness.running == [0], "what it is is remembered")
        harness.end(0)
        #expect(harness.running == [1])
    }

    @Test func aSuperiorWithoutAnOpinionDoesNotSendTheStandbyAway() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.end(0)
        harness.report(1, self.online)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.online.unanswered(.ipv4))
        #expect(harness.cancelled.isEmpty)
        harness.report(1, self.online)
        #expect(harness.path?.isStale == false)
    }

    /// A backend may be well and get no answers: somebody else may.
    @Test func whoKnowsNothingForLongIsNoReasonToStandBy() {
        let unsure = self.online.unanswered(.ipv4)
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, unsure)
        harness.advance(by: .milliseconds(499))
        #expect(harness.running == [0])
        harness.advance(by: .milliseconds(1))
        #expect(harness.running == [0, 1])
        #expect(harness.health == [.healthy, .starting])
        harness.report(1, self.online)
        #expect(harness.path?.status == .satisfied)
        harness.report(0, unsure)
        #expect(harness.cancelled.isEmpty)
        #expect(harness.machine.nextDeadline == nil, "idle means idle")
        harness.report(0, self.online)
        #expect(harness.cancelled == [1])
        harness.end(1, "cancelled")

        harness.report(0, unsure)
        #expect(harness.path?.isStale == true)
        harness.advance(by: .milliseconds(499))
        harness.report(0, self.online)
        harness.advance(by: .seconds(60))
        #expect(harness.generations[1] == 1, "a short doubt calls nobody")
        #expect(harness.published.allSatisfy { $0.status == .satisfied })
    }

    @Test func theNextStandbyIsCalledWhenTheFirstKnowsNothingEither() {
        var harness = CoordinatorHarness(.active, .standby, .standby)
        harness.start()
        harness.end(0)
        harness.report(1, self.online.unanswered(.ipv4))
        harness.advance(by: .seconds(2))
        #expect(harness.running.isSuperset(of: [1, 2]))
        harness.report(2, self.online)
        harness.report(1, self.online)
        #expect(harness.cancelled == [2])
    }

    @Test func whoIsPutOnStandbyBelowAnIgnorantOneIsCalledAtOnce() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online.unanswered(.ipv4))
        #expect(harness.machine.nextDeadline == nil, "there is nobody to call")
        harness.advance(by: .seconds(60))
        harness.apply([("b0", .active), ("b1", .standby)], keeping: ["b0"])
        #expect(harness.running == [0, 1])
    }

    @Test func neededAgainWhileItStillEnds() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.end(0)
        harness.report(1, self.online)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.online)
        harness.end(0)
        #expect(harness.running == [1], "the old run, which has to end first")
        #expect(harness.health == [.unhealthy, .starting])
        harness.report(1, .noLink)
        #expect(harness.health[1] == .starting, "a word of a run that was given up")
        harness.end(1, "cancelled")
        #expect(harness.running == [1])
        #expect(harness.generations[1] == 2)
        harness.report(1, self.online)
        #expect(harness.path?.isStale == false)
    }

    @Test func aStandbyThatBrokeIsStartedAgainWhileItIsNeeded() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.end(0, jitter: 0.9)
        harness.end(1)
        harness.advance(by: .milliseconds(250))
        #expect(harness.running == [1])
        harness.end(1)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.online)
        #expect(harness.health == [.healthy, .standby])
        harness.advance(by: .seconds(60))
        #expect(harness.running == [0], "it was waiting to be started, and is not any more")
    }

    // MARK: Cancelling what does not speak

    @Test func aWedgedBackendIsCancelledAndStartedAgain() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.refresh()
        harness.advance(by: .milliseconds(5999))
        #expect(harness.health == [.unhealthy])
        #expect(harness.cancelled.isEmpty)
        harness.advance(by: .milliseconds(1))
        #expect(harness.cancelled == [0])
        harness.report(0, self.online)
        #expect(harness.health == [.unhealthy], "too late")
        harness.end(0, "cancelled")
        #expect(harness.machine.snapshots[0].report.error == "did not answer a refresh within 1 s")
        harness.advance(by: .milliseconds(250))
        #expect(harness.running == [0])
        harness.advance(by: .seconds(2))
        #expect(harness.machine.snapshots[0].report.error == "no first report within 2 s")
        harness.advance(by: .seconds(5))
        #expect(harness.cancelled == [0, 0])
        #expect(harness.published.map(\.status) == [.satisfied, .satisfied, .satisfied])
    }

    @Test func whoIgnoresCancellationIsSaidToDoSo() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.advance(by: .seconds(7))
        #expect(harness.cancelled == [0])
        harness.advance(by: .seconds(2))
        #expect(harness.machine.snapshots[0].report.error == "did not end within 2 s of being cancelled")
        #expect(harness.warnings == ["did not end within 2 s of being cancelled"])
        harness.advance(by: .seconds(3600))
        #expect(harness.cancelled == [0], "once is enough")
        #expect(harness.machine.nextDeadline == nil)
        harness.end(0)
        harness.advance(by: .milliseconds(250))
        #expect(harness.running == [0])
    }

    // MARK: Subscribers that take long

    @Test func whoIsHeldUpByASubscriberIsNotSilent() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.hold(0)
        harness.refresh()
        harness.advance(by: .seconds(100))
        #expect(harness.health == [.healthy])
        harness.release(0)
        harness.advance(by: .milliseconds(999))
        #expect(harness.health == [.healthy], "it has the whole time to answer")
        harness.advance(by: .milliseconds(1))
        #expect(harness.health == [.unhealthy])
        harness.hold(0)
        harness.advance(by: .seconds(100))
        #expect(harness.cancelled.isEmpty)
        harness.release(0)
        harness.advance(by: .seconds(5))
        #expect(harness.cancelled == [0])
        harness.hold(0)
        harness.advance(by: .seconds(100))
        #expect(harness.warnings.isEmpty, "it cannot end")
        harness.release(0)
        harness.advance(by: .seconds(2))
        #expect(harness.warnings == ["did not end within 2 s of being cancelled"])
    }

    @Test func theEndOfAnEarlierRunsCallMeansNothing() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.online)
        harness.hold(0)
        harness.end(0)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.online)
        harness.hold(0)
        harness.refresh()
        harness.release(0, generation: 1)
        harness.advance(by: .seconds(100))
        #expect(harness.health == [.healthy])
    }

    // MARK: Not running ourselves

    /// After SIGSTOP every deadline is overdue at once, and nobody had a chance to speak.
    @Test func whoWasStoppedWithUsGetsAChanceToSpeak() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        harness.refresh()
        harness.sleep(for: .seconds(3600))
        harness.wake()
        #expect(harness.health == [.healthy, .healthy])
        harness.report(0, self.online)
        harness.advance(by: .milliseconds(999))
        #expect(harness.health == [.healthy, .healthy])
        harness.advance(by: .milliseconds(1))
        #expect(harness.health == [.healthy, .unhealthy], "one more chance, not two")
        harness.report(1, self.online)
        harness.advance(by: .seconds(60))
        #expect(harness.machine.nextDeadline == nil)
    }

    @Test func aGraceThatEndedWhileWeSleptIsCheckedFirst() {
        let waiting = NetworkInterface.wired("eth0", 2).expectingAddress(since: CoordinatorHarness.origin)
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, .seeing(waiting))
        harness.sleep(for: .seconds(600))
        harness.wake()
        #expect(harness.refreshed == [0])
        #expect(harness.path?.status == .requiresConnection)
        harness.report(0, self.online)
        harness.advance(by: .seconds(60))
        #expect(harness.published.map(\.status) == [.requiresConnection, .satisfied])
    }
}
