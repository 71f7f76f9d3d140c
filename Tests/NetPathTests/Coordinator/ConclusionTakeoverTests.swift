// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// Takeover with backends that state their conclusions: silence lowers nothing here either.
@Suite struct ConclusionTakeoverTests {
    private static let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))
    private let noLink = Evidence.noLink

    private static func stated(_ status: PathStatus, host: String? = nil, interface: String? = nil) -> Evidence {
        var conclusion = Conclusion(status, PathReason(.stated, "the daemon says so"))
        conclusion.host = host
        conclusion.interface = interface
        return .stating(conclusion)
    }

    private func started(
        _ words: Evidence...,
        settings: CoordinatorSettings = CoordinatorSettings()
    )
        -> CoordinatorHarness
    {
        var harness = CoordinatorHarness(modes: words.map { _ in .active }, settings: settings)
        harness.start()
        for (position, word) in words.enumerated() { harness.report(position, word) }
        return harness
    }

    @Test func theReportSaysWhoseWordItIs() throws {
        let harness = self.started(Self.stated(.satisfied), Self.stated(.satisfied, host: "router"))
        let reports = try #require(harness.path?.backends)
        #expect(reports.map(\.isStated) == [true, true])
        #expect(reports.map(\.host) == [nil, "router"])
        #expect(harness.path?.statedBy == "b0")
        #expect(harness.path?.internet == .reachable)
    }

    @Test func theLastStatementStandsUntilSomebodyHasLookedAgain() {
        var harness = self.started(Self.stated(.satisfied, interface: "eth0"), Self.online)
        #expect(harness.path?.statedBy == "b0")
        harness.end(0)
        #expect(harness.path?.isStale == true)
        #expect(harness.path?.statedBy == "b0")
        harness.report(1, Self.online)
        #expect(harness.path?.isStale == false)
        #expect(harness.path?.statedBy == nil)
    }

    @Test func aStatementIsRefutedByTheInterfaceItNames() {
        for name in ["eth0", nil] {
            var harness = self.started(Self.stated(.satisfied, interface: name), Self.online)
            harness.end(0)
            harness.report(1, self.noLink)
            #expect(harness.path?.status == .unsatisfied, "no interface could carry it any more")
            #expect(harness.path?.isStale == false)
        }
        var harness = self.started(Self.stated(.satisfied), Self.online)
        harness.end(0)
        let noRoute = Evidence.seeing(.loopback(), .wired("eth0", 2).with("192.0.2.7/24"))
        harness.report(1, noRoute.changed { $0.isPartial = true })
        harness.advance(by: .seconds(1))
        #expect(harness.path?.status == .satisfied, "a rule that it does not see may lead through eth0")
        #expect(harness.path?.isStale == true)
        harness.report(1, noRoute)
        #expect(harness.path?.reason.code == .noRoute)
        #expect(harness.path?.isStale == false)
    }

    @Test func aStatementTakenBackIsNoWord() {
        var harness = self.started(Self.stated(.satisfied), self.noLink)
        harness.report(0, Evidence(at: CoordinatorHarness.origin))
        #expect(harness.path?.isStale == true)
        #expect(harness.path?.status == .satisfied)
        harness.report(1, self.noLink)
        #expect(harness.path?.status == .unsatisfied)
    }

    /// A backend that states takes over as any other does.
    @Test func aStatementTakesOver() {
        for status in PathStatus.allCases {
            var harness = self.started(Self.online, Self.stated(status))
            harness.end(0)
            #expect(harness.path?.isStale == true)
            harness.report(1, Self.stated(status))
            #expect(harness.path?.status == .satisfied)
            #expect(harness.path?.isStale == (status != .satisfied))
            harness.advance(by: .milliseconds(750))
            #expect(harness.path?.status == status)
            #expect(harness.path?.statedBy == "b1")
        }
        var harness = self.started(self.noLink, Self.stated(.satisfied))
        harness.end(0)
        harness.report(1, Self.stated(.satisfied))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.statedBy == "b1")
    }

    @Test func anotherMachineKeepsNobodyOnStandbyAndTakesNothingOver() {
        var harness = CoordinatorHarness(.active, .active, .standby)
        harness.start()
        harness.report(0, Self.online)
        harness.report(1, Self.stated(.unsatisfied, host: "router"))
        harness.end(0)
        #expect(harness.running.contains(2), "the word of another machine replaces no eyes")
        harness.report(1, Self.stated(.unsatisfied, host: "router"))
        #expect(harness.path?.status == .satisfied)
        #expect(harness.path?.isStale == true)
    }

    @Test func factsOfAnotherMachineNeverEnterTheCoordinator() {
        let harness = self.started(
            self.noLink,
            Self.online.changed { $0.conclusion = Self.stated(.satisfied, host: "router").conclusion }
        )
        #expect(harness.machine.snapshots[1].evidence?.interfaces == nil)
        #expect(harness.path?.status == .unsatisfied)
        #expect(harness.path?.interfaces.map(\.name) == ["eth0"])
    }
}
