// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathExplanation
import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct ScreenTests {
    private let plain = TextStyle(isColored: false, width: nil)

    @Test func status() {
        let screen = Fixtures.snapshot(Fixtures.routed).statusScreen(self.plain)
        #expect(
            screen == """
                SATISFIED  IPv4 through eth0

                Interfaces
                  eth0            wired, up: eth0 carries the path
                                  192.0.2.7/24
                                  gateway 192.0.2.1, metric 100

                Network
                  Gateways        192.0.2.1 on eth0
                  DNS             192.0.2.53
                  IPv4            yes
                  IPv6            no
                  Internet        not probed

                Backends
                  netlink         healthy: satisfied, IPv4 through eth0 (12 ms ago)

                """
        )
    }

    @Test func statusInFewColumns() {
        let lost = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        #expect(
            Fixtures.snapshot(lost).statusScreen(TextStyle(isColored: false, width: 40)) == """
                UNSATISFIED
                  eth0 has an address but no route to
                  the internet

                Interfaces
                  eth0       wired, up: eth0 has an
                             address but no route to the
                             internet
                             192.0.2.7/24

                Network
                  Gateways   none
                  DNS        192.0.2.53
                  IPv4       no
                  IPv6       no
                  Internet   not probed

                Backends
                  netlink    healthy: unsatisfied, eth0
                             has an address but no route
                             to the internet (12 ms ago)

                """
        )
    }

    @Test(arguments: [
        (ProbeOutcome(target: "a:1", result: .connected, roundTrip: .microseconds(3_999)), "a:1: connected after 3 ms"),
        (
            ProbeOutcome(target: "a:1", result: .refused, roundTrip: .microseconds(380)),
            "a:1: refused the connection after 380 µs"
        ),
        (ProbeOutcome(target: "a:1", result: .unreachable(errno: 113)), "a:1: not reachable (No route to host)"),
        (ProbeOutcome(target: "a:1", result: .timedOut), "a:1: no answer in time"),
        (ProbeOutcome(target: "a:1", result: .notResolved), "a:1: its name cannot be looked up"),
    ])
    func probesInWords(outcome: ProbeOutcome, text: String) {
        #expect(outcome.text == text)
    }

    @Test func nobodyKnows() {
        #expect(
            Fixtures.unknown.statusScreen(self.plain) == """
                UNKNOWN  no backend has a verdict

                Backends
                  netlink         unhealthy: no netlink socket: Operation not permitted
                  spare           off

                """
        )
    }

    @Test func staleAndSilentAndDisagreeing() {
        let blind = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        var snapshot = Fixtures.snapshot([
            Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(blind, by: "other"),
        ])
        snapshot.path?.isStale = true
        snapshot.backends.append(Fixtures.report("mute", health: .starting))
        let screen = snapshot.statusScreen(self.plain)
        #expect(screen.contains("stale: the last known path"))
        #expect(screen.contains("  mute            silent so far\n"))
        #expect(screen.contains("  other           healthy: unsatisfied"))
        #expect(screen.contains("                  disagrees with the path\n"))
    }

    @Test(arguments: [1, 40, 60, 80, 200])
    func widths(_ width: Int) {
        let addresses = (1...9).map { "192.0.2.\($0)" } + ["2001:db8:1111:2222:3333:4444:5555:6666"]
        let evidence = Fixtures.evidence([Fixtures.interface(addresses: addresses)], ipv4: Fixtures.route())
        let snapshot = Fixtures.snapshot(evidence)
        let explained = ExplainedPath(
            snapshot: snapshot,
            explanation: evidence.explanation(of: nil, now: Fixtures.now)
        )
        let style = TextStyle(isColored: false, width: width)
        for screen in [snapshot.statusScreen(style), explained.screen(style)] {
            let lines = screen.split(separator: "\n")
            // A single word may be longer than a narrow line: addresses stay whole.
            #expect(lines.allSatisfy { $0.count <= max(width, 18 + 42) })
            #expect(screen.contains("2001:db8:1111:2222:3333:4444:5555:6666/24"))
            let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
            let wide =
                screen.hasPrefix("SATISFIED") && screen.contains("Rule")
                ? explained.screen(self.plain) : snapshot.statusScreen(self.plain)
            #expect(words(screen) == words(wide), "wrapping loses nothing")
        }
    }

    @Test func colorIsNeverTheOnlySignal() {
        let colored = Fixtures.snapshot(Fixtures.routed).statusScreen(TextStyle(isColored: true, width: nil))
        #expect(colored.hasPrefix("\u{1B}[1;32mSATISFIED\u{1B}[0m  IPv4 through eth0\n"))
        let stripped = colored.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(stripped == Fixtures.snapshot(Fixtures.routed).statusScreen(self.plain))
    }

    /// The kernel takes an escape character in the name of an interface, and a hostile container may send it.
    @Test func hostileNames() {
        var interface = Fixtures.interface("e\u{1B}]0;x\u{7}\u{9B}2J")
        interface.kind = "k\u{1B}c"
        var evidence = Fixtures.evidence([interface], ipv4: Fixtures.route())
        evidence.limitations = ["no \u{1B}[2J"]
        let snapshot = Fixtures.snapshot(evidence)
        let explained = ExplainedPath(
            snapshot: snapshot,
            backend: "b\u{1B}",
            explanation: evidence.explanation(of: nil, now: Fixtures.now)
        )
        let report = Fixtures.report("r\u{1B}", health: .healthy)
        let inventory = BackendInventory(
            origin: "o\u{1B}",
            types: [("t\u{1B}", "s\u{1B}")],
            entries: [(type: "t\u{1B}", report: report)],
            takenAt: Fixtures.clock
        )
        let other = Fixtures.snapshot(Fixtures.routed)
        let texts = [
            snapshot.statusScreen(self.plain), explained.screen(self.plain), inventory.screen(self.plain),
            WatchFormat.lines.render(snapshot, previous: nil) { CivilTime($0, offsetSeconds: 0) },
            WatchFormat.log(self.plain).render(snapshot, previous: other) { CivilTime($0, offsetSeconds: 0) },
            WatchFormat.json.render(snapshot, previous: nil) { CivilTime($0, offsetSeconds: 0) },
            WatchCommand.silenceMessage([report]),
        ]
        for text in texts {
            #expect(
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" },
                "\(text)"
            )
            #expect(text.contains("\\u"))
        }
    }

    @Test func backends() {
        var report = Fixtures.backendSnapshot(Fixtures.routed).report
        report.limitations = ["no IPv6 route events"]
        report.restarts = 2
        report.resynchronizations = 1
        var broken = Fixtures.report("second", health: .unhealthy)
        broken.error = "did not answer a refresh within 1 s"
        let inventory = BackendInventory(
            origin: "/etc/netpath/netpath.yaml",
            types: [("netlink", "Events of the kernel")],
            entries: [
                (type: "netlink", report: report), (type: "netlink", report: broken),
                (type: "netlink", report: Fixtures.report("spare", health: .standby)),
            ],
            takenAt: Fixtures.clock
        )
        #expect(
            inventory.screen(self.plain) == """
                  Configuration: /etc/netpath/netpath.yaml

                Types
                  netlink         Events of the kernel

                Configured, in order of priority
                  netlink         mode active
                                  healthy: satisfied, IPv4 through eth0 (12 ms ago)
                                  limited: no IPv6 route events
                                  restarts: 2
                                  resynchronizations: 1
                  second          type netlink, mode active
                                  unhealthy: did not answer a refresh within 1 s
                  spare           type netlink, mode standby
                                  standing by

                """
        )
    }

    @Test(
        arguments: [
            (ColorChoice.auto, true, ["TERM": "xterm"], true),
            (.auto, false, ["TERM": "xterm"], false),
            (.auto, true, ["TERM": "xterm", "NO_COLOR": "1"], false),
            (.auto, true, ["TERM": "xterm", "NO_COLOR": ""], true),
            (.auto, true, ["TERM": "dumb"], false),
            (.auto, true, ["TERM": ""], false),
            (.auto, true, [:], false),
            (.never, true, ["TERM": "xterm"], false),
            (.always, false, ["NO_COLOR": "1"], true),
        ]
    )
    func color(_ choice: ColorChoice, _ isTerminal: Bool, _ environment: [String: String], _ expected: Bool) {
        #expect(choice.isColored(isTerminal: isTerminal, environment: environment) == expected)
    }
}
