// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// What a history makes of restarts, kills, sleep and clocks that are set.
@Suite struct HistoryTests {
    private static let second: Int64 = 1_000_000_000
    /// The wall clock at the monotonic time 0.
    private static let origin: Int64 = 1_790_000_000 * second

    private struct Script {
        var lines = ""
        var offset = HistoryTests.origin
        /// In seconds; nil for an older version, which did not tell it.
        var slept: Int64?

        mutating func add(_ seconds: Int64, _ member: String, withWall: Bool = false) {
            let time = seconds * HistoryTests.second
            self.lines += #"{"at":\#(time)"# + (withWall ? #","wall":\#(time + self.offset)"# : "")
            self.lines += member.isEmpty ? "" : ",\(member)"
            if withWall, let slept { self.lines += #","slept":\#(slept * HistoryTests.second)"# }
            self.lines += "}\n"
        }

        mutating func begin(_ seconds: Int64, boot: String = "b", continues: Bool = false) {
            self.add(
                seconds,
                #""header":{"recording":1,"netpath":"0","boot":"\#(boot)","continues":\#(continues)}"#,
                withWall: true
            )
        }

        mutating func path(_ seconds: Int64, _ status: String, _ code: String, _ interface: String = "wlan0") {
            let reason = #"{"code":"\#(code)","message":"\#(code)"}"#
            self.add(
                seconds,
                #""path":{"status":"\#(status)","reason":\#(reason),"isStale":false,"internet":"unknown","interface":"\#(interface)"}"#
            )
        }

        func periods(until seconds: Int64? = nil) throws -> [PathHistory.Period] {
            var history = PathHistory()
            try Recording.read(Array(self.lines.utf8)) { history.take($0) }
            if let seconds { history.close(at: seconds * HistoryTests.second + self.offset) }
            return history.within(.min, .max)
        }
    }

    private func words(_ periods: [PathHistory.Period]) -> [String] {
        periods.map { period in
            let content =
                switch period.content {
                case .path(let path): path.status.rawValue
                case .unknown: "unknown"
                }
            return "\((period.begin - Self.origin) / Self.second) \(content) \(period.length / .seconds(1))"
        }
    }

    @Test func severalOutages() throws {
        var script = Script()
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.path(100, "unsatisfied", "noCarrier")
        script.path(110, "requiresConnection", "configuringAddress")
        script.path(113, "satisfied", "routed", "eth0")
        script.path(200, "unsatisfied", "noRoute")
        let periods = try script.periods(until: 250)
        #expect(
            self.words(periods) == [
                "0 satisfied 100.0", "100 unsatisfied 10.0", "110 requiresConnection 3.0", "113 satisfied 87.0",
                "200 unsatisfied 50.0",
            ]
        )
        let sum = Availability(periods)
        #expect(sum.known == .seconds(250) && sum.unknown == .zero)
        #expect(sum.down == .init(count: 2, total: .seconds(63), longest: .seconds(50)))
        #expect(sum.byReason[.noCarrier] == .init(count: 1, total: .seconds(13), longest: .seconds(13)))
        #expect(sum.byReason[.noRoute]?.total == .seconds(50))
        #expect(sum.byInterface["wlan0"]?.total == .seconds(13) && sum.byInterface["eth0"]?.total == .seconds(50))
        #expect(sum.share.map { abs($0 - 187.0 / 250) < 1e-9 } == true)
    }

    /// What is known to have ended is not said to have ended at an unknown time.
    @Test func anEndInGoodOrderStays() {
        var history = PathHistory()
        history.take(RecordedEvent(time: MonotonicTime(nanoseconds: 5), wallNanoseconds: 5, kind: .end))
        history.endUnseen("it did not say when")
        history.close(at: 9)
        #expect(history.periods.map(\.content) == [.unknown("netpath did not run")])
    }

    @Test func restartsAndKills() throws {
        var script = Script()
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.add(60, #""end":true"#)
        script.begin(90)
        script.path(90, "satisfied", "routed")
        // Alive, though nothing changed; then nobody says anything any more.
        script.add(500, #""report":{"backend":0,"generation":1}"#)
        script.begin(600)
        script.path(600, "unsatisfied", "noCarrier")
        let periods = try script.periods(until: 610)
        #expect(
            self.words(periods) == [
                "0 satisfied 60.0", "60 unknown 30.0", "90 satisfied 410.0", "500 unknown 100.0",
                "600 unsatisfied 10.0",
            ]
        )
        #expect(Availability(periods).unknown == .seconds(130))
        guard case .unknown(let reason) = periods[3].content else { return }
        #expect(reason.contains("killed") && !reason.contains("machine"))
    }

    /// The monotonic clock begins anew with a boot.
    @Test func reboot() throws {
        var script = Script()
        script.begin(5_000)
        script.path(5_000, "satisfied", "routed")
        script.offset += 5_100 * Self.second
        script.begin(10, boot: "c")
        script.path(10, "satisfied", "routed")
        let periods = try script.periods(until: 20)
        #expect(
            self.words(periods) == ["5000 unknown 110.0", "5110 satisfied 10.0"]
                || self.words(periods) == ["5000 satisfied 0.0", "5000 unknown 110.0", "5110 satisfied 10.0"]
        )
        let reasons = periods.compactMap { if case .unknown(let reason) = $0.content { reason } else { nil } }
        #expect(reasons.first?.contains("machine went down") == true)
    }

    @Test func sleep() throws {
        var script = Script()
        script.begin(0)
        script.path(0, "satisfied", "routed")
        // Ten seconds awake, an hour asleep.
        script.offset += 3_600 * Self.second
        script.add(10, "", withWall: true)
        script.path(12, "unsatisfied", "noCarrier")
        let periods = try script.periods(until: 20)
        #expect(
            self.words(periods) == [
                "0 satisfied 10.0", "10 unknown 3600.0", "3610 satisfied 2.0", "3612 unsatisfied 8.0",
            ]
        )
        #expect(Availability(periods).known == .seconds(20))
    }

    @Test func clockSetBackByAYear() throws {
        var script = Script()
        script.begin(0)
        script.path(0, "satisfied", "routed")
        let year = 365 * 86_400 * Self.second
        script.offset -= year
        script.add(100, "", withWall: true)
        script.path(150, "unsatisfied", "noCarrier")
        let periods = try script.periods(until: 200)
        // The clock as it is now dates what was before, too.
        #expect(periods.map { $0.length } == [.seconds(150), .seconds(50)])
        #expect(periods.first?.begin == Self.origin - year)
        #expect(Availability(periods).down.total == .seconds(50))
        #expect(Availability(periods).known == .seconds(200))
        // Nothing is ever negative.
        var history = PathHistory()
        try Recording.read(Array(script.lines.utf8)) { history.take($0) }
        history.close(at: 0)
        #expect(history.periods.allSatisfy { $0.end >= $0.begin })
    }

    /// The path goes down, nothing happens for 24 minutes, and the power is cut.
    @Test func powerCut() throws {
        var script = Script(slept: 0)
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.path(60, "unsatisfied", "noCarrier")
        for minute in 1...15 { script.add(60 + Int64(minute) * 90, "", withWall: true) }
        script.offset += 1_500 * Self.second
        script.begin(10, boot: "c")
        script.path(12, "satisfied", "routed")
        #expect(
            self.words(try script.periods(until: 20)) == [
                "0 satisfied 60.0", "60 unsatisfied 1350.0", "1410 unknown 102.0", "1512 satisfied 8.0",
            ]
        )
    }

    /// The wall clock is set, forward or back, while the machine is awake: that is no gap, and no time is lost.
    @Test(arguments: [-365 * 86_400, -10, 10, 3_600, 20_000 * 86_400] as [Int64])
    func aClockThatIsSetIsNoGap(_ step: Int64) throws {
        var script = Script(slept: 7)
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.path(20, "unsatisfied", "noCarrier")
        script.offset += step * Self.second
        script.add(30, "", withWall: true)
        script.path(50, "satisfied", "routed")
        #expect(
            self.words(try script.periods(until: 60)) == [
                "\(step) satisfied 20.0", "\(step + 20) unsatisfied 30.0", "\(step + 50) satisfied 10.0",
            ]
        )
    }

    /// The machine sleeps, and its clock is set back while it does.
    @Test func sleepAndAClockThatIsSet() throws {
        var script = Script(slept: 0)
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.slept = 600
        script.offset += (600 - 3_600) * Self.second
        script.add(10, "", withWall: true)
        #expect(
            self.words(try script.periods(until: 20)) == [
                "-3600 satisfied 10.0", "-3590 unknown 600.0", "-2990 satisfied 10.0",
            ]
        )
    }

    /// A vehicle without a clock: it boots in 1970, or where the boot before was once, and learns the time later.
    @Test(arguments: [-Self.origin / Self.second, -150, 400])
    func bootsBeforeTheClockIsSet(_ wrong: Int64) throws {
        var script = Script(slept: 0)
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.path(100, "unsatisfied", "noCarrier")
        script.add(200, "", withWall: true)
        let right = script.offset + 300 * Self.second
        script.offset += wrong * Self.second
        script.begin(5, boot: "c")
        script.path(6, "unsatisfied", "noCarrier")
        script.path(30, "satisfied", "routed")
        var unset = PathHistory()
        try Recording.read(Array(script.lines.utf8)) { unset.take($0) }
        let (begin, end) = (Self.origin, Self.origin + 250 * Self.second)
        let sum = Availability(unset.within(begin, end))
        #expect(sum.known + sum.unknown <= .seconds(250))
        script.offset = right
        script.add(40, "", withWall: true)
        let periods = try script.periods(until: 50)
        #expect(
            self.words(periods) == [
                "0 satisfied 100.0", "100 unsatisfied 100.0", "200 unknown 106.0", "306 unsatisfied 24.0",
                "330 satisfied 20.0",
            ]
        )
        #expect(Availability(periods).unknown == .seconds(106))
    }

    /// What a damaged line said is not known until another one says what the path is.
    @Test func damagedLinesAreAGapThatBeginsAtTheLastGoodOne() throws {
        var script = Script(slept: 0)
        script.begin(0)
        script.path(0, "unsatisfied", "noCarrier")
        script.add(10, "", withWall: true)
        script.lines += "{\"at\":11000000000,\"path\":{\"status\":\"satis\n"
        script.add(30, #""report":{"backend":0,"generation":1}"#)
        script.add(40, "", withWall: true)
        script.path(50, "satisfied", "routed")
        #expect(
            self.words(try script.periods(until: 60)) == [
                "0 unsatisfied 10.0", "10 unknown 40.0", "50 satisfied 10.0",
            ]
        )
        // Half a line of a program that was killed.
        script.lines += "{\"at\":550000000"
        script.lines += "\n"
        script.begin(80)
        script.path(80, "satisfied", "routed")
        let periods = try script.periods(until: 90)
        #expect(self.words(periods).suffix(2) == ["50 unknown 30.0", "80 satisfied 10.0"])
    }

    @Test func gapsAndTheBeginningOfAPeriod() throws {
        var script = Script()
        script.begin(0)
        script.path(0, "satisfied", "routed")
        script.add(10, #""gap":"the disk is full""#)
        script.begin(30)
        script.path(30, "satisfied", "routed")
        #expect(
            self.words(try script.periods(until: 40)) == ["0 satisfied 10.0", "10 unknown 20.0", "30 satisfied 10.0"]
        )
        var history = PathHistory()
        try Recording.read(Array(script.lines.utf8)) { history.take($0) }
        history.close(at: Self.origin + 40 * Self.second)
        let since = history.within(Self.origin + 20 * Self.second, .max)
        #expect(self.words(since) == ["20 unknown 10.0", "30 satisfied 10.0"])
        #expect(Availability([]).share == nil)
    }
}
