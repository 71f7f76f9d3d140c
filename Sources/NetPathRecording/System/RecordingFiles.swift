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

    /// Finds the files of a folder, or takes a file as it is.
    ///
    /// - Throws: `SystemError` when there is no such folder or file, or it may not be read.
    package init(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .last("cannot read the recording \(path)") }
        if status.st_mode & S_IFMT == S_IFDIR {
            guard unsafe access(path, R_OK | X_OK) == 0 else { throw .last("cannot read the recording \(path)") }
            self.paths = RecordingStore.files(in: path)
        } else {
            self.paths = [path]
        }
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
        var status = stat()
        if unsafe fstat(file.number, &status) == 0 { bytes.reserveCapacity(min(limit, Int(status.st_size))) }
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
}
