// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The beginning of a line of a recording: enough to tell when it is of, and of what, without reading it all.
struct RecordingLine {
    var time: Int64
    /// The wall clock, where the line names it.
    var wall: Int64?
    /// The name of the member that says what the line is; nil for one that only tells the time of day.
    var key: String?

    /// Reads the beginning of a line; nil for one that does not look as a writer makes it.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        guard Self.take(#"{"at":"#, from: &rest), let time = Self.number(from: &rest),
            time.magnitude < MonotonicTime.codedLimit.magnitude
        else { return nil }
        self.time = time
        if Self.take(#","wall":"#, from: &rest) {
            guard let wall = Self.number(from: &rest) else { return nil }
            self.wall = wall
        }
        guard Self.take(#",""#, from: &rest) else { return }
        self.key = String(decoding: rest.prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    private static func take(_ text: StaticString, from rest: inout ArraySlice<UInt8>) -> Bool {
        let text = text.description.utf8
        guard rest.starts(with: text) else { return false }
        rest = rest.dropFirst(text.count)
        return true
    }

    private static func number(from rest: inout ArraySlice<UInt8>) -> Int64? {
        let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
