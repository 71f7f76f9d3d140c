// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// What only one process at a time holds that writes to a folder (flock(2)); gone with the process, however that ends.
struct RecordingLock: Sendable {
    private let file: FileDescriptor

    /// Takes the lock of a folder.
    ///
    /// - Throws: `SystemError` that names who holds it, or that there cannot be one.
    init(of folder: String) throws(SystemError) {
        let path = folder + "/recording.lock"
        // For the writer alone: those who may only read the recording could keep it from being written.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        guard let file = FileDescriptor(unsafe open(path, flags, 0o600)) else {
            throw .last("cannot open the lock \(path)")
        }
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            let holder = file.read(limit: 32).map { String(decoding: $0, as: UTF8.self).prefix { $0.isNumber } } ?? ""
            let process = holder.isEmpty ? "another process" : "process \(holder)"
            throw SystemError(action: "\(process) records in \(folder) already", errno: number)
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file.number, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
        self.file = file
    }
}
