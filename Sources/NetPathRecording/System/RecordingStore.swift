// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPathSystem

/// Where a recording is kept: one file, or a folder of files of which the oldest go.
///
/// What was written survives the end of the program, not that of the machine: the kernel writes it to the disk within
/// half a minute, and ``synchronize()`` and the end of a file at once.
package struct RecordingStore: Sendable {
    /// How large a file of a folder becomes, besides what is written at once.
    package static let fileLimit = 2 << 20
    /// How large the files of a folder become together.
    package static let folderLimit = 16 << 20

    private let path: String
    private let isFolder: Bool
    private var lock: ProcessLock?
    private var file: FileDescriptor?
    private var size = 0
    private var number = 0
    /// Whether the file may end with half a line of a program that was killed.
    private var mayEndWithinLine = false

    /// How many bytes were written in all.
    package private(set) var writtenBytes = 0

    /// The file of a newer version of the format that is left alone, behind which a new one was begun; nil for none.
    package private(set) var newerFile: String?

    /// Whether a new file should begin.
    package var isFull: Bool { self.isFolder && self.size >= Self.fileLimit }

    /// A folder, which is made where there is none; its last file goes on unless that is full.
    package init(folder: String) {
        self.path = folder
        self.isFolder = true
    }

    /// A file, in place of a recording that has that name, and of nothing else.
    package init(file: String) {
        self.path = file
        self.isFolder = false
    }

    /// Opens what is written to; nothing happens when that is open.
    ///
    /// - Throws: `SystemError` when that does not go, or another process writes to the folder.
    package mutating func open() throws(SystemError) {
        guard self.file == nil else { return }
        if self.isFolder {
            try FileAccess.makeFolder(self.path)
            if self.lock == nil {
                let lock = "\(self.path)/recording.lock"
                self.lock = try ProcessLock(lock) { "\($0) records in \(self.path) already" }
            }
            self.number = Self.numbers(in: self.path).last ?? 1
            let file = "\(self.path)/\(Self.name(self.number))"
            if RecordingFiles.isNewer(file) {
                self.newerFile = file
                self.number += 1
            }
        }
        try self.openFile()
        if self.isFull { try self.beginFile() }
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + ".jsonl"
    }

    private static func numbers(in folder: String) -> [Int] {
        FileAccess.names(in: folder).compactMap { name in
            name.hasSuffix(".jsonl") ? Int(name.dropLast(6)) : nil
        }.sorted()
    }

    /// The files of a folder, the oldest first.
    package static func files(in folder: String) -> [String] {
        self.numbers(in: folder).map { "\(folder)/\(self.name($0))" }
    }

    private mutating func openFile() throws(SystemError) {
        let path = self.isFolder ? "\(self.path)/\(Self.name(self.number))" : self.path
        // Not waiting for the reader of what is a pipe.
        let flags =
            O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_APPEND | (self.isFolder ? 0 : O_TRUNC)
        if !self.isFolder, RecordingFiles.isOther(path) {
            throw SystemError(action: "cannot write the recording \(path), which holds something else", errno: EEXIST)
        }
        guard let file = FileDescriptor(unsafe Glibc.open(path, flags, 0o640)) else {
            throw .last("cannot write the recording \(path)")
        }
        guard let status = file.status, status.isFile else {
            throw SystemError(action: "cannot write the recording \(path), which is not a file", errno: EINVAL)
        }
        self.file = file
        self.size = Int(status.st_size)
        self.mayEndWithinLine = self.size > 0
    }

    /// Begins the next file, and removes those that are too many.
    ///
    /// - Throws: `SystemError` when that does not go; the file there is stays in use.
    package mutating func beginFile() throws(SystemError) {
        guard self.isFolder else { return }
        if let file { _ = fdatasync(file.number) }
        self.number += 1
        do {
            try self.openFile()
        } catch {
            self.number -= 1
            throw error
        }
        self.prune(to: Self.folderLimit - Self.fileLimit)
    }

    /// Removes the oldest files, and never the one that is written, until the rest is no larger than a limit.
    private func prune(to limit: Int) {
        var size = 0
        for path in Self.files(in: self.path).reversed() {
            guard let status = FileAccess.status(path, following: false) else { continue }
            size += Int(status.st_size)
            if size > limit, path != "\(self.path)/\(Self.name(self.number))" { _ = unsafe unlink(path) }
        }
    }

    /// Writes lines, all of them or none, to what is opened for it where it is not open.
    ///
    /// - Throws: `SystemError` when they do not go, as on a full disk.
    package mutating func append(_ lines: [UInt8]) throws(SystemError) {
        try self.open()
        guard let file else { return }
        // Half a line of a program that was killed must not swallow the next one.
        let bytes = self.mayEndWithinLine ? [UInt8(ascii: "\n")] + lines : lines
        do throws(SystemError) {
            try file.writeAll(bytes, or: "cannot write the recording \(self.path)")
        } catch {
            if ftruncate(file.number, off_t(self.size)) != 0 { self.mayEndWithinLine = true }
            throw error
        }
        self.size += bytes.count
        self.writtenBytes += bytes.count
        self.mayEndWithinLine = false
        // By more than there is room for, once in the life of a file.
        if self.isFull { self.prune(to: Self.folderLimit) }
    }

    /// Waits until what was written is on the disk.
    ///
    /// - Throws: `SystemError` when it does not get there.
    package func synchronize() throws(SystemError) {
        guard let file, fdatasync(file.number) != 0 else { return }
        throw .last("cannot bring the recording \(self.path) to the disk")
    }

    /// Lets go of the file; it can be opened again.
    package mutating func close() {
        if let file { _ = fdatasync(file.number) }
        self.file = nil
        self.lock = nil
    }
}
