// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The field `Retry-After` (RFC 9110, 10.2.3).
public enum RetryAfter: Sendable {
    /// Reads how long a client shall wait: a number of seconds, or a date in any of the three forms of HTTP.
    ///
    /// - Parameters:
    ///   - value: The value of the field.
    ///   - now: The time since 1970 now.
    /// - Returns: The time to wait, zero for a date that has passed and never more than 68 years; nil when the value
    ///   is neither.
    public static func parse(_ value: String, now: Duration) -> Duration? {
        let value = value.trimmed
        let longest = Int64(Int32.max)
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            return .seconds(min(Int64(value) ?? longest, longest))
        }
        guard let date = HTTPDate.seconds(of: String(value), now: now.components.seconds) else { return nil }
        return min(max(.seconds(date) - now, .zero), .seconds(longest))
    }
}

extension StringProtocol {
    /// Without the white space that may surround the value of a field (RFC 9110, 5.6.3).
    package var trimmed: SubSequence {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        guard let first = self.firstIndex(where: { !isSpace($0) }), let last = self.lastIndex(where: { !isSpace($0) })
        else { return self[self.endIndex...] }
        return self[first...last]
    }
}
