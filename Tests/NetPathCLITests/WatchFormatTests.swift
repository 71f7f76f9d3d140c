// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct WatchFormatTests {
    private let log = WatchFormat.log(TextStyle(isColored: false, width: 80))

    private func render(
        _ format: WatchFormat,
        _ snapshot: StatusSnapshot,
        after previous: StatusSnapshot? = nil
    ) -> String {
        format.render(snapshot, previous: previous) { CivilTime($0, offsetSeconds: 7_200) }
    }

    @Test func lines() {
        #expect(
            self.render(.lines, Fixtures.snapshot(Fixtures.routed))
                == "2026-10-21 14:31:46.123 satisfied: IPv4 through eth0 [eth0 (wired, 192.0.2.7/24, via 192.0.2.1)]\n"
        )
        #expect(
            self.render(.lines, Fixtures.unknown) == "2026-10-21 14:31:46.123 unknown: no backend has a verdict\n"
        )
    }

    @Test func aLineIsWrittenOnceForWhatItSays() throws {
        var changed = Fixtures.snapshot(Fixtures.routed)
        changed.path?.dnsServers = []
        #expect(self.render(.lines, changed, after: Fixtures.snapshot(Fixtures.routed)) == "")
        changed.path?.isExpensive = true
        #expect(self.render(.lines, changed, after: Fixtures.snapshot(Fixtures.routed)).hasSuffix("] (expensive)\n"))
        changed.path?.isStale = true
        #expect(
            self.render(.lines, changed, after: Fixtures.snapshot(Fixtures.routed)).hasSuffix("] (expensive) (stale)\n")
        )
        #expect(self.render(.lines, Fixtures.unknown, after: Fixtures.unknown) == "")
    }

    /// Where probes only advise the path stays satisfied, and the line says what is between it and the internet.
    @Test func aLineTellsOfACaptivePortal() throws {
        let before = Fixtures.snapshot(Fixtures.routed)
        var after = before
        after.path?.internet = .portal
        #expect(self.render(.lines, after, after: before).hasSuffix("] (behind a captive portal)\n"))
    }

    @Test func jsonLines() {
        let snapshot = Fixtures.snapshot(Fixtures.routed)
        #expect(self.render(.json, snapshot) == snapshot.document.line + "\n")
    }

    @Test func logBeginsWithEverything() {
        #expect(
            self.render(self.log, Fixtures.snapshot(Fixtures.routed)) == """
                2026-10-21
                14:31:46.123  satisfied  IPv4 through eth0
                              eth0 (wired, 192.0.2.7/24, via 192.0.2.1)

                """
        )
        #expect(
            self.render(self.log, Fixtures.snapshot(Fixtures.routed), after: Fixtures.unknown) == """
                14:31:46.123  satisfied  IPv4 through eth0
                              eth0 (wired, 192.0.2.7/24, via 192.0.2.1)

                """
        )
    }

    @Test func logTellsWhatChanged() {
        var eth = Fixtures.interface(addresses: ["192.0.2.7", "192.0.2.8"])
        eth.defaultRoutes = nil
        let wlan = Fixtures.interface(
            "wlan0",
            index: 3,
            type: .wifi,
            addresses: ["198.51.100.7"],
            gateway: "198.51.100.1"
        )
        var evidence = Fixtures.evidence(
            [eth, wlan],
            ipv4: Fixtures.route(through: 3, gateway: "198.51.100.1", source: .unknown)
        )
        evidence.dnsServers = []
        #expect(
            self.render(self.log, Fixtures.snapshot(evidence), after: Fixtures.snapshot(Fixtures.routed)) == """
                14:31:46.123  satisfied  IPv4 through wlan0
                              - eth0
                              + wlan0 (wifi, 198.51.100.7/24, via 198.51.100.1)
                              name servers: no name server

                """
        )
    }

    @Test func everyDifferenceIsTold() throws {
        let path = try #require(Fixtures.snapshot(Fixtures.routed).path)
        func changes(_ change: (inout NetworkPath) -> Void) -> [String] {
            var other = path
            change(&other)
            return PathChange(from: path, to: other).phrases
        }
        #expect(changes { _ in } == [])
        #expect(changes { $0.isStale = true } == ["stale: no backend can confirm or refute the path now"])
        #expect(changes { $0.interfaces[0].name = "lan" } == ["eth0 is now called lan"])
        #expect(changes { $0.interfaces[0].metric = 7 } == ["eth0: metric 7"])
        #expect(changes { $0.interfaces[0].operationalState = .dormant } == ["eth0: operational state dormant"])
        #expect(
            changes { $0.interfaces[0].gateways = [Fixtures.address("192.0.2.9")] }
                == ["- eth0 gateway 192.0.2.1", "+ eth0 gateway 192.0.2.9"]
        )
        #expect(
            changes { $0.dnsServers?[0].isReachable = false } == ["name servers: 192.0.2.53 (not reachable)"]
        )
        // To know it, or not any more, is nothing to tell.
        #expect(changes { $0.dnsServers?[0].isReachable = true } == [])
        #expect(changes { $0.gateways = [] } == ["gateways in use: none"])
        #expect(changes { $0.supportsIPv6 = true } == ["+ IPv6"])
        #expect(changes { $0.carriedByIndex = 2 } == ["carried by eth0"])
        #expect(changes { $0.isExpensive = true } == ["now expensive"])
        #expect(changes { $0.internet = .portal } == ["internet: behind a captive portal"])
        #expect(
            changes { path in
                path.backends[0].health = .unhealthy
                path.backends[0].error = "gone"
            } == ["backend netlink: unhealthy: gone"]
        )
    }

    @Test func preference() throws {
        let eth = Fixtures.interface()
        let wlan = Fixtures.interface("wlan0", index: 3, type: .wifi)
        let first = Fixtures.snapshot(Fixtures.evidence([eth, wlan], ipv4: Fixtures.route()))
        let second = Fixtures.snapshot(Fixtures.evidence([eth, wlan], ipv4: Fixtures.route(through: 3)))
        let changes = PathChange(from: first.path, to: try #require(second.path)).phrases
        #expect(changes.contains("order of preference: wlan0, eth0"))
    }
}
