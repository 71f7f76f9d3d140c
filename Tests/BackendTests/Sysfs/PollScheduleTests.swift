// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathSysfs

@Suite struct PollScheduleTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test func fastAfterAChangeAndSlowWhenQuiet() {
        var schedule = PollSchedule(slow: .seconds(2), fast: .milliseconds(200))
        #expect(schedule.next == nil)
        var now: Int64 = 0
        func look(_ foundChange: Bool) -> Int64 {
            schedule.looked(at: self.time(now), cost: .zero, foundChange: foundChange)
            let next = schedule.next?.nanoseconds ?? 0
            defer { now = next / 1_000_000 }
            return next / 1_000_000 - now
        }
        #expect(look(true) == 200)
        #expect((0..<6).map { _ in look(false) } == [400, 800, 1600, 2000, 2000, 2000])
        #expect(look(true) == 200)
    }

    @Test func pauseBetweenLooksThatAreAskedFor() {
        var schedule = PollSchedule(slow: .seconds(2), fast: .milliseconds(200))
        schedule.looked(at: self.time(10), cost: .milliseconds(10), foundChange: true)
        #expect(schedule.earliest == self.time(60))
    }

    @Test func lookingTakesATenthOfAProcessorAtMost() {
        var schedule = PollSchedule(slow: .seconds(2), fast: .milliseconds(200))
        schedule.looked(at: self.time(300), cost: .milliseconds(300), foundChange: true)
        #expect(schedule.next == self.time(3300))
    }

    @Test func nothingMakesItBlindForMoreThanAFewIntervals() {
        var schedule = PollSchedule(slow: .seconds(1), fast: .milliseconds(200))
        schedule.looked(at: self.time(0), cost: .seconds(60), foundChange: true)
        #expect(schedule.next == self.time(3000))
    }

    @Test func fastIsNeverSlowerThanSlow() {
        var schedule = PollSchedule(slow: .milliseconds(100), fast: .seconds(5))
        schedule.looked(at: self.time(0), cost: .zero, foundChange: true)
        #expect(schedule.next == self.time(100))
    }
}
