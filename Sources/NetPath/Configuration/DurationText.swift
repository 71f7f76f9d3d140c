// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The way durations are written in a configuration file: a number and one of `ms`, `s`, `m`, `h` and `d`.
package enum DurationText {
    /// The units with their length in nanoseconds, longest first.
    private static let units: [(suffix: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000),
    ]

    /// More decimals of an hour would overflow the arithmetic below.
    private static let decimals = 6

    /// Reads a duration such as `500ms`, `1.5s`, `5m` or `0`.
    ///
    /// - Parameter text: The text, without spaces and signs.
    /// - Returns: The duration, `nil` when the text is none: a number other than zero needs its unit.
    package static func parse(_ text: String) -> Duration? {
        let number = text.prefix { $0.isASCIIDigit || $0 == "." }
        let suffix = text.dropFirst(number.count)
        if number == "0", suffix.isEmpty { return .zero }
        guard let unit = units.first(where: { $0.suffix == suffix })?.nanoseconds else { return nil }

        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int64($0) }), parts.count <= 2 else { return nil }
        let (nanoseconds, isTooLong) = whole.multipliedReportingOverflow(by: unit)
        guard !isTooLong else { return nil }
        guard parts.count == 2 else { return .nanoseconds(nanoseconds) }
        guard let fraction = Int64(parts[1]), parts[1].count <= decimals else { return nil }
        let divisor = parts[1].reduce(Int64(1)) { scale, _ in scale * 10 }
        return .nanoseconds(nanoseconds) + .nanoseconds(fraction * unit / divisor)
    }

    /// Writes a duration in the longest unit that needs no decimals.
    ///
    /// - Parameter duration: A duration; what is shorter than a millisecond is cut off.
    /// - Returns: Text such as `90s`, which ``parse(_:)`` reads.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        if milliseconds != 0 { return "\(seconds * 1_000 + milliseconds)ms" }
        if seconds != 0, seconds % 3_600 == 0 { return "\(seconds / 3_600)h" }
        if seconds != 0, seconds % 60 == 0 { return "\(seconds / 60)m" }
        return "\(seconds)s"
    }
}

extension Character {
    /// Whether the character is one of the ten digits, and not a digit of another script.
    var isASCIIDigit: Bool { "0"..."9" ~= self && isASCII }
}
