// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Moments as people write them.
enum MomentText {
    /// Reads a moment: a time of day, a date and a time in local time, or RFC 3339 in UTC.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: A time of day is the last one that lies before it.
    /// - Returns: The moment; nil when it is none.
    static func parse(_ text: String, now: WallTime) -> WallTime? {
        var text = text[...]
        let isUTC = text.last == "Z" || text.last == "z"
        if isUTC { text.removeLast() }
        let parts = text.split(separator: text.contains("T") ? "T" : " ", omittingEmptySubsequences: false)
        guard let clock = parts.last.flatMap(self.clock) else { return nil }
        let (hour, minute, second, milliseconds) = clock
        var civil = now.local
        (civil.hour, civil.minute, civil.second, civil.millisecond) = (hour, minute, second, milliseconds)
        guard parts.count == 2 else {
            guard parts.count == 1, !isUTC else { return nil }
            if let today = WallTime.latest(local: civil, by: now) { return today }
            civil.day -= 1
            return WallTime.latest(local: civil, by: now)
        }
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { self.number($0) }
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2],
            (1970...9999).contains(year), (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        (civil.year, civil.month, civil.day) = (year, month, day)
        if isUTC { return WallTime(utc: civil) }
        return WallTime.latest(local: civil, by: now) ?? WallTime(local: civil)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func clock(_ text: Substring) -> (Int, Int, Int, Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = self.number(parts[0]), let minute = self.number(parts[1]),
            hour < 24, minute < 60
        else { return nil }
        guard parts.count == 3 else { return (hour, minute, 0, 0) }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count <= 2, let second = self.number(seconds[0]), second < 61 else { return nil }
        guard seconds.count == 2 else { return (hour, minute, second, 0) }
        let digits = seconds[1].prefix(3)
        guard let fraction = self.number(digits) else { return nil }
        return (hour, minute, second, fraction * [100, 10, 1][digits.count - 1])
    }

    private static func number(_ text: Substring) -> Int? {
        // `Int` would take a sign.
        guard !text.isEmpty, text.count <= 4, text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }
}

extension CivilTime {
    /// Date and time of day to the second: `2026-11-21 12:51:46`.
    var text: String { "\(self.date) \(self.time.dropLast(4))" }
}
