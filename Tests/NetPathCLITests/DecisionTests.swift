// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import Testing

@testable import NetPath
@testable import NetPathCLI

/// `explain` names the rule that decided, also where it is not one about evidence.
@Suite struct DecisionTests {
    private static let failed = Self.probing(.timedOut)
    private static let portal = Self.probing(.portal)

    private static func probing(_ result: ProbeOutcome.Result) -> Evidence {
        var evidence = Evidence(at: Fixtures.now)
        evidence.probes = ProbeRound(outcomes: [ProbeOutcome(target: "a:1", result: result)], isComplete: true)
        return evidence
    }

    private static func stating(_ internet: InternetReachability? = nil, host: String? = nil) -> Evidence {
        var evidence = Evidence(at: Fixtures.now)
        var conclusion = Conclusion(host == nil ? .satisfied : .unsatisfied, PathReason(.stated, "it says so"))
        conclusion.internet = internet
        conclusion.host = host
        evidence.conclusion = conclusion
        return evidence
    }

    private func explained(
        _ evidence: [(name: String, evidence: Evidence)],
        probes: ProbeInfluence = .advisory,
        portals: PortalInfluence = .advisory,
        change: (inout [BackendSnapshot]) -> Void = { _ in }
    ) -> ExplainedPath {
        var snapshots = evidence.map { Fixtures.backendSnapshot($0.evidence, by: $0.name) }
        change(&snapshots)
        let path = NetworkPath.merging(snapshots, policy: .priority, probes: probes, portals: portals)
        let status = StatusSnapshot(path: path, backends: snapshots.map(\.report), takenAt: Fixtures.clock)
        return OneShotCommand(snapshots: snapshots, snapshot: status).explained
    }

    private static func broke(_ snapshot: inout BackendSnapshot, _ error: String = "it ended") {
        snapshot.report.health = .unhealthy
        snapshot.report.error = error
    }

    @Test(arguments: [false, true])
    func requiredProbes(isFirst: Bool) throws {
        let backends = [("netlink", Fixtures.routed), ("web", Self.failed)]
        let explained = self.explained(isFirst ? backends.reversed() : backends, probes: .required)
        #expect(explained.snapshot.path?.status == .unsatisfied)
        #expect(explained.backend == "netlink", "whose evidence the path is built on")
        let explanation = try #require(explained.explanation)
        #expect(
            explanation.rule == "Unsatisfied because the configuration says `merge.probes: required`: no target "
                + "answered (web); without that it would be satisfied, by netlink."
        )
        #expect(explanation.remedies.first?.hasPrefix("Check that the targets are right") == true)
        #expect(explanation.evidence.last == "Probe of a:1: no answer in time (web)")
    }

    @Test func aPortalBeforeRequiredProbes() throws {
        let explained = self.explained([("netlink", Fixtures.routed), ("web", Self.portal)], probes: .required)
        let explanation = try #require(explained.explanation)
        #expect(explanation.rule.contains("`merge.probes: required`: a captive portal answered"))
        #expect(explanation.remedies.first?.hasPrefix("Sign in to the network") == true)
    }

    @Test(arguments: [[("netlink", Fixtures.routed), ("web", Self.portal)], [("web", Self.portal)]])
    func requiredPortals(backends: [(String, Evidence)]) throws {
        let explained = self.explained(backends, portals: .requiresConnection)
        #expect(explained.snapshot.path?.reason.code == .captivePortal)
        let explanation = try #require(explained.explanation)
        #expect(explanation.rule.hasPrefix("Status requiresConnection because"))
        #expect(explanation.rule.contains("`merge.portals: requiresConnection`"))
        #expect(explanation.rule.contains("as web tells"))
        #expect(explanation.remedies.first?.hasPrefix("Sign in to the network") == true)
    }

    @Test func whatIsStatedOfTheInternet() throws {
        for word in [Self.stating(.unreachable), Self.stating(host: "router")] {
            let explained = self.explained([("netlink", Fixtures.routed), ("uplink", word)], probes: .required)
            #expect(explained.snapshot.path?.reason.code == .statedUnreachable)
            let explanation = try #require(explained.explanation)
            #expect(explanation.rule.contains("`merge.probes: required`, and uplink states that the internet cannot"))
            #expect(!explanation.rule.contains("Rule 1"))
        }
    }

    @Test func takeover() throws {
        let explained = self.explained([("netlink", Fixtures.routed), ("sysfs", Fixtures.routed)]) {
            Self.broke(&$0[0], "no buffer space")
        }
        #expect(explained.backend == "sysfs")
        let explanation = try #require(explained.explanation)
        #expect(
            explanation.rule.hasPrefix(
                "Takeover: sysfs decides, because netlink, which is above it, is unhealthy (no buffer space). Rule 1, "
            )
        )
    }

    /// A probe that broke has no say, so that a backend below it stands in for nothing.
    @Test func aBrokenProbeIsNoTakeover() throws {
        let explained = self.explained([("web", Self.failed), ("netlink", Fixtures.routed)]) { Self.broke(&$0[0]) }
        #expect(try #require(explained.explanation).rule.hasPrefix("Rule 1"))
    }

    @Test(arguments: [Fixtures.routed, Self.stating()])
    func aStalePath(evidence: Evidence) throws {
        var snapshot = Fixtures.backendSnapshot(evidence)
        var path = NetworkPath.merging([snapshot], policy: .priority)
        path?.isStale = true
        Self.broke(&snapshot)
        let status = StatusSnapshot(path: path, backends: [snapshot.report], takenAt: Fixtures.clock)
        let explained = OneShotCommand(snapshots: [snapshot], snapshot: status).explained
        let explanation = try #require(explained.explanation)
        #expect(explained.backend == "netlink")
        #expect(
            explanation.rule == "Takeover, stale: the last path stays, because no backend that may decide can confirm "
                + "or refute it now: netlink is unhealthy (it ended). A broken backend never means offline."
        )
    }

    /// Whatever decides: the rule of a satisfied verdict is never that of another status.
    @Test func noRuleOfASatisfiedPathStandsOverAnotherOne() {
        let words =
            [Fixtures.routed, Self.failed, Self.portal, Self.probing(.connected)]
            + [Self.stating(), Self.stating(.unreachable), Self.stating(host: "router"), .init(at: Fixtures.now)]
        for first in words {
            for second in words {
                for probes in ProbeInfluence.allCases {
                    for portals in PortalInfluence.allCases {
                        let explained = self.explained([("a", first), ("b", second)], probes: probes, portals: portals)
                        guard let path = explained.snapshot.path, path.status != .satisfied else { continue }
                        let rule = explained.explanation?.rule ?? ""
                        let states = rule.contains("states this without evidence")
                        #expect(!rule.contains("Rule 1"), "\(path.reason): \(rule)")
                        #expect(states == (path.statedBy != nil), "\(path.reason): \(rule)")
                    }
                }
            }
        }
    }
}
