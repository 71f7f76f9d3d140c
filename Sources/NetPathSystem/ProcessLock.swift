// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// What only one process at a time holds (flock(2)); gone with the process, however that ends.
package struct ProcessLock: Sendable {
    private let file: FileDescriptor

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - path: The file that is locked; it is made where there is none.
    ///   - refusal: What to say when it is held, of `process 17` or `another process`.
    /// - Throws: `SystemError` that says so, or that there cannot be one.
    package init(_ path: String, refusal: (_ holder: String) -> String) throws(SystemError) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        guard let file = FileDescriptor(unsafe open(path, flags, 0o600)) else {
            throw .last("cannot open the lock \(path)")
        }
        // A process that may open it can hold it, and keep all others out; former versions left one readable.
        _ = fchmod(file.number, 0o600)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            let text = file.read(limit: 32).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let holder = Int32(text.prefix { $0.isNumber }).map { "process \($0)" } ?? "another process"
            throw SystemError(action: refusal(holder), errno: number)
        }
        self.file = file
        let line = Array("\(getpid())\n".utf8)
        _ = ftruncate(file.number, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
    }
}
