// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDBSQLite
import Glibc
import NetPathHTTP
import NetPathTestKit
import Synchronization
import Testing

@testable import OfflineRequests

/// Waiting for what another process sends.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct WaitingTests {
    /// Who looks while a transaction is still being written sees nothing of it, and must look again.
    @Test func theEndIsHeardWhenItCanBeRead() async throws {
        let lab = try QueueLab()
        try SlowJournal.slowDown(lab.file)
        defer { SlowJournal.end() }
        let sender = try lab.started()
        let spool = try lab.open(QueueSettings(sends: false))
        let id = try await spool.enqueue(lab.request())
        #expect(try await spool.wait(for: id).state == .succeeded)
        try await spool.waitUntilEmpty()
        // Or this SQLite writes by another call, and nothing was tried.
        #expect(SlowJournal.writes > 0)
        withExtendedLifetime(sender) {}
    }

    @Test func aFileThatIsMadeAnewIsHeard() async throws {
        let lab = try QueueLab(.held(.notSent))
        let sender = try lab.started()
        let spool = try lab.open(QueueSettings(sends: false))
        let lost = try await spool.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        let waiter = Task { try await spool.wait(for: lost) }
        while await !self.isWaitedFor(in: spool) {}
        for suffix in ["", "-wal", "-shm"] { StoreFiles.remove(lab.file + suffix) }
        // That nobody knows it, or that the file is gone, who looks at the very instant.
        await #expect(throws: QueueError.self) { try await waiter.value }

        // And so is what happens in the new one.
        lab.transport.answerUsually(.status(200))
        let id = try await spool.enqueue(lab.request())
        #expect(try await spool.wait(for: id).state == .succeeded)
        withExtendedLifetime(sender) {}
    }

    private func isWaitedFor(in queue: OfflineRequestQueue) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.core.post { worker, _ in continuation.resume(returning: !worker.waiters.isEmpty) }
        }
    }
}

/// Lets time pass after every write to the journal of one database (https://sqlite.org/c3ref/vfs.html).
private enum SlowJournal {
    private static let path = Mutex<String?>(nil)
    private static let count = Atomic(0)
    private static let name = "pwrite64"

    /// How many writes took longer.
    static var writes: Int { self.count.load(ordering: .relaxed) }

    static func slowDown(_ database: String) throws {
        self.path.withLock { $0 = StorePaths(database).journal }
        let write: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = { file, bytes, count, offset in
            let written = unsafe pwrite(file, bytes, count, offset)
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")
            if let path, path == SlowJournal.path.withLock({ $0 }) {
                SlowJournal.count.add(1, ordering: .relaxed)
                usleep(20_000)
            }
            return written
        }
        let vfs = try unsafe #require(sqlite3_vfs_find(nil))
        let call = unsafe unsafeBitCast(write, to: sqlite3_syscall_ptr.self)
        let result = unsafe vfs.pointee.xSetSystemCall(vfs, self.name, call)
        try #require(result == SQLITE_OK)
    }

    static func end() {
        if let vfs = unsafe sqlite3_vfs_find(nil) { _ = unsafe vfs.pointee.xSetSystemCall(vfs, self.name, nil) }
    }
}
