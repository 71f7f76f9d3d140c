// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import NetPath

/// Every pair of backends, one of which fails: what is published a second later, and what a fresh look says.
@Suite struct StandInTests {
    /// What has to be published; nil where nothing is.
    private struct Expectation: Equatable, CustomStringConvertible {
        var status: PathStatus
        var isStale: Bool

        var description: String { "\(self.status)\(self.isStale ? ", stale" : "")" }

        init(_ status: PathStatus, isStale: Bool = false) {
            self.status = status
            self.isStale = isStale
        }

        init(_ path: NetworkPath) { self.init(path.status, isStale: path.isStale) }
    }

    private func expectation(_ plan: StandIn) -> Expectation? {
        let truth = Expectation(plan.network.status)
        let (lost, left) = (plan.kinds[plan.failing], plan.kinds[1 - plan.failing])
        // One that states nothing any more, and is well, has no say.
        let isPassedOver = lost == .stating && plan.fault == .cannotTell
        // What was told before the fault stands.
        let last = Expectation(plan.isEarly ? plan.network.status : .satisfied, isStale: true)
        switch left {
        case .kernel, .stating: return truth
        case .partial:
            // A rule that it does not see may lead somewhere, as the one above it may have known.
            guard lost.reportsPaths, plan.failing == 0, plan.network == .noRoute else { return truth }
            return isPassedOver && plan.isEarly ? truth : last
        case .probing: return lost.reportsPaths && !isPassedOver ? last : truth
        case .remote: return lost == .remote ? nil : last
        }
    }

    @Test func everyPair() {
        let failures = StandIn.all.compactMap { plan -> String? in
            let said = plan.watched().map(Expectation.init)
            let expected = self.expectation(plan)
            return said == expected ? nil : "\(plan): \(said as Any), not \(expected as Any)"
        }
        #expect(StandIn.all.count > 1_000)
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(20).joined(separator: "\n"))")
    }

    /// Where a backend is left that may decide, a program that has just begun to look says the same; where none is, it
    /// knows nothing, or what probes or a partial view tell, which never stand in for a backend that has reported.
    @Test func watchedAndFreshLooksAgree() {
        let failures = StandIn.all.compactMap { plan -> String? in
            let (watched, fresh) = (plan.watched(), plan.lookedAtOnce())
            if let watched, !watched.isStale {
                let isSame = fresh?.status == watched.status && fresh?.reason == watched.reason
                return isSame ? nil : "\(plan): watched \(watched.reason), fresh \(fresh?.reason as Any)"
            }
            let left = plan.kinds[1 - plan.failing]
            let isKnown = fresh == nil || left == .probing || left == .partial
            return isKnown ? nil : "\(plan): fresh \(fresh?.reason as Any)"
        }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(20).joined(separator: "\n"))")
    }

    /// The table in Merging.md of who decides when a backend is gone that saw, or stated, a path.
    @Test func theTableOfTheDocumentation() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/NetPath/NetPath.docc/Merging.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let names: [(StandIn.Kind, String)] = [
            (.kernel, "sees the whole policy"), (.partial, "sees a part of it"), (.stating, "states the path"),
            (.probing, "probes"), (.remote, "states another machine's path"),
        ]
        for (left, name) in names {
            let cells = StandIn.Network.allCases.map { network in
                let plans = StandIn.all.filter { plan in
                    plan.failing == 0 && plan.kinds[1] == left && plan.kinds[0].reportsPaths
                        && plan.network == network && !plan.isEarly && plan.fault != .cannotTell
                }
                return Set(plans.compactMap { $0.watched().map { Expectation($0).description } }).sorted()
                    .joined(separator: " or ")
            }
            let row = "| \(([name] + cells).joined(separator: " | ")) |"
            #expect(lines.contains(row), "\(row)")
        }
    }

    /// A plugin said that there is a path, and the backend below says that there is none.
    @Test(arguments: StandIn.Fault.allCases)
    func theNextWordOfItsOwnDecides(fault: StandIn.Fault) {
        for kind in [StandIn.Kind.kernel, .stating] {
            var harness = CoordinatorHarness(.active, .active)
            harness.start()
            harness.report(0, StandIn.Kind.stating.word(.up, at: harness.now))
            harness.report(1, kind.word(.noRoute, at: harness.now))
            #expect(harness.path?.status == .satisfied)
            var answered = harness.refreshed.count
            switch fault {
            case .dies: harness.end(0)
            case .withdraws: harness.reportUnavailable(0, "gone")
            case .starves: harness.refresh()
            case .cannotTell: harness.report(0, Evidence(at: harness.now))
            }
            let end = harness.now + fault.notice + .seconds(1)
            while harness.now < end {
                harness.advance(by: .milliseconds(10))
                // The one that is well answers.
                if harness.refreshed.dropFirst(answered).contains(1) {
                    harness.report(1, kind.word(.noRoute, at: harness.now))
                }
                answered = harness.refreshed.count
            }
            #expect(harness.path?.status == .unsatisfied, "\(fault)")
            #expect(harness.path?.isStale == false)
        }
    }
}
