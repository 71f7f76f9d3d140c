// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A time as HTTP writes it, in any of the three forms that a recipient must accept (RFC 9110, 5.6.7).
public enum HTTPDate: Sendable {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads a date.
    ///
    /// - Parameters:
    ///   - text: The date, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///   - now: The seconds since 1970 of the present moment, for years of two digits.
    /// - Returns: The seconds since 1970; nil when it is no date.
    public static func seconds(of text: String, now: Int64) -> Int64? {
        let words = text.split(separator: " ")
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT" && words[3].utf8.count == 4:
            return self.seconds(day: words[1], month: words[2], year: self.number(words[3]), time: words[4])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[2].utf8.count == 2, let short = self.number(date[2]) else { return nil }
            let year = self.year(short, now: now)
            return self.seconds(day: date[0], month: date[1], year: year, time: words[2])
        // Sun Nov  6 08:49:37 1994
        case 5 where words[4].utf8.count == 4:
            return self.seconds(day: words[2], month: words[1], year: self.number(words[4]), time: words[3])
        default: return nil
        }
    }

    private static func seconds(day: Substring, month: Substring, year: Int64?, time: Substring) -> Int64? {
        let time = time.split(separator: ":", omittingEmptySubsequences: false).map(self.number)
        guard let year, let day = self.number(day), let month = self.months.firstIndex(where: { $0 == month }),
            time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
            // 60 is a leap second.
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return self.days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// A year of two digits is never more than fifty years ahead.
    private static func year(_ short: Int64, now: Int64) -> Int64 {
        let thisYear = 1970 + now / 31_556_952
        let year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { return year - 100 }
        return year <= thisYear - 50 ? year + 100 : year
    }

    /// The days since 1970 of a day in the Gregorian calendar, counted in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func number(_ text: Substring) -> Int64? {
        let isNumber = !text.isEmpty && text.utf8.count <= 4 && text.utf8.allSatisfy { (48...57).contains($0) }
        return isNumber ? Int64(text) : nil
    }
}
