// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// Takeover never lies: a status is lowered by reports, never by silence.
@Suite struct TakeoverTests {
    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
    private let online = Evidence.online(Self.eth0)
    private let moved = Evidence.online(.wired("eth1", 3).with("198.51.100.7/24"))
    /// The interface is well, and there is no route.
    private let noRoute = Evidence.seeing(.loopback(), Self.eth0)
    private let noLink = Evidence.noLink
    private let wifiWaits = Evidence.seeing(NetworkInterface.wifi("wlan0", 4).withoutCarrier())

    private func partial(_ evidence: Evidence) -> Evidence {
        evidence.changed { $0.isPartial = true }
    }

    /// The superior said it is online and broke; the other one runs.
    private func takenOver(_ second: BackendMode = .active) -> CoordinatorHarness {
        var harness = CoordinatorHarness(.active, second)
        harness.start()
        harness.report(0, self.online)
        if second == .active { harness.report(1, self.noRoute) }
        harness.end(0)
        return harness
    }

    @Test func thePathStaysUntilTheSuccessorHasLookedAgain() {
        var harness = self.takenOver()
        #expect(harness.path?.isStale == true)
        #expect(harness.path?.status == .satisfied)
        #expect(harness.refreshed.suffix(1) == [1])
        harness.report(1, self.moved)
        #expect(harness.path?.interfaces.map(\.name) == ["eth1"])
        #expect(harness.path?.isStale == false)
    }

    @Test func whoSeesOnlyAPartLowersOnlyOnEvidenceAboutTheInterface() {
        for mode in [BackendMode.active, .standby] {
            var harness = self.takenOver(mode)
            harness.report(1, self.partial(self.noRoute))
            harness.advance(by: .milliseconds(1_500))
            harness.report(1, self.partial(self.noRoute))
            #expect(harness.path?.status == .satisfied)
            #expect(harness.path?.isStale == true)
            harness.report(0, self.online)
            #expect(harness.path?.isStale == false)
            #expect(harness.published.allSatisfy { $0.status == .satisfied })
        }
    }

    /// A backend that asks the kernel and has looked since is not outdated.
    @Test func aWholeNoDecidesWhereTheOtherDoesNotComeBack() {
        for mode in [BackendMode.active, .standby] {
            var harness = self.takenOver(mode)
            harness.report(1, self.noRoute)
            #expect(harness.path?.status == .satisfied, "a backend that ended may be back at once")
            harness.advance(by: .milliseconds(749))
            #expect(harness.path?.isStale == true)
            harness.advance(by: .milliseconds(1))
            #expect(harness.path?.status == .unsatisfied)
            #expect(harness.path?.reason.code == .noRoute)
            #expect(harness.path?.isStale == false)
        }
    }

    @Test func whoIsBackInTimeLowersNothing() {
        var harness = self.takenOver()
        harness.report(1, self.noRoute)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.online)
        harness.advance(by: .seconds(60))
        #expect(harness.published.allSatisfy { $0.status == .satisfied })
        #expect(harness.machine.nextDeadline == nil, "idle means idle")
    }

    @Test func aWordThatIsWithdrawnCountsNoMore() {
        for mode in [BackendMode.active, .standby] {
            var harness = CoordinatorHarness(.active, mode)
            harness.start()
            harness.report(0, self.online)
            if mode == .active { harness.report(1, self.noRoute) }
            harness.reportUnavailable(0, "modem0 does not answer")
            #expect(harness.path?.isStale == true)
            harness.report(1, self.noRoute)
            #expect(harness.path?.status == .unsatisfied)
            #expect(harness.path?.isStale == false)
        }
    }

    @Test func evidenceAboutTheInterfaceItselfLowers() {
        let down = NetworkInterface.wired("eth0", 2).down()
        for no in [self.noLink, .seeing(.loopback(), down), .seeing(.loopback())] {
            for no in [no, self.partial(no)] {
                var harness = self.takenOver(.standby)
                harness.report(1, no)
                #expect(harness.path?.status == .unsatisfied)
                #expect(harness.path?.isStale == false)
                #expect(harness.path?.reason == harness.machine.snapshots[1].verdict?.reason)
            }
        }
    }

    @Test func evidenceOlderThanThePathDoesNotLower() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(1, self.noLink)
        harness.report(0, self.online.changed { $0.observedAt = $0.observedAt + .seconds(1) })
        harness.end(0)
        harness.report(1, self.noLink)
        #expect(harness.path?.status == .satisfied, "read before the superior spoke, told after")
        harness.report(1, self.noLink.changed { $0.observedAt = $0.observedAt + .seconds(2) })
        #expect(harness.path?.status == .unsatisfied)
    }

    private func read(_ evidence: Evidence, at time: MonotonicTime) -> Evidence {
        evidence.changed { $0.observedAt = time }
    }

    /// A slow reading comes after the refresh was asked for, and is of the time before.
    @Test func aReadingThatWasUnderWayConfirmsNothing() {
        for (said, late) in [(self.online, self.noLink), (self.noLink, self.online)] {
            var harness = CoordinatorHarness(.active, .active)
            harness.start()
            for backend in [0, 1, 0] { harness.report(backend, self.read(said, at: harness.now)) }
            harness.advance(by: .seconds(10))
            let began = harness.now
            harness.advance(by: .seconds(1))
            harness.report(0, self.read(said, at: harness.now))
            harness.end(0)
            let status = harness.path?.status
            harness.report(1, self.read(late, at: began))
            #expect(harness.path?.status == status)
            #expect(harness.path?.isStale == true)
            harness.advance(by: .milliseconds(100))
            harness.report(1, self.read(late, at: harness.now))
            #expect(harness.path?.status != status)
            #expect(harness.path?.isStale == false)
        }
    }

    /// It answered at last, with what it saw before others saw something else.
    @Test func aStuckReadingIsNoWayBack() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        harness.report(0, self.read(self.online, at: harness.now))
        harness.advance(by: .seconds(10))
        harness.refresh()
        let began = harness.now + .milliseconds(1)
        harness.advance(by: .seconds(1))
        harness.report(1, self.read(self.noLink, at: harness.now))
        #expect(harness.path?.status == .unsatisfied)
        harness.advance(by: .seconds(1))
        let asked = harness.refreshed.count
        harness.report(0, self.read(self.online, at: began))
        #expect(harness.health == [.healthy, .healthy])
        #expect(harness.path?.status == .unsatisfied)
        #expect(harness.refreshed.dropFirst(asked) == [0], "it is asked what there is now")
        harness.report(0, self.read(self.online, at: harness.now))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.cancelled == [1])
    }

    /// Nobody has looked since, so it is the newest there is.
    @Test func aStuckReadingIsWelcomeWhereNobodyKnowsBetter() {
        var harness = CoordinatorHarness(.active)
        harness.start()
        harness.report(0, self.read(self.online, at: harness.now))
        harness.advance(by: .seconds(10))
        harness.refresh()
        let began = harness.now
        harness.advance(by: .seconds(3))
        #expect(harness.path?.isStale == true)
        harness.report(0, self.read(self.noLink, at: began))
        #expect(harness.path?.status == .unsatisfied)
    }

    /// Who stamps by another clock, or not at all, takes over and comes back all the same.
    @Test func timesThatMeanNothingKeepNobodyFromTakingOver() {
        let epoch = MonotonicTime(nanoseconds: 0)
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        for backend in [0, 1, 0] { harness.report(backend, self.read(self.online, at: epoch)) }
        harness.advance(by: .seconds(10))
        harness.end(0)
        harness.report(1, self.read(self.moved, at: epoch))
        #expect(harness.path?.interfaces.map(\.name) == ["eth1"])
        #expect(harness.path?.isStale == false)

        var other = CoordinatorHarness(.active, .active)
        other.start()
        for backend in [0, 1, 0] { other.report(backend, self.online) }
        other.advance(by: .seconds(10))
        other.refresh()
        other.report(1, self.read(self.online, at: other.now))
        other.advance(by: .seconds(2))
        other.report(1, self.read(self.online, at: other.now))
        var words = 0
        while other.machine.snapshots[0].verdict == nil || other.health[0] != .healthy {
            words += 1
            other.report(0, self.read(self.online, at: CoordinatorHarness.origin + .nanoseconds(words)))
            guard words < 100 else { break }
        }
        #expect(words == 9)
        #expect(other.path?.isStale == false)
    }

    @Test func theSuccessorMayRaiseAndItsOwnPathFallsByTheSameRule() {
        var harness = self.takenOver(.standby)
        harness.report(1, self.partial(self.noLink))
        harness.report(1, self.partial(self.moved))
        #expect(harness.published.suffix(2).map(\.status) == [.unsatisfied, .satisfied])
        harness.report(1, self.partial(.seeing(.wired("eth1", 3).with("198.51.100.7/24"))))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        harness.report(1, self.partial(.seeing(NetworkInterface.wired("eth1", 3).withoutCarrier())))
        #expect(harness.path?.status == .unsatisfied)
    }

    @Test func aStepToTakeIsNoEvidenceAgainstWaitingForIt() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.wifiWaits)
        harness.end(0)
        let wlan = NetworkInterface.wifi("wlan0", 4).withoutCarrier()
        harness.report(1, self.partial(.seeing(wlan).answering(.ipv4, .rejected(.unreachable))))
        #expect(harness.path?.status == .requiresConnection)
        harness.report(1, self.noLink)
        #expect(harness.path?.status == .unsatisfied, "the interface is gone")
    }

    @Test func theReturnedSuperiorDecidesAtOnce() {
        var harness = self.takenOver(.standby)
        harness.report(1, self.online)
        harness.advance(by: .milliseconds(250))
        harness.report(0, self.noRoute)
        #expect(harness.path?.status == .unsatisfied)
        #expect(harness.path?.reason.code == .noRoute)
        #expect(harness.cancelled == [1])
    }

    @Test func aFlappingSuperiorNeverMeansOffline() {
        var harness = CoordinatorHarness(.active, .standby)
        harness.start()
        for _ in 0..<200 {
            if harness.running.contains(0) { harness.report(0, self.online) }
            harness.advance(by: .milliseconds(50))
            if harness.running.contains(0) { harness.end(0) }
            if harness.running.contains(1) { harness.report(1, self.partial(self.noRoute)) }
            if !harness.running.contains(0) { harness.advance(by: .seconds(1)) }
            if harness.cancelled.last == 1, harness.running.contains(1) { harness.end(1) }
        }
        #expect(harness.published.allSatisfy { $0.status == .satisfied })
    }

    @Test func everythingDeadKeepsThePath() {
        var harness = CoordinatorHarness(.active, .active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.online)
        for index in 0..<3 { harness.end(index) }
        harness.advance(by: .milliseconds(200))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
        #expect(harness.health == [.unhealthy, .unhealthy, .unhealthy])
    }

    @Test(arguments: MergePolicy.allCases)
    func noDeathLowersUnderAnyPolicy(policy: MergePolicy) {
        for dead in 0..<3 {
            var harness = CoordinatorHarness(.active, .active, .active, merge: policy)
            harness.start()
            for (index, word) in [self.online, self.online, self.noRoute].enumerated() { harness.report(index, word) }
            let status = harness.path?.status
            harness.end(dead)
            for _ in 0..<2 {
                for index in 0..<3 where index != dead {
                    harness.report(index, index == 2 ? self.noRoute : self.online)
                }
                harness.advance(by: .seconds(1))
            }
            #expect(harness.published.last.map { $0.status >= status ?? .satisfied } == true)
        }
    }

    @Test func aPartialNoNeverLowersAStrongerWord() {
        for policy in MergePolicy.allCases {
            var harness = CoordinatorHarness(.active, .active, merge: policy)
            harness.start()
            harness.report(0, self.online)
            harness.report(1, self.partial(self.noRoute))
            #expect(harness.path?.status == .satisfied)
            #expect(harness.path?.disagreements.map(\.backend) == ["b1"], "it is told, and does not count")
            harness.report(0, self.online.unanswered(.ipv4))
            harness.report(1, self.partial(self.noRoute))
            #expect(harness.path?.status == .satisfied)
            #expect(harness.path?.isStale == true)
        }
    }

    @Test func aPartialNoCountsWhereNobodyStrongerEverSpoke() {
        var alone = CoordinatorHarness(.active)
        alone.start()
        alone.report(0, self.partial(self.noRoute))
        #expect(alone.path?.status == .unsatisfied)

        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(1, self.partial(self.noRoute))
        harness.advance(by: .milliseconds(1999))
        #expect(harness.published.isEmpty, "a stronger one may still speak")
        harness.advance(by: .milliseconds(1))
        #expect(harness.path?.status == .unsatisfied)
    }
}
