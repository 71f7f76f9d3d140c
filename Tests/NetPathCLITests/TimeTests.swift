// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct TimeTests {
    /// Expected values as `date -u -d @SECONDS +%Y-%m-%dT%H:%M:%S` prints them.
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_799, "2024-02-28T23:59:59.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_792_585_906, "2026-10-21T12:31:46.000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
            (-86_401, "1969-12-30T23:59:59.000Z"),
        ]
    )
    func utc(_ seconds: Int64, _ expected: String) {
        #expect(WallTime(nanoseconds: seconds * 1_000_000_000).rfc3339 == expected)
    }

    @Test func millisecondsAreCutOff() {
        #expect(WallTime(nanoseconds: 1_999_999).rfc3339 == "1970-01-01T00:00:00.001Z")
        #expect(WallTime(nanoseconds: 999_999_999).rfc3339 == "1970-01-01T00:00:00.999Z")
        #expect(WallTime(nanoseconds: -1).rfc3339 == "1969-12-31T23:59:59.999Z")
    }

    @Test func offsets() {
        let midnight = WallTime(nanoseconds: 1_792_540_800_000_000_000)
        #expect(CivilTime(midnight, offsetSeconds: 3_600 * 5 + 1_800).time == "05:30:00.000")
        #expect(CivilTime(midnight, offsetSeconds: -3_600).date == "2026-10-20")
    }

    @Test func anotherMoment() {
        let earlier = Fixtures.clock.wall(at: Fixtures.now + .seconds(-2))
        #expect(Fixtures.clock.wall.nanoseconds - earlier.nanoseconds == 2_000_000_000)
    }

    @Test(arguments: [("5s", 5_000), ("5", 5_000), ("1.5", 1_500), ("250ms", 250), ("2m", 120_000), ("0", 0)])
    func timeLimits(_ text: String, _ milliseconds: Int64) {
        #expect(TimeLimit(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "-1", "5 s", "5x", "s", "1e3", "99999999999h"])
    func badTimeLimits(_ text: String) {
        #expect(TimeLimit(argument: text) == nil)
    }
}
