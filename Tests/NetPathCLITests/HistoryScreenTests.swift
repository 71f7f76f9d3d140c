// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import NetPathRecording

/// What a history says to somebody who is woken by it.
@Suite struct HistoryScreenTests {
    private static let second: Int64 = 1_000_000_000
    private static let origin: Int64 = 1_790_000_000 * second

    private func period(
        _ begin: Double,
        _ end: Double,
        _ status: PathStatus,
        _ code: PathReason.Code,
        _ message: String = "",
        internet: InternetReachability = .unknown,
        interface: String? = "wlan0"
    ) -> PathHistory.Period {
        var path = RecordedPath(NetworkPath(status, PathReason(code, message.isEmpty ? code.rawValue : message)))
        path.interface = interface
        path.internet = internet
        return self.period(begin, end, .path(path))
    }

    private func period(_ begin: Double, _ end: Double, _ content: PathHistory.Period.Content) -> PathHistory.Period {
        PathHistory.Period(
            begin: Self.origin + Int64(begin * 1e9),
            end: Self.origin + Int64(end * 1e9),
            content: content
        )
    }

    private func shown(_ periods: [PathHistory.Period]) -> ShownHistory {
        ShownHistory(
            periods: periods,
            begin: WallTime(nanoseconds: Self.origin),
            end: WallTime(nanoseconds: periods.last?.end ?? Self.origin)
        )
    }

    @Test func flickersAreToldWithWhatCameOfThem() {
        let periods = [
            self.period(0, 10, .satisfied, .routed),
            self.period(10, 10.002, .unsatisfied, .noRoute),
            self.period(10.002, 10.005, .requiresConnection, .configuringAddress),
            self.period(10.005, 190, .unsatisfied, .noCarrier, "wlan0 has no carrier"),
            self.period(190, 200, .satisfied, .routed),
        ]
        let entries = HistoryEntry.entries(of: periods)
        #expect(entries.count == 3)
        #expect(entries[1].length == .seconds(180))
        #expect(
            entries[1].steps == "within 5 ms, by way of unsatisfied (noRoute), requiresConnection (configuringAddress)"
        )
        let text = self.shown(periods).screen(TextStyle(isColored: false, width: nil))
        #expect(text.contains("unsatisfied for 3 min\n"))
        #expect(text.contains("wlan0 has no carrier; within 5 ms, by way of"))
        #expect(!text.contains("0 ms"))
        // For programs nothing is left out.
        #expect(self.shown(periods).document.line.components(of: "\"begin\"") == 5)
    }

    /// The cable goes, and with it the route: twice the same status and reason, of another interface.
    @Test func whatCameOfAChangeIsNoStepOfIt() {
        let periods = [
            self.period(0, 0.002, .unsatisfied, .noCarrier, "wan0 has no carrier"),
            self.period(0.002, 9, .unsatisfied, .noCarrier, "lan0 has no carrier"),
            self.period(9, 9.001, .unsatisfied, .noRoute), self.period(9.001, 9.002, .unsatisfied, .noCarrier),
            self.period(9.002, 20, .unsatisfied, .noCarrier, "wan0 has no carrier"),
        ]
        let steps = HistoryEntry.entries(of: periods).map(\.steps)
        #expect(steps == [nil, "within 2 ms, by way of unsatisfied (noRoute)"])
    }

    /// One that was killed at once leaves a moment of which nothing is known to have come.
    @Test func aMomentBeforeTheUnknownStandsForItself() {
        let periods = [
            self.period(0, 0, .satisfied, .routed), self.period(0, 5, .unknown("netpath was killed")),
            self.period(5, 10, .satisfied, .routed),
        ]
        #expect(HistoryEntry.entries(of: periods).map(\.steps) == [nil, nil, nil])
        let text = self.shown(periods).screen(TextStyle(isColored: false, width: nil))
        #expect(text.contains("satisfied\n") && text.contains("unknown for 5.0 s"), "\(text)")
    }

    /// An outage of a moment is an outage.
    @Test func aShortOutageIsNotHidden() {
        let periods = [
            self.period(0, 10, .satisfied, .routed), self.period(10, 10.003, .unsatisfied, .noRoute),
            self.period(10.003, 20, .satisfied, .routed),
        ]
        let entries = HistoryEntry.entries(of: periods)
        #expect(entries.count == 2 && entries[1].steps?.contains("unsatisfied (noRoute)") == true)
        let text = self.shown(periods).screen(TextStyle(isColored: false, width: nil))
        #expect(text.contains("there was none once, for 3 ms"))
        #expect(!text.hasPrefix("100"))
    }

    @Test func periodsThatReadAlikeAreOne() {
        let entries = HistoryEntry.entries(of: [
            self.period(0, 10, .satisfied, .routed), self.period(10, 30, .satisfied, .routed, internet: .reachable),
            self.period(30, 40, .satisfied, .routed, internet: .unreachable),
            self.period(40, 41, .unknown("netpath did not run")), self.period(41, 50, .unknown("netpath did not run")),
        ])
        #expect(entries.map(\.length) == [.seconds(30), .seconds(10), .seconds(10)])
        // A flicker is the last thing that is known.
        #expect(HistoryEntry.entries(of: [self.period(0, 0.001, .satisfied, .routed)]).count == 1)
        #expect(HistoryEntry.entries(of: []).isEmpty)
    }

    @Test func interfacesAreNamedOnce() {
        let text = self.shown([
            self.period(0, 10, .unsatisfied, .noCarrier, "wlan0 has no carrier"),
            self.period(10, 20, .satisfied, .routed, "the kernel routes"),
        ]).screen(TextStyle(isColored: false, width: nil))
        #expect(text.contains("wlan0 has no carrier\n"))
        #expect(text.contains("the kernel routes (wlan0)\n"))
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { self.ranges(of: part).count }
}
