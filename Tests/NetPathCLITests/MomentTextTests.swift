// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import Testing

@testable import NetPathCLI

/// Moments as people write them, where summer time begins and ends.
///
/// The time zone is the process's, hence one test.
@Suite(.serialized) struct MomentTextTests {
    private func moment(_ text: String, by now: String) -> String? {
        guard let now = MomentText.parse(now, now: WallTime(nanoseconds: .max / 2)) else { return "no \(now)" }
        return MomentText.parse(text, now: now)?.rfc3339
    }

    @Test func inATimeZone() {
        let former = unsafe getenv("TZ").map { unsafe String(cString: $0) }
        // Central Europe, without asking for a database of time zones.
        unsafe setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
        tzset()
        defer {
            if let former { unsafe setenv("TZ", former, 1) } else { unsafe unsetenv("TZ") }
            tzset()
        }
        let now = "2026-11-23T12:00:00Z"
        #expect(self.moment("03:12", by: now) == "2026-11-23T02:12:00.000Z")
        #expect(self.moment("13:00", by: now) == "2026-11-23T12:00:00.000Z")
        // It has not been so late today.
        #expect(self.moment("13:01", by: now) == "2026-11-22T12:01:00.000Z")
        #expect(self.moment("03:12:30.5", by: now) == "2026-11-23T02:12:30.500Z")
        #expect(self.moment("2026-07-01 03:12", by: now) == "2026-07-01T01:12:00.000Z")
        #expect(self.moment("2026-07-01T03:12:00Z", by: now) == "2026-07-01T03:12:00.000Z")
        // On the first of a month yesterday is in another one.
        #expect(self.moment("23:00", by: "2026-12-01T12:00:00Z") == "2026-11-30T22:00:00.000Z")
        // An hour that came twice: the later one, unless that is still to come.
        #expect(self.moment("2026-10-25 02:30", by: now) == "2026-10-25T01:30:00.000Z")
        #expect(self.moment("02:30", by: "2026-10-25T01:00:00Z") == "2026-10-25T00:30:00.000Z")
        #expect(self.moment("02:30", by: "2026-10-25T02:00:00Z") == "2026-10-25T01:30:00.000Z")
        // An hour that did not come: an hour beside it.
        let skipped = self.moment("2026-03-29 02:30", by: now)
        #expect(skipped == "2026-03-29T00:30:00.000Z" || skipped == "2026-03-29T01:30:00.000Z")
        // A day of 23 hours lies between.
        #expect(self.moment("12:30", by: "2026-03-29T10:00:00Z") == "2026-03-28T11:30:00.000Z")
        // What is to come is a time as well.
        #expect(self.moment("2027-01-01 00:00", by: now) == "2026-12-31T23:00:00.000Z")
    }

    @Test(
        arguments: [
            "", "3", "24:00", "03:60", "03:12:61", "03:12:30.", "+3:12", "-1:00", "03:12Z", "2026-02-30 03:12",
            "2026-02-29 03:12",
            "2026-13-01 03:12", "2026-00-10 03:12", "2026-11-00 03:12", "1969-01-01 03:12", "2026-11-23  03:12",
            "2026-11-23T",
            "yesterday", "2026-11-23 03:12 extra", "٠٣:١٢", "99999999999999999999:00",
        ]
    )
    func noTime(_ text: String) {
        #expect(MomentText.parse(text, now: WallTime(nanoseconds: 1_790_000_000_000_000_000)) == nil)
    }
}
