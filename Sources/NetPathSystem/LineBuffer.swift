// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Makes lines of bytes that arrive in pieces, and keeps no more than one line of a limited length.
///
/// ```swift
/// buffer.append(bytes)
/// while let line = buffer.next() { … }
/// ```
package struct LineBuffer: Sendable {
    /// A line longer than this is not kept.
    package let limit: Int
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Up to where there is certainly no line feed.
    private var searched = 0
    /// Whether the rest of a line that was too long is still to come.
    private var isSkipping = false

    /// A line, or what is left of one.
    package enum Line: Hashable, Sendable {
        /// Everything but the line feed.
        case whole(ArraySlice<UInt8>)
        /// The first bytes of a line that is longer than the limit.
        case tooLong(ArraySlice<UInt8>)

        /// What there is of it.
        package var bytes: ArraySlice<UInt8> {
            switch self {
            case .whole(let bytes), .tooLong(let bytes): bytes
            }
        }
    }

    /// Creates an empty buffer.
    ///
    /// - Parameter limit: How many bytes a line may have without its line feed.
    package init(limit: Int = 65_536) {
        self.limit = limit
    }

    /// Adds what arrived.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        if self.start > 0 {
            self.bytes.removeFirst(self.start)
            self.searched -= self.start
            self.start = 0
        }
        self.bytes += bytes
    }

    /// The bytes of a line whose end has not come.
    package var rest: ArraySlice<UInt8> { self.bytes[self.start...] }

    /// Takes the next line; nil when its end has not come.
    package mutating func next() -> Line? {
        while true {
            let end = self.bytes[self.searched...].firstIndex(of: UInt8(ascii: "\n"))
            guard let end else {
                self.searched = self.bytes.count
                return self.cut()
            }
            defer {
                self.start = end + 1
                self.searched = end + 1
            }
            if self.isSkipping {
                self.isSkipping = false
                continue
            }
            let line = self.bytes[self.start..<end]
            return line.count > self.limit ? .tooLong(line.prefix(100)) : .whole(line)
        }
    }

    /// Drops what is there of a line that is too long.
    private mutating func cut() -> Line? {
        let line = self.bytes[self.start...]
        guard self.isSkipping || line.count > self.limit else { return nil }
        let head = Array(line.prefix(100))
        self.bytes = []
        self.start = 0
        self.searched = 0
        defer { self.isSkipping = true }
        return self.isSkipping ? nil : .tooLong(head[...])
    }
}
