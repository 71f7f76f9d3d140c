// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPathSystem

/// The files of a recording, for reading.
package struct RecordingFiles: Sendable {
    /// More than this of a file is not read.
    private static let limit = 256 << 20

    /// The files, the oldest first.
    package let paths: [String]
    /// How many files of the folder are of a newer version of the format, and left out.
    package let newerCount: Int

    /// Whether a folder holds a recording that this process may list.
    package static func exist(in folder: String) -> Bool { !RecordingStore.files(in: folder).isEmpty }

    /// Finds the files of a folder, or takes a file as it is.
    ///
    /// - Throws: `SystemError` when there is no such folder or file, or it may not be read.
    package init(_ path: String) throws(SystemError) {
        guard let status = FileAccess.status(path) else { throw .last("cannot read the recording \(path)") }
        if status.isFolder {
            guard unsafe access(path, R_OK | X_OK) == 0 else { throw .last("cannot read the recording \(path)") }
            let all = RecordingStore.files(in: path)
            let known = all.filter { !Self.isNewer($0) }
            // Where there is nothing else, reading says that it is newer.
            self.paths = known.isEmpty ? all : known
            self.newerCount = known.isEmpty ? 0 : all.count - known.count
        } else {
            guard status.isFile else {
                throw SystemError(
                    action: "cannot read the recording \(path), which is neither a file nor a folder",
                    errno: EINVAL
                )
            }
            self.paths = [path]
            self.newerCount = 0
        }
    }

    /// Whether the first line of a file names a newer version of the format than this program knows.
    static func isNewer(_ path: String) -> Bool {
        // The line holds a configuration, which may be long.
        guard let bytes = try? self.bytes(of: path, limit: 65_536), !bytes.isEmpty,
            let header = try? JSONReader.read(bytes.prefix { $0 != UInt8(ascii: "\n") }, valueLimit: .max),
            case .integer(let format)? = header[RecordingKey.header]?["recording"]
        else { return false }
        return format > Int64(RecordingHeader.format)
    }

    /// Whether a file holds anything but a recording.
    static func isOther(_ path: String) -> Bool {
        let mark = Array("{\"\(RecordingKey.time)\":".utf8)
        guard let start = try? self.bytes(of: path, limit: mark.count), !start.isEmpty else { return false }
        return start != mark
    }

    /// Reads a file, or a part of it; one that was removed meanwhile is empty.
    ///
    /// - Throws: `SystemError` when it cannot be read.
    package static func bytes(
        of path: String,
        from start: Int = 0,
        limit: Int = Self.limit
    ) throws(SystemError) -> [UInt8] {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            if errno == ENOENT { return [] }
            throw .last("cannot read the recording \(path)")
        }
        var bytes: [UInt8] = []
        guard let status = file.status, status.isFile else {
            throw SystemError(action: "cannot read the recording \(path), which is not a file", errno: EINVAL)
        }
        bytes.reserveCapacity(min(limit, Int(status.st_size)))
        if start > 0, lseek(file.number, off_t(start), SEEK_SET) < 0 {
            throw .last("cannot read the recording \(path)")
        }
        while bytes.count < limit {
            guard let part = file.read(limit: min(1 << 20, limit - bytes.count)) else {
                if errno == EINTR { continue }
                throw .last("cannot read the recording \(path)")
            }
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    /// Reads the lines of a recording, also of one in a report, in little memory however long the file is.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - body: Called with each line; returns whether to go on.
    /// - Throws: `SystemError` when it cannot be read, and what `body` throws.
    static func forEachLine(of path: String, _ body: (LineBuffer.Line) throws -> Bool) throws {
        var buffer = LineBuffer(limit: RecordingReader.lineLimit)
        var place = RecordingReport.Place()
        var offset = 0
        while offset < self.limit {
            let part = try self.bytes(of: path, from: offset, limit: 1 << 20)
            offset += part.count
            buffer.append(part)
            while let line = buffer.next() {
                guard place.isOfRecording(line) else { continue }
                guard try body(line) else { return }
            }
            if part.isEmpty { break }
        }
        // What a writer that was killed left of its last line.
        let rest = LineBuffer.Line.whole(buffer.rest)
        if !buffer.rest.isEmpty, place.isOfRecording(rest) { _ = try body(rest) }
    }
}
