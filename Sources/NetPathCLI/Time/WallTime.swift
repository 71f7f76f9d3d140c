// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A point in time on the wall clock: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
struct WallTime: Hashable, Sendable, Codable {
    var nanoseconds: Int64

    /// The time in UTC with milliseconds as RFC 3339 writes it: `2026-11-21T12:51:46.123Z`.
    var rfc3339: String { CivilTime(self, offsetSeconds: 0).rfc3339 }
}

/// Both clocks, read at one moment.
struct ClockReading: Hashable, Sendable, Codable {
    var monotonic: MonotonicTime
    var wall: WallTime

    /// The wall clock at another moment, as far as it was not set in between.
    func wall(at moment: MonotonicTime) -> WallTime {
        WallTime(nanoseconds: self.wall.nanoseconds.subtractingSaturating((self.monotonic - moment).inNanoseconds))
    }
}

/// A point in time as calendar and clock show it at some offset from UTC.
struct CivilTime: Hashable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var millisecond: Int

    /// Computes the proleptic Gregorian date; milliseconds are cut off, not rounded.
    init(_ time: WallTime, offsetSeconds: Int) {
        let milliseconds = floorDivide(time.nanoseconds, by: 1_000_000)
        let seconds = floorDivide(milliseconds.quotient, by: 1_000)
        let days = floorDivide(seconds.quotient + Int64(offsetSeconds), by: 86_400)

        // Counted from 0000-03-01, so that the leap day ends its year: in an era of 400 years (146,097 days) the day
        // gives the year, and the day of that year the month, five of which span 153 days.
        let era = floorDivide(days.quotient + 719_468, by: 146_097)
        let dayOfEra = Int(era.remainder)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        self.month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        self.year = Int(era.quotient) * 400 + yearOfEra + (self.month <= 2 ? 1 : 0)

        let secondOfDay = Int(days.remainder)
        self.hour = secondOfDay / 3_600
        self.minute = secondOfDay / 60 % 60
        self.second = secondOfDay % 60
        self.millisecond = Int(seconds.remainder)
    }

    /// The date as ISO 8601 writes it: `2026-11-21`.
    var date: String { String(self.rfc3339.prefix(10)) }

    /// The time of day with milliseconds: `12:51:46.123`.
    var time: String { String(self.rfc3339.dropFirst(11).dropLast()) }

    /// Both, as those of UTC.
    fileprivate var rfc3339: String {
        // Octet by byte: every event has one, and a dozen short texts cost ten times as much.
        var text: [UInt8] = []
        text.reserveCapacity(24)
        text.append(self.year, digits: 4, "-")
        text.append(self.month, digits: 2, "-")
        text.append(self.day, digits: 2, "T")
        text.append(self.hour, digits: 2, ":")
        text.append(self.minute, digits: 2, ":")
        text.append(self.second, digits: 2, ".")
        text.append(self.millisecond, digits: 3, "Z")
        return String(decoding: text, as: UTF8.self)
    }
}

/// Division that rounds towards negative infinity, as calendars before 1970 need it.
private func floorDivide(_ dividend: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

extension [UInt8] {
    fileprivate mutating func append(_ number: Int, digits: Int, _ end: Unicode.Scalar) {
        var rest = number
        self.append(contentsOf: repeatElement(UInt8(ascii: end), count: digits + 1))
        for position in 2..<(digits + 2) {
            self[self.count - position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
