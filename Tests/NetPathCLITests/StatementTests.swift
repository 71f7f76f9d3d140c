// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import Testing

@testable import NetPath
@testable import NetPathCLI

/// What a backend states is shown as its word, with nothing invented around it.
@Suite struct StatementTests {
    private let plain = TextStyle(isColored: false, width: nil)

    private static func stating(
        _ status: PathStatus = .satisfied,
        _ change: (inout Conclusion) -> Void = { _ in }
    ) -> Evidence {
        var conclusion = Conclusion(status, PathReason(.stated, "the modem is registered"))
        change(&conclusion)
        var evidence = Evidence(at: Fixtures.now)
        evidence.conclusion = conclusion
        return evidence
    }

    private static func comparison(_ snapshots: [BackendSnapshot]) -> Comparison {
        var recorder = ComparisonRecorder(configured: [])
        return recorder.record(snapshots, path: NetworkPath.merging(snapshots, policy: .priority), at: Fixtures.clock)
    }

    @Test func status() {
        let snapshot = Fixtures.backendSnapshot(Self.stating { $0.interface = "wwan0" }, by: "modem")
        #expect(
            Fixtures.snapshot([snapshot]).statusScreen(self.plain) == """
                SATISFIED  the modem is registered (stated by modem)

                Interfaces
                  wwan0           type not known: modem states that it carries the path

                Network
                  Gateways        not known
                  DNS             not known
                  IPv4            not known
                  IPv6            not known
                  Internet        not probed

                Backends
                  modem           healthy: states satisfied, the modem is registered (12 ms ago)

                """
        )
    }

    @Test func theInternetIsSaidToBeStated() {
        func text(_ internet: InternetReachability, _ url: String? = nil) -> String {
            let word = Self.stating {
                $0.internet = internet
                $0.portalURL = url
            }
            return Fixtures.snapshot(word).path?.internetText ?? ""
        }
        #expect(text(.reachable) == "reachable, as a backend states")
        #expect(text(.unreachable) == "not reachable, as a backend states")
        #expect(text(.portal, "http://portal.example/") == "behind a captive portal: http://portal.example/")
    }

    @Test func backendsThatDisagree() {
        let both = Fixtures.routed.stating(.unsatisfied)
        let remote = Self.stating(.unsatisfied) { $0.host = "router" }
        let screen = Fixtures.snapshot([
            Fixtures.backendSnapshot(both), Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "modem"),
            Fixtures.backendSnapshot(remote, by: "uplink"),
        ]).statusScreen(self.plain)
        #expect(screen.hasPrefix("SATISFIED  IPv4 through eth0\n"))
        #expect(screen.contains("states otherwise: unsatisfied, the modem is registered"))
        #expect(screen.contains("healthy: states unsatisfied, the modem is registered (12 ms ago)\n"))
        #expect(screen.contains("disagrees with the path"))
        #expect(screen.contains("healthy: router states unsatisfied, the modem is registered"))
    }

    @Test func explained() {
        let answer = OneShotCommand(
            snapshots: [
                Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "modem"),
                Fixtures.backendSnapshot(Fixtures.routed),
            ],
            snapshot: Fixtures.snapshot([
                Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "modem"),
                Fixtures.backendSnapshot(Fixtures.routed),
            ])
        )
        let screen = answer.explained.screen(self.plain)
        #expect(screen.hasPrefix("UNSATISFIED  the modem is registered (stated by modem)\n"))
        #expect(screen.contains("Stated, not worked out (modem)\n  - States: unsatisfied, the modem is registered\n"))
        #expect(screen.contains("netpath cannot explain it"))
        #expect(!screen.contains("What would help"))
        #expect(!screen.contains("DHCP"))
        #expect(answer.explained.document.line.contains(#""statedBy":"modem""#))
    }

    /// A statement that does not decide is told as what probes find out is.
    @Test func statementsThatDecideNothingAreTold() {
        let snapshots = [
            Fixtures.backendSnapshot(Fixtures.routed),
            Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "modem"),
        ]
        let answer = OneShotCommand(snapshots: snapshots, snapshot: Fixtures.snapshot(snapshots))
        #expect(
            answer.explained.explanation?.evidence.last == "States: unsatisfied, the modem is registered (modem)"
        )
        #expect(answer.explained.screen(self.plain).contains("states unsatisfied: the modem is registered"))
    }

    @Test func json() {
        let word = Self.stating {
            $0.interface = "wwan0"
            $0.internet = .portal
            $0.portalURL = "http://portal.example/"
        }
        let line = Fixtures.snapshot([Fixtures.backendSnapshot(word, by: "modem")]).document.line
        for part in [
            #""reason":{"code":"stated","message":"the modem is registered"},"statedBy":"modem""#,
            #""interfaces":[{"name":"wwan0","index":null,"type":"other""#, #""addresses":null"#,
            #""supportsIPv4":null,"supportsIPv6":null"#,
            #""internet":"portal","portalURL":"http://portal.example/""#, #""stated":true,"host":null"#,
        ] {
            #expect(line.contains(part), "\(part) in \(line)")
        }
    }

    @Test func watchSaysWhoseWordItIs() {
        let snapshot = Fixtures.snapshot([Fixtures.backendSnapshot(Self.stating(), by: "modem")])
        let utc = { (time: WallTime) in CivilTime(time, offsetSeconds: 0) }
        let line = WatchFormat.lines.render(snapshot, previous: nil, local: utc)
        #expect(line.hasSuffix("satisfied: the modem is registered (stated by modem)\n"))
        var history = ChangeHistory()
        history.record(Fixtures.snapshot(Fixtures.routed))
        history.record(snapshot)
        #expect(history.entries.first?.text.contains("the modem is registered (stated by modem)") == true)
    }

    // MARK: compare

    @Test func comparedAsWhatItIs() {
        let comparison = Self.comparison([
            Fixtures.backendSnapshot(Fixtures.routed),
            Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "modem"),
            Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "twin"),
        ])
        #expect(comparison.columns.map(\.sight) == [.kernel, .conclusion, .conclusion])
        #expect(comparison.differences.map(\.facts) == [[.status], [.status]])
        let texts = comparison.differences.flatMap(\.explanations)
        #expect(texts.allSatisfy { $0.contains("states its conclusion and shows no evidence") })
        let screen = comparison.screen(self.plain)
        #expect(screen.contains("modem: states unsatisfied, the modem is registered"))
        #expect(screen.contains("stated (stated)"))
    }

    @Test func twoThatStateMissNoEvents() {
        let comparison = Self.comparison([
            Fixtures.backendSnapshot(Self.stating(), by: "modem"),
            Fixtures.backendSnapshot(Self.stating(.unsatisfied), by: "twin"),
        ])
        let texts = comparison.differences.flatMap(\.explanations)
        #expect(!texts.contains { $0.contains("missed an event") })
        #expect(texts.count == 2)
    }

    @Test func onlyWhatIsStatedIsCompared() {
        let silent = Self.comparison([
            Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(Self.stating(), by: "modem"),
        ])
        #expect(silent.agreement == true)
        #expect(silent.differences.isEmpty, "its reasons are its own, and of the rest it says nothing")
        let telling = Self.stating {
            $0.interface = "wwan0"
            $0.families = [.ipv6]
        }
        let other = Self.comparison([
            Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(telling, by: "modem"),
        ])
        #expect(other.differences.map(\.facts) == [[.interfaces, .families]])
    }

    @Test func whoStatesOneThingAndShowsAnotherIsComparedWithItself() {
        let comparison = Self.comparison([Fixtures.backendSnapshot(Fixtures.routed.stating(.unsatisfied))])
        #expect(comparison.differences.map(\.against) == ["netlink"])
        #expect(
            comparison.differences.first?.summary == "netlink: by its evidence satisfied, IPv4 through eth0; "
                + "it states unsatisfied, the modem is registered"
        )
        let line = comparison.lines(since: nil) { CivilTime($0, offsetSeconds: 0) }
        #expect(line.hasSuffix("netlink: satisfied, IPv4 through eth0, first, states otherwise\n"))
    }

    @Test func anotherMachineIsNamed() {
        let remote = Self.stating(.unsatisfied) { $0.host = "router" }
        let comparison = Self.comparison([
            Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(remote, by: "uplink"),
        ])
        #expect(
            comparison.differences.first?.explanations.first?.contains("what router states of its own path") == true
        )
    }

    /// A portal is met by a probe: what the kernel says does not show it.
    @Test func whatHelpsAgainstAPortal() {
        func remedy(_ url: String?) -> String? {
            var snapshot = Fixtures.snapshot(Fixtures.routed)
            snapshot.path?.internet = .portal
            snapshot.path?.portalURL = url
            return OneShotCommand(snapshots: [Fixtures.backendSnapshot(Fixtures.routed)], snapshot: snapshot)
                .explained.explanation?.remedies.first
        }
        #expect(remedy("http://portal.example/") == "Sign in to the network: open http://portal.example/ in a browser")
        #expect(remedy(nil)?.hasPrefix("Sign in to the network: open a page of plain HTTP") == true)
    }
}

extension Evidence {
    /// The same evidence with a conclusion beside it.
    fileprivate func stating(_ status: PathStatus) -> Evidence {
        var evidence = self
        evidence.conclusion = Conclusion(status, PathReason(.stated, "the modem is registered"))
        return evidence
    }
}
