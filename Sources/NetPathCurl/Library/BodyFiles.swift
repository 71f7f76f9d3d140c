// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathHTTP
import NetPathSystem

/// A file that is sent.
struct SourceFile {
    /// Its size when it was opened, which is what the request announces.
    let size: Int
    var offset = 0
    private let path: String
    private let descriptor: FileDescriptor

    init(_ path: String) throws(Transfer.Failure) {
        // A pipe would make the thread wait for its other end.
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            throw .file("read", path)
        }
        guard let status = descriptor.status else { throw .file("read", path) }
        guard status.isFile else {
            throw Transfer.Failure(.file, "cannot send '\(path)': it is not a regular file")
        }
        self.path = path
        self.descriptor = descriptor
        self.size = Int(status.st_size)
    }

    /// Reads on, at most to the size that was announced.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Transfer.Failure) -> Int {
        let wanted = min(buffer.count, self.size - self.offset)
        guard wanted > 0 else { return 0 }
        while true {
            let count = unsafe pread(self.descriptor.number, buffer.baseAddress, wanted, self.offset)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .file("read", self.path) }
            guard count > 0 else {
                throw Transfer.Failure(.file, "'\(self.path)' became shorter while it was sent")
            }
            self.offset += count
            return count
        }
    }
}

/// A file that a response is written to: under another name until it is complete, so that no reader sees half of it.
final class DestinationFile {
    private let path: String
    private let partialPath: String
    private let descriptor: FileDescriptor
    private var isKept = false

    /// Makes the file, beside the one of the last time.
    init(_ path: String) throws(Transfer.Failure) {
        let partialPath = "\(path).part-\(String(UInt64.random(in: 0...(.max)), radix: 36))"
        // For its owner only: who may read a response is not known.
        let opened = unsafe open(partialPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard let descriptor = FileDescriptor(opened) else { throw .file("write", path) }
        self.path = path
        self.partialPath = partialPath
        self.descriptor = descriptor
    }

    deinit {
        if !self.isKept { _ = unsafe unlink(self.partialPath) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Transfer.Failure) {
        var written = 0
        while written < bytes.count {
            let start = unsafe bytes.baseAddress?.advanced(by: written)
            let count = unsafe Glibc.write(self.descriptor.number, start, bytes.count - written)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .file("write", self.path) }
            written += count
        }
    }

    func keep() throws(Transfer.Failure) {
        guard unsafe rename(self.partialPath, self.path) == 0 else { throw .file("write", self.path) }
        self.isKept = true
    }
}

extension Transfer.Failure {
    /// What the last system call said about a file; a shortage may pass, and says nothing of the file.
    fileprivate static func file(_ verb: String, _ path: String) -> Self {
        let isShortage = [EMFILE, ENFILE, ENOMEM, EIO, ENOSPC, EDQUOT].contains(errno)
        return Self(isShortage ? .other : .file, unsafe "cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
    }
}
