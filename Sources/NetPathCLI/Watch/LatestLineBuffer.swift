// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What still has to be written of a stream of lines whose reader may be slow, without input and output.
///
/// A line that has begun is finished, because half a line is worth nothing to a reader; behind it only the newest
/// value is kept. Values are rendered when their line begins, so that a line can tell what changed since the one
/// that is really before it.
struct LatestLineBuffer<Value: Sendable>: Sendable {
    /// The value whose line is being written; nil between lines.
    private var current: Shared<Value>?
    private var newest: Shared<Value>?
    private var last: Shared<Value>?
    /// The line, and what is left behind it of longer ones: every line is written into the same room.
    private var room: [UInt8] = []
    private var count = 0
    private var written = 0

    /// The last value of whose line anything was written, or that was passed over.
    var lastShown: Value? { self.last?.value }

    /// Whether anything is left to write.
    var isPending: Bool { self.current != nil || self.newest != nil }

    /// Takes a value, in place of any other that has not begun to be written.
    mutating func offer(_ value: Value) {
        self.newest = Shared(value)
        if self.written == 0 { self.current = nil }
    }

    /// Takes a value as the one that the first line is compared with, without a line of its own.
    mutating func skip(_ value: Value) {
        self.last = Shared(value)
    }

    /// Makes the line of a value, given the value of the line before it: writes it into an array from its beginning
    /// on, lengthening that where needed, and returns how many bytes it has; zero for a value without a line.
    typealias Renderer = (_ value: Value, _ previous: () -> Value?, _ room: inout [UInt8]) -> Int

    /// Finds what to write next.
    ///
    /// - Returns: The rest of the current line; empty when there is nothing to do.
    mutating func nextBytes(render: Renderer) -> ArraySlice<UInt8> {
        if self.current == nil, let next = self.newest.take() {
            self.current = next
            let last = self.last
            self.count = render(next.value, { last?.value }, &self.room)
            self.written = 0
            if self.count == 0 {
                self.last = next
                self.current = nil
            }
        }
        return self.current == nil ? [] : self.room[self.written..<self.count]
    }

    /// Notes that so many of the bytes from ``nextBytes(render:)`` are written.
    ///
    /// - Returns: Whether that was the end of a line.
    @discardableResult
    mutating func wrote(_ count: Int) -> Bool {
        guard let current = self.current, count > 0 else { return false }
        self.written += count
        self.last = current
        guard self.written == self.count else { return false }
        self.current = nil
        self.written = 0
        return true
    }
}
