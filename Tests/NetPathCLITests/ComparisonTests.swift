// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct ComparisonTests {
    private static let start = Fixtures.now + .seconds(-1)

    private static func reading(_ milliseconds: Int) -> ClockReading {
        let time = Self.start + .milliseconds(milliseconds)
        return ClockReading(monotonic: time, wall: Fixtures.clock.wall(at: time))
    }

    private static func backendSnapshot(_ evidence: Evidence, by name: String, at milliseconds: Int) -> BackendSnapshot
    {
        var snapshot = Fixtures.backendSnapshot(evidence, by: name)
        snapshot.report.reportedAt = Self.start + .milliseconds(milliseconds)
        return snapshot
    }

    private static var lost: Evidence {
        Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
    }

    /// What sees only a part of the routes.
    private static func partial(_ evidence: Evidence) -> Evidence {
        var evidence = evidence
        evidence.isPartial = true
        return evidence
    }

    private static func probe(_ result: ProbeOutcome.Result) -> Evidence {
        var evidence = Evidence(at: Fixtures.now)
        evidence.probes = ProbeRound(outcomes: [ProbeOutcome(target: "a:1", result: result)], isComplete: true)
        return evidence
    }

    private func compare(_ snapshots: [BackendSnapshot], at milliseconds: Int = 500) -> Comparison {
        var recorder = ComparisonRecorder(configured: [])
        let path = NetworkPath.merging(snapshots, policy: .priority)
        return recorder.record(snapshots, path: path, at: Self.reading(milliseconds))
    }

    // MARK: Agreeing and differing

    @Test func agreement() {
        let comparison = self.compare([
            Self.backendSnapshot(Fixtures.routed, by: "netlink", at: 1),
            Self.backendSnapshot(Fixtures.routed, by: "other", at: 4),
            Self.backendSnapshot(Self.probe(.connected), by: "probe", at: 300),
        ])
        #expect(comparison.agreement == true)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.headline.word == "AGREED")
        #expect(comparison.columns.map(\.delay) == [.zero, .milliseconds(3), .milliseconds(299)])
        #expect(comparison.columns.map(\.sight) == [.kernel, .kernel, .hosts])
        #expect(ToolStatus(agreement: comparison.agreement) == .satisfied)
    }

    @Test func theReasonsWhyBackendsMayDiffer() {
        let comparison = self.compare([
            Self.backendSnapshot(Self.lost, by: "netlink", at: 1),
            Self.backendSnapshot(Self.partial(Fixtures.routed), by: "sysfs", at: 2),
            Self.backendSnapshot(Self.probe(.timedOut), by: "probe", at: 3),
            Self.backendSnapshot(Self.probe(.connected), by: "other", at: 3),
            Self.backendSnapshot(Fixtures.routed, by: "twin", at: 3),
        ])
        #expect(comparison.agreement == false)
        #expect(ToolStatus(agreement: comparison.agreement) == .unsatisfied)
        let differences = comparison.differences
        #expect(differences.map(\.backend) == ["sysfs", "other", "twin"])
        #expect(differences.allSatisfy { $0.against == "netlink" && $0.facts == [.status] })
        let texts = differences.map { $0.explanations.joined(separator: " ") }
        #expect(texts[0].contains("only the main routing table"))
        #expect(texts[0].contains("gets no events and looks at intervals"))
        #expect(texts[1].contains("asks hosts"))
        #expect(texts[2].contains("missed an event"))
    }

    @Test func otherFactsAreComparedWhereTheStatusIsTheSame() {
        let other = Fixtures.interface("wan1", index: 3, gateway: "192.0.2.9")
        let comparison = self.compare([
            Self.backendSnapshot(Fixtures.routed, by: "netlink", at: 1),
            Self.backendSnapshot(
                Self.partial(Fixtures.evidence([other], ipv4: Fixtures.route(through: 3, gateway: "192.0.2.9"))),
                by: "sysfs",
                at: 2
            ),
        ])
        #expect(comparison.agreement == true)
        #expect(comparison.differences.map(\.facts) == [[.interfaces, .gateways]])
    }

    @Test func onlyTheHealthyAreCompared() {
        var broken = Self.backendSnapshot(Self.lost, by: "broken", at: 1)
        broken.report.health = .unhealthy
        broken.report.error = "no socket"
        let silent = BackendSnapshot(report: Fixtures.report("mute", health: .starting))
        let comparison = self.compare([broken, Self.backendSnapshot(Fixtures.routed, by: "netlink", at: 1), silent])
        #expect(comparison.agreement == true)
        #expect(comparison.speakers.map(\.name) == ["netlink"])
        #expect(comparison.silent == ["mute"])
        #expect(comparison.headline.word == "NOT COMPARED")
        #expect(comparison.headline.sentence.contains("only netlink has a verdict"))
        let nobody = self.compare([broken, silent])
        #expect(nobody.agreement == nil)
        #expect(ToolStatus(agreement: nobody.agreement) == .unavailable)
        let screen = nobody.screen(TextStyle(isColored: false, width: nil))
        #expect(screen.contains("UNKNOWN  no backend has a verdict"))
        #expect(screen.contains("broken          unhealthy: no socket"))
        #expect(screen.contains("mute            silent so far"))
    }

    @Test func recorderCountsWhatIsSaid() {
        var recorder = ComparisonRecorder(configured: [])
        func say(_ first: Evidence, _ firstAt: Int, _ second: Evidence, _ secondAt: Int) {
            let snapshots = [
                Self.backendSnapshot(first, by: "a", at: firstAt), Self.backendSnapshot(second, by: "b", at: secondAt),
            ]
            _ = recorder.record(snapshots, path: nil, at: Self.reading(max(firstAt, secondAt)))
        }
        say(Fixtures.routed, 0, Fixtures.routed, 2)
        say(Self.lost, 100, Fixtures.routed, 2)
        // The same again is no news.
        say(Self.lost, 100, Fixtures.routed, 2)
        say(Self.lost, 100, Self.lost, 140)
        let (changes, counts) = recorder.tally.counts(at: Self.start + .seconds(60))
        #expect(changes == 1)
        #expect(counts.map(\.value.medianDelay) == [.zero, .milliseconds(40)])
        #expect(recorder.latest?.columns.map(\.delay) == [.zero, .milliseconds(40)])
    }

    // MARK: Showing

    private var different: Comparison {
        self.compare([
            Self.backendSnapshot(Fixtures.routed, by: "netlink", at: 1),
            Self.backendSnapshot(Self.partial(Self.lost), by: "sysfs", at: 203),
            Self.backendSnapshot(Self.probe(.connected), by: "probe", at: 300),
        ])
    }

    @Test func screen() {
        #expect(
            self.different.screen(TextStyle(isColored: false, width: nil)) == """
                DIFFERENT  satisfied: netlink, probe; unsatisfied: sysfs

                Backends
                                netlink       sysfs            probe
                  Status        satisfied   ! unsatisfied      satisfied
                  Reason        routed        noRoute          probeAnswered
                  Interfaces    eth0          none             -
                  Families      IPv4          none             -
                  Gateways      192.0.2.1     none             -
                  Health        healthy       healthy          healthy
                  Said          499 ms ago    297 ms ago       200 ms ago
                  Noticed       first         202 ms behind    299 ms behind

                Differences
                  sysfs           sysfs: unsatisfied, eth0 has an address but no route to the internet; netlink: satisfied, IPv4 through eth0
                                  sysfs sees only the main routing table: policy rules and other tables stay unseen, and some routes that reject look like none
                                  sysfs gets no events and looks at intervals: what happens in between shows at its next look

                """
        )
    }

    @Test func narrowTerminalHasTheColumnsBelowOneAnother() {
        let lines = self.different.screen(TextStyle(isColored: false, width: 50)).split(separator: "\n")
        #expect(lines.contains("                netlink       sysfs"))
        #expect(lines.contains("  Status        satisfied   ! unsatisfied"))
        #expect(lines.contains("                probe"))
        #expect(lines.contains("  Status        satisfied"))
        #expect(self.different.screen(TextStyle(isColored: false, width: 20)).contains("  Status        sat~\n"))
    }

    @Test func linesForPipes() {
        let agreed = self.compare([
            Self.backendSnapshot(Fixtures.routed, by: "netlink", at: 1),
            Self.backendSnapshot(Fixtures.routed, by: "sysfs", at: 1),
        ])
        let text = self.different.lines(since: agreed) { CivilTime($0, offsetSeconds: 0) }
        let lines = text.split(separator: "\n").map { String($0.dropFirst(24)) }
        let first =
            "sysfs: unsatisfied, eth0 has an address but no route to the internet, 202 ms behind, differs from netlink in "
            + "status"
        #expect(lines == [first, "probe: satisfied, a probe target answered, 299 ms behind"])
        #expect(agreed.lines(since: agreed) { CivilTime($0, offsetSeconds: 0) }.isEmpty)
        // Nothing is said of a backend that has only been started, and of one that failed what is wrong with it.
        var mute = BackendSnapshot(report: Fixtures.report("mute", health: .starting))
        let silent = self.compare([mute])
        #expect(silent.lines(since: nil) { CivilTime($0, offsetSeconds: 0) }.isEmpty)
        mute.report.health = .unhealthy
        mute.report.error = "no socket"
        let failed = self.compare([mute]).lines(since: silent) { CivilTime($0, offsetSeconds: 0) }
        #expect(failed.hasSuffix(" mute: unhealthy: no socket\n"))
    }

    @Test func summary() {
        var tally = ComparisonTally()
        tally.record("netlink", Verdict(.satisfied, PathReason(.routed, "")), at: Self.start)
        tally.record("sysfs", Verdict(.satisfied, PathReason(.routed, "")), at: Self.start)
        tally.record("netlink", Verdict(.unsatisfied, PathReason(.noRoute, "")), at: Self.start + .seconds(1))
        tally.record("sysfs", Verdict(.unsatisfied, PathReason(.noRoute, "")), at: Self.start + .milliseconds(1_040))
        let style = TextStyle(isColored: false, width: nil)
        #expect(
            tally.screen(style, since: Self.start, at: Self.start + .seconds(600)) == """
                SUMMARY  changes in 10 min: 1

                Backends
                                       netlink    sysfs
                  Seen                 1          1
                  Missed               0          0
                  Median delay         0 µs       40 ms
                  False transitions    0          0
                  Other reasons        0          0

                """
        )
    }
}
