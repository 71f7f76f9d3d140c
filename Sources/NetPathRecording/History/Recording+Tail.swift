// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension Recording {
    /// The last part of a recording, from a checkpoint on, as a recording of its own.
    ///
    /// - Parameters:
    ///   - limit: It may begin that many bytes before the end, or at the next checkpoint after that.
    ///   - masking: What puts something else in place of what is private; nil to leave everything as it is.
    /// - Returns: The lines; empty when there is nothing that could be replayed.
    /// - Throws: `SystemError`, ``RecordingError``, and errors of coding.
    package func tail(limit: Int, masking: inout Masking?) throws -> [UInt8] {
        // From the file on in which it begins, and the one before, whose header may be in force there.
        var sizes = 0
        var parts: [[UInt8]] = []
        for path in self.files.paths.reversed() {
            let bytes = Array(RecordingReport.recording(in: try RecordingFiles.bytes(of: path)))
            parts.insert(bytes, at: 0)
            if sizes >= limit { break }
            sizes += bytes.count
        }
        let lines = Array(parts.joined())
        let start = Self.checkpoint(in: lines, from: max(0, lines.count - limit))
        guard let start else { return [] }
        var reader = RecordingReader()
        var header: RecordedEvent?
        try Self.forEachLine(of: lines[..<start]) { line in
            guard RecordingLine(line)?.key == RecordingKey.header else { return true }
            header = try reader.read(line).first ?? header
            return true
        }
        var writer = RecordingWriter(RecordingHeader(netpath: netPathVersion))
        var bytes: [UInt8] = []
        if let header { bytes += try writer.line(of: Self.beginning(header, &masking)) }
        var isFirst = true
        try Self.forEachLine(of: lines[start...]) { line in
            for event in try reader.read(line) {
                var event = try Self.masked(event, &masking)
                if isFirst, case .checkpoint(let checkpoint, _) = event.kind {
                    event.kind = .checkpoint(checkpoint, continues: false)
                    isFirst = false
                }
                bytes += try writer.line(of: event)
            }
            return true
        }
        return isFirst ? [] : bytes
    }

    /// Where the first line of a checkpoint begins after a position, or the last one before it.
    private static func checkpoint(in lines: [UInt8], from position: Int) -> Int? {
        var found: Int?
        Self.forEachLine(of: lines[...]) { line in
            if RecordingLine(line)?.key == RecordingKey.checkpoint { found = line.startIndex }
            return found.map { $0 < position } ?? true
        }
        return found
    }

    private static func beginning(_ event: RecordedEvent, _ masking: inout Masking?) throws -> RecordedEvent {
        var event = try self.masked(event, &masking)
        if case .header(var header) = event.kind {
            header.continues = false
            event.kind = .header(header)
        }
        return event
    }

    private static func masked(_ event: RecordedEvent, _ masking: inout Masking?) throws -> RecordedEvent {
        guard var current = masking else { return event }
        defer { masking = current }
        var event = event
        switch event.kind {
        case .header(let header): event.kind = .header(try current.masked(header))
        case .checkpoint(let checkpoint, let continues):
            event.kind = .checkpoint(try current.masked(checkpoint), continues: continues)
        case .input(let input): event.kind = .input(try current.masked(input))
        case .path(let path): event.kind = .path(try current.masked(path))
        case .gap(let reason): event.kind = .gap(current.maskProse(reason))
        case .clock, .end: break
        }
        return event
    }
}

extension Masking {
    /// A value without what is private.
    ///
    /// - Throws: What coding it throws.
    package mutating func masked<Value: Codable>(_ value: Value) throws -> Value {
        try NodeDecoder.value(from: self.mask(try NodeEncoder.node(of: value)))
    }
}
