// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The lines of a recording that a history needs, as ``RecordingReader`` reads them, in pages.
///
/// A value of a few hundred bytes between two pages, however long the recording is.
package struct PathLines: Sendable {
    /// As much of a file is read at a time, or a line where that is longer.
    private let part: Int
    /// A page ends when it has so many bytes, or that many of the recording hold none for it.
    private static let page = (bytes: 24 << 10, read: 256 << 10)

    /// Whether there are no more.
    package private(set) var isAtEnd = false
    private let withMessages: Bool
    private var files: ArraySlice<String>
    private var offset = 0
    private var reader = RecordingReader(.paths)
    /// Whether the rest of a line follows that is too long.
    private var isWithinLongLine = false

    fileprivate init(_ files: ArraySlice<String>, withMessages: Bool, part: Int) {
        self.files = files
        self.withMessages = withMessages
        self.part = part
    }

    /// Takes the next page.
    ///
    /// - Returns: Whole lines; maybe none where none of what was read is needed.
    /// - Throws: `SystemError`, ``RecordingError``, and errors of coding.
    package mutating func next() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var read = 0
        while let file = self.files.first, bytes.count < Self.page.bytes, read < Self.page.read {
            let (lines, isLast, next) = try self.lines(of: file)
            read += next - self.offset
            self.offset = next
            try Recording.forEachLine(of: lines[...]) { line in
                for event in try self.reader.read(line) { try self.write(event, to: &bytes) }
                return true
            }
            guard isLast else { continue }
            self.files.removeFirst()
            (self.offset, self.isWithinLongLine) = (0, false)
        }
        if self.files.isEmpty, !self.isAtEnd {
            self.isAtEnd = true
            for event in self.reader.takeSkipped() { try self.write(event, to: &bytes) }
        }
        return bytes
    }

    /// Reads the next lines of a file: whole ones, but for what a writer that was killed left of its last line.
    private mutating func lines(of file: String) throws -> (bytes: [UInt8], isLast: Bool, next: Int) {
        var limit = self.part
        while true {
            var bytes = try RecordingFiles.bytes(of: file, from: self.offset, limit: limit)
            let isLast = bytes.count < limit
            let next = self.offset + bytes.count
            if self.isWithinLongLine {
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return ([], isLast, next) }
                self.isWithinLongLine = false
                return ([], false, self.offset + end + 1)
            }
            if isLast { return (bytes, true, next) }
            if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) {
                bytes.removeLast(bytes.count - end - 1)
                return (bytes, false, self.offset + bytes.count)
            }
            if bytes.count > RecordingReader.lineLimit {
                self.reader.skipDamagedLine()
                self.isWithinLongLine = true
                return ([], false, next)
            }
            limit *= 2
        }
    }

    private func write(_ event: RecordedEvent, to bytes: inout [UInt8]) throws {
        var members: [JSONObject.Member] = [
            (RecordingKey.time, .integer(event.time.nanoseconds)),
            (RecordingKey.wall, .integer(event.wallNanoseconds)),
        ]
        switch event.kind {
        case .header(var header):
            // Its configuration may hold what is private.
            header.configuration = nil
            members.append((RecordingKey.header, try NodeEncoder.node(of: header)))
        case .path(var path):
            if !self.withMessages { path.reason.hideMessage() }
            members.append((RecordingKey.path, try NodeEncoder.node(of: path)))
        case .gap(let reason): members.append((RecordingKey.gap, .string(reason)))
        case .end: members.append((RecordingKey.end, .bool(true)))
        case .clock: break
        case .checkpoint, .input: return
        }
        if let slept = event.sleptNanoseconds { members.append((RecordingKey.slept, .integer(slept))) }
        bytes += JSONText.line(JSONNode.object(members).write)
    }
}

extension Recording {
    /// The lines that a history needs.
    ///
    /// - Parameters:
    ///   - wall: What lies in files that end before this moment is left out.
    ///   - withMessages: Whether the sentences of reasons are told, besides their codes.
    ///   - part: How many bytes of a file are read at a time.
    /// - Returns: The lines.
    /// - Throws: `SystemError`.
    package func pathLines(since wall: Int64, withMessages: Bool, part: Int = 32 << 10) throws -> PathLines {
        PathLines(try self.paths(since: wall), withMessages: withMessages, part: part)
    }

    /// Reads such lines.
    ///
    /// - Throws: ``RecordingError``.
    package static func read(_ lines: [UInt8], _ body: (RecordedEvent) -> Void) throws {
        var reader = RecordingReader(.paths)
        try Self.forEachLine(of: lines[...]) { line in
            for event in try reader.read(line) { body(event) }
            return true
        }
    }
}
