// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// What a backend states of interfaces that others see adds to their word, and is no word of its own on the path.
@Suite struct InterfaceFactsTests {
    private let online = Evidence.online(.wifi("wlan0", 3).with("192.0.2.7/24"))
    private let unassociated = Evidence.seeing(NetworkInterface.wifi("wlan0", 3).withoutCarrier())

    private func stating(_ name: String = "wlan0", _ change: (inout InterfaceFacts) -> Void) -> Evidence {
        var facts = InterfaceFacts(name)
        change(&facts)
        var evidence = Evidence(at: CoordinatorHarness.origin)
        evidence.facts = [facts]
        return evidence
    }

    /// What netlink and a supplicant say, in one order or the other.
    @Test(arguments: [[0, 1], [1, 0]])
    func factsAddToWhatIsSeen(order: [Int]) throws {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        let facts = self.stating {
            $0.type = .cellular
            $0.isConstrained = true
            $0.label = "LTE, roaming"
        }
        for backend in order { harness.report(backend, backend == 0 ? self.online : facts) }
        let path = try #require(harness.path)
        #expect(path.status == .satisfied && path.statedBy == nil && path.disagreements.isEmpty)
        #expect(path.interfaces.map(\.type) == [.cellular])
        #expect(path.isExpensive, "a cellular interface costs money")
        #expect(path.isConstrained)
        #expect(path.interfaces[0].labels == [InterfaceLabel(by: "b1", "LTE, roaming")])
        #expect(path.backends[1].status == nil && path.backends[1].describedInterfaces == ["wlan0"])

        harness.report(1, self.stating { $0.isExpensive = false })
        #expect(harness.path?.isExpensive == false && harness.path?.isConstrained == false)
        #expect(harness.path?.interfaces.map(\.type) == [.wifi])
        #expect(harness.path?.interfaces[0].labels == nil)
    }

    @Test func aPendingStepIsTheReasonWhereThereIsNoPath() throws {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.unassociated)
        #expect(harness.path?.reason.code == .wifiNotAssociated)
        let step = PathReason(.authenticating, "the RADIUS server is asked")
        harness.report(1, self.stating { $0.pendingStep = step })
        let path = try #require(harness.path)
        #expect(path.status == .requiresConnection && path.reason.code == .authenticating)
        #expect(path.reason.message == "wlan0: the RADIUS server is asked (b1 says)")
    }

    @Test func aStepOfAnUnknownCodeIsFound() throws {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, .noLink)
        #expect(harness.path?.status == .unsatisfied)
        harness.report(1, self.stating("eth0") { $0.pendingStep = PathReason(.init(rawValue: "simPIN"), "a PIN") })
        #expect(harness.path?.status == .requiresConnection)
        #expect(harness.path?.reason.code.rawValue == "simPIN")
    }

    @Test func aPendingStepTakesNoPathAway() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.stating { $0.pendingStep = PathReason(.authenticating, "again") })
        #expect(harness.path?.status == .satisfied)
    }

    @Test func theFirstThatStatesAFactIsBelievedAndAllLabelsAreShown() throws {
        var harness = CoordinatorHarness(.active, .active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(
            2,
            self.stating {
                $0.type = .cellular
                $0.isExpensive = true
                $0.label = "second"
            }
        )
        harness.report(
            1,
            self.stating {
                $0.type = .wired
                $0.label = "first"
            }
        )
        let interface = try #require(harness.path?.interfaces.first)
        #expect(interface.type == .wired)
        #expect(interface.labels?.map(\.text) == ["first", "second"])
        #expect(harness.path?.isExpensive == true, "the first says nothing of costs")
    }

    @Test func aRuleWins() {
        var rule = InterfaceRule(.init(name: GlobPattern("wlan*")))
        rule.type = .wired
        rule.isExpensive = false
        rule.isConstrained = false
        var harness = CoordinatorHarness(.active, .active, evaluation: EvaluationPolicy(interfaceRules: [rule]))
        harness.start()
        harness.report(0, self.online)
        harness.report(
            1,
            self.stating {
                $0.type = .cellular
                $0.isExpensive = true
                $0.isConstrained = true
            }
        )
        #expect(harness.path?.interfaces.first?.type == .wired)
        #expect(harness.path?.isExpensive == false && harness.path?.isConstrained == false)
    }

    /// Facts count as long as the backend that states them is healthy.
    @Test(arguments: [true, false])
    func whatIsWithdrawnCountsNoMore(ends: Bool) {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.stating { $0.isExpensive = true })
        #expect(harness.path?.isExpensive == true)
        if ends { harness.end(1) } else { harness.reportUnavailable(1, "the daemon is gone") }
        #expect(harness.path?.isExpensive == false && harness.path?.isStale == false)
        #expect(harness.machine.snapshots[1].report.health == .unhealthy)
    }

    @Test func theSuccessorOfOneThatIsReplacedHasItsFacts() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.stating { $0.isExpensive = true })
        let ids = harness.apply([("b0", .active), ("b1", .active)], keeping: ["b0"])
        #expect(harness.path?.isExpensive == true && harness.path?.isStale == false)
        harness.report(ids[1], self.stating { $0.isExpensive = false })
        #expect(harness.path?.isExpensive == false)
        harness.apply([("b0", .active)], keeping: ["b0"])
        #expect(harness.machine.statements == nil)
    }

    /// It has no verdict, so it keeps no standby from running, and a dead superior of it is replaced.
    @Test func whoStatesFactsStandsInForNothing() {
        var harness = CoordinatorHarness(.active, .active, .standby)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.stating { $0.label = "home" })
        harness.advance(by: .seconds(3))
        #expect(harness.running == [0, 1])
        harness.end(0)
        #expect(harness.running.contains(2))
        harness.report(2, self.online)
        #expect(harness.path?.status == .satisfied && harness.path?.isStale == false)
        #expect(harness.path?.interfaces.first?.labels?.map(\.text) == ["home"])
    }

    /// The same facts again are no change, ask no backend to look again, and cost one comparison.
    @Test func theSameAgainIsNoChange() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        harness.report(0, self.online)
        harness.report(1, self.stating { $0.label = "home" })
        let (count, refreshed) = (harness.published.count, harness.refreshed.count)
        harness.report(1, self.stating { $0.label = "home" })
        harness.report(0, self.online)
        #expect(harness.published.count == count)
        #expect(harness.refreshed.count == refreshed)
    }

    /// A stated path's interface is shown with what others state of it.
    @Test func aConclusionIsEnrichedToo() {
        var harness = CoordinatorHarness(.active, .active)
        harness.start()
        var conclusion = Conclusion(.satisfied, PathReason(.stated, "registered"))
        conclusion.interface = "wwan0"
        harness.report(0, .stating(conclusion))
        harness.report(
            1,
            self.stating("wwan0") {
                $0.type = .cellular
                $0.label = "LTE"
            }
        )
        #expect(harness.path?.statedBy == "b0")
        #expect(harness.path?.interfaces.first?.type == .cellular)
        #expect(harness.path?.interfaces.first?.labels?.map(\.text) == ["LTE"])
        #expect(harness.path?.isExpensive == true)
    }

    @Test func factsOfAnotherMachineAreDropped() {
        var evidence = self.stating { $0.isExpensive = true }
        var conclusion = Conclusion(.satisfied, PathReason(.stated, "yes"))
        conclusion.host = "router"
        evidence.conclusion = conclusion
        #expect(evidence.ofThisMachine.facts.isEmpty)
    }
}
