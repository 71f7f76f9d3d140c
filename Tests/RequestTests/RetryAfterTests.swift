// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import Testing

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
    private let example: Duration = .seconds(784_111_777)

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        " \tSun, 06 Nov 1994 08:49:37 GMT ",
    ])
    func allThreeFormsOfADateAreRead(text: String) {
        #expect(RetryAfter.parse(text, now: self.example - .seconds(90)) == .seconds(90))
        #expect(RetryAfter.parse(text, now: self.example - .milliseconds(1500)) == .milliseconds(1500))
        #expect(RetryAfter.parse(text, now: self.example + .seconds(90)) == .zero, "it has passed")
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), (" 7 ", 7), ("2147483648", Int64(Int32.max)),
        ("99999999999999999999999999", Int64(Int32.max)),
    ])
    func secondsAreRead(text: String, seconds: Int64) {
        #expect(RetryAfter.parse(text, now: self.example) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1 2", "soon", "0x10", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "١٢",
    ])
    func whatIsNeitherIsNil(text: String) {
        #expect(RetryAfter.parse(text, now: self.example) == nil)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:01 GMT", Int64(1)), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
    ])
    func theCalendarIsGregorian(text: String, seconds: Int64) {
        #expect(RetryAfter.parse(text, now: .zero) == .seconds(seconds))
    }

    @Test func aYearOfTwoDigitsIsNeverMoreThanFiftyYearsAhead() {
        let year2026: Duration = .seconds(1_770_000_000)
        #expect(RetryAfter.parse("Friday, 01-Jan-27 00:00:00 GMT", now: year2026) == .seconds(1_798_761_600) - year2026)
        #expect(RetryAfter.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: year2026) == .zero, "1994, not 2094")
        let year2098: Duration = .seconds(4_050_000_000)
        let new = RetryAfter.parse("Wednesday, 01-Jan-03 00:00:00 GMT", now: year2098)
        #expect(new == .seconds(4_197_052_800) - year2098, "2103, not 2003")
    }
}
