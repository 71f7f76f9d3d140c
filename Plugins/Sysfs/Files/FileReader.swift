// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Reads text files into one buffer that is used again and again.
///
/// Nothing here waits, and nothing grows beyond the longest file: files are opened without blocking, so that a pipe
/// answers at once, and no more than a limit is read of any. An interface can vanish before, between and after any two
/// of these calls.
final class FileReader {
    /// What came of reading a file.
    enum Outcome<Result> {
        case read(Result)
        /// There is no such file.
        case missing
        /// The file is there and tells nothing: `errno(3)`.
        case failed(Int32)

        /// The result; nil when there is none.
        var value: Result? {
            if case .read(let result) = self { result } else { nil }
        }
    }

    /// What is no longer than this is read with one call.
    static let attributeLimit = 1024

    private var buffer: [UInt8]

    /// Creates a reader.
    ///
    /// - Parameter room: The size of the buffer to begin with; a longer file makes it grow once.
    init(room: Int = 16_384) {
        self.buffer = [UInt8](repeating: 0, count: room)
    }

    /// Reads a value from a file; nil when it holds none, or cannot be read.
    func value<Value>(
        _ path: String,
        in directory: Directory? = nil,
        limit: Int = 32,
        _ body: (Span<UInt8>) -> Value?
    ) -> Value? {
        self.read(path, in: directory, limit: limit) { text, _ in body(text) }.value ?? nil
    }

    /// Reads a file and hands its text to a function, which also learns whether that is all of it.
    ///
    /// - Parameters:
    ///   - path: The file, below the directory.
    ///   - directory: The directory; nil for paths from the root.
    ///   - limit: How much is read at most.
    ///   - body: Takes the text, which is gone afterwards.
    /// - Returns: What the function made of it, or why there is nothing.
    func read<Result>(
        _ path: String,
        in directory: Directory? = nil,
        limit: Int,
        _ body: (Span<UInt8>, _ isComplete: Bool) -> Result
    ) -> Outcome<Result> {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let number = unsafe openat(directory?.descriptor.number ?? AT_FDCWD, path, flags)
        guard number >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .failed(errno) }
        defer { _ = close(number) }
        var count = 0
        var isComplete = false
        while count < limit {
            if count == self.buffer.count { self.buffer += [UInt8](repeating: 0, count: count) }
            let room = min(limit, self.buffer.count) - count
            let result = unsafe self.buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(number, bytes.baseAddress.map { unsafe $0 + count }, room)
            }
            if result < 0 {
                if errno == EINTR { continue }
                return .failed(errno)
            }
            count += result
            isComplete = result == 0
            // The kernel writes an attribute at once; only tables come in parts.
            if isComplete || limit <= Self.attributeLimit { break }
        }
        let buffer = self.buffer
        return .read(body(buffer.span.extracting(first: count), isComplete))
    }
}
