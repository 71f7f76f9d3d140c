// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathSystem
import Synchronization

/// Mounts that only one thread sees: that of a test which needs a small disk or one that cannot be written.
enum PrivateMounts {
    struct Failure: Error {
        var call: String
        var number: Int32
    }

    /// Whether this process may mount.
    static let areAvailable: Bool = { (try? Self.run {}) != nil }()

    private static let unshare: @convention(c) (Int32) -> Int32 = {
        let symbol = unsafe dlsym(nil, "unshare")
        return unsafe unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
    }()

    /// Runs something on a thread with mounts of its own, which end with it.
    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        final class Box: Sendable {
            let result = Mutex<Result<Void, any Error>>(.success(()))
        }
        let box = Box()
        let started = BackgroundThread.start {
            let outcome = Result {
                // CLONE_NEWNS; declared where Swift does not look.
                guard Self.unshare(0x20000) == 0 else { throw Failure(call: "unshare", number: errno) }
                try Self.mount("none", on: "/", nil, UInt(MS_REC | MS_PRIVATE), nil)
                try body()
            }
            box.result.withLock { $0 = outcome }
            done.signal()
        }
        guard started else { throw Failure(call: "pthread_create", number: EAGAIN) }
        done.wait()
        try box.result.withLock { $0 }.get()
    }

    /// Mounts a disk of some bytes on a folder.
    static func mountDisk(on folder: String, bytes: Int) throws {
        try self.mount("tmpfs", on: folder, "tmpfs", 0, "size=\(bytes)")
    }

    static func makeReadOnly(_ folder: String) throws {
        try self.mount(folder, on: folder, nil, UInt(MS_BIND), nil)
        try self.mount(folder, on: folder, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil)
    }

    private static func mount(
        _ source: String,
        on target: String,
        _ type: String?,
        _ flags: UInt,
        _ data: String?
    ) throws {
        let result = unsafe (data ?? "").withCString { data in
            unsafe Glibc.mount(source, target, type, flags, data)
        }
        guard result == 0 else { throw Failure(call: "mount", number: errno) }
    }
}
