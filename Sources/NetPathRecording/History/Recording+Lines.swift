// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension Recording {
    /// The lines of a recording that a history needs, as ``RecordingReader`` reads them.
    ///
    /// - Parameters:
    ///   - wall: What lies in files that end before this moment is left out.
    ///   - withMessages: Whether the sentences of reasons are told, besides their codes.
    /// - Returns: The lines.
    /// - Throws: `SystemError` and ``RecordingError``.
    package func pathLines(since wall: Int64, withMessages: Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try self.read(.paths, since: wall) { event in
            var members: [(String, JSONNode)] = [
                (RecordingKey.time, .integer(event.time.nanoseconds)),
                (RecordingKey.wall, .integer(event.wallNanoseconds)),
            ]
            switch event.kind {
            case .header(var header):
                // Its configuration may hold what is private.
                header.configuration = nil
                members.append((RecordingKey.header, try NodeEncoder.node(of: header)))
            case .path(var path):
                if !withMessages { path.reason.message = path.reason.code.rawValue }
                members.append((RecordingKey.path, try NodeEncoder.node(of: path)))
            case .gap(let reason): members.append((RecordingKey.gap, .string(reason)))
            case .end: members.append((RecordingKey.end, .bool(true)))
            case .clock: break
            case .checkpoint, .input: return true
            }
            JSONNode.write(members, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
            return true
        }
        return bytes
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
