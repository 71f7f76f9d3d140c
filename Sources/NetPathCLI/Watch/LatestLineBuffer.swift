// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What still has to be written of a stream of lines whose reader may be slow, without input and output.
///
/// A line that has begun is finished, because half a line is worth nothing to a reader; behind it only the newest
/// value is kept. Values are rendered when their line begins, so that a line can tell what changed since the one
/// that is really before it.
struct LatestLineBuffer<Value: Sendable>: Sendable {
    private struct Line: Sendable {
        var value: Value
        var bytes: [UInt8]
        var written = 0
    }

    private var line: Line?
    private var newest: Value?

    /// The last value of whose line anything was written, or that was passed over.
    private(set) var lastShown: Value?

    /// Whether anything is left to write.
    var isPending: Bool { self.line != nil || self.newest != nil }

    /// Takes a value, in place of any other that has not begun to be written.
    mutating func offer(_ value: Value) {
        self.newest = value
        if self.line?.written == 0 { self.line = nil }
    }

    /// Takes a value as the one that the first line is compared with, without a line of its own.
    mutating func skip(_ value: Value) {
        self.lastShown = value
    }

    /// Finds what to write next.
    ///
    /// - Parameter render: Makes the line of a value, given the value of the line before it; not empty.
    /// - Returns: The rest of the current line; empty when there is nothing to do.
    mutating func nextBytes(render: (_ value: Value, _ previous: Value?) -> [UInt8]) -> ArraySlice<UInt8> {
        if self.line == nil, let value = self.newest.take() {
            self.line = Line(value: value, bytes: render(value, self.lastShown))
        }
        guard let line = self.line else { return [] }
        return line.bytes[line.written...]
    }

    /// Notes that so many of the bytes from ``nextBytes(render:)`` are written.
    ///
    /// - Returns: Whether that was the end of a line.
    @discardableResult
    mutating func wrote(_ count: Int) -> Bool {
        guard var line = self.line, count > 0 else { return false }
        line.written += count
        self.lastShown = line.value
        self.line = line.written < line.bytes.count ? line : nil
        return self.line == nil
    }
}
