// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// What only one service at a time holds (flock(2)); gone with the process, however that ends.
final class ServiceLock {
    private let file: FileDescriptor

    /// Takes the lock, and makes the folder that it lies in.
    ///
    /// - Throws: ``ToolFailure`` that names who holds it, or `SystemError`.
    init(_ folders: ServiceFolders) throws {
        guard unsafe mkdir(folders.runtime, 0o755) == 0 || errno == EEXIST else {
            throw SystemError.last("cannot make the folder \(folders.runtime)")
        }
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        guard let file = FileDescriptor(unsafe open(folders.lock, flags, 0o600)) else {
            throw SystemError.last("cannot open the lock \(folders.lock)")
        }
        // A process that may open it can hold it, and keep every service from starting; former versions left it readable.
        _ = fchmod(file.number, 0o600)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            let holder = file.read(limit: 32).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let process = Int32(holder.prefix { $0.isNumber }).map { "process \($0)" } ?? "another process"
            throw ToolFailure(
                .failure,
                """
                \(process) runs netpath already for \(folders.runtime): 'netpath status --service' asks it, and \
                'systemctl restart netpath' restarts it
                """
            )
        }
        self.file = file
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file.number, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
    }
}
