// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// A recording that is read.
package struct Recording: Sendable {
    let files: RecordingFiles

    /// Opens a recording.
    ///
    /// - Parameter path: A file, or a folder of files.
    /// - Throws: `SystemError` when it cannot be read.
    package init(_ path: String) throws {
        self.files = try RecordingFiles(path)
    }

    /// How many files are of a newer version of the format, and left out.
    package var newerFiles: Int { self.files.newerCount }

    /// Reads what was recorded, in the order in which it was written.
    ///
    /// - Parameters:
    ///   - detail: What is wanted.
    ///   - wall: What lies in files that end before this moment may be left out; nil to read all.
    ///   - body: Called with each event; returns whether to go on.
    /// - Returns: How many lines could not be read.
    /// - Throws: `SystemError`, ``RecordingError``, and what `body` throws.
    @discardableResult
    package func read(
        _ detail: RecordingReader.Detail = .everything,
        since wall: Int64? = nil,
        _ body: (RecordedEvent) throws -> Bool
    ) throws -> Int {
        var reader = RecordingReader(detail)
        for path in try self.paths(since: wall) {
            var goesOn = true
            try RecordingFiles.forEachLine(of: path) { line in
                guard case .whole(let line) = line else {
                    reader.skipDamagedLine()
                    return true
                }
                for event in try reader.read(line) where goesOn { goesOn = try body(event) }
                return goesOn
            }
            if !goesOn { return reader.damagedLines }
        }
        for event in reader.takeSkipped() { _ = try body(event) }
        return reader.damagedLines
    }

    /// The files from the one on in which a moment lies.
    func paths(since wall: Int64?) throws -> ArraySlice<String> {
        guard let wall else { return self.files.paths[...] }
        // The beginning of a file tells when that is.
        let begins = try self.files.paths.map { path in
            RecordingLine(try RecordingFiles.bytes(of: path, limit: 128)[...])?.wall
        }
        var first = max(0, (begins.firstIndex { $0.map { $0 > wall } ?? false } ?? begins.count) - 1)
        // One that began before the clock was set may be later than it says.
        while first > 0, let begin = begins[first], let before = begins[first - 1], begin < before { first -= 1 }
        return self.files.paths[first...]
    }

    static func forEachLine(of bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) throws -> Bool) rethrows {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            guard try body(rest[rest.startIndex..<end]) else { return }
            rest = rest[(end + 1)...]
        }
        // What a writer that was killed left of its last line.
        if !rest.isEmpty { _ = try body(rest) }
    }
}
