// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Waiting for what another process sends.
@Suite(.timeLimit(.minutes(5)))
struct WaitingTests {
    @Test func whatAnotherProcessSendsIsHeard() async throws {
        let lab = try QueueLab()
        let sender = try lab.started()
        let spool = try lab.open(QueueSettings(sends: false))
        let id = try await spool.enqueue(lab.request())
        let record = try await spool.wait(for: id)
        #expect(record.state == .succeeded && record.lastStatus == 200)
        try await spool.waitUntilEmpty()
        // Of one that it has never seen it knows the end alone.
        let late = try lab.open(QueueSettings(sends: false))
        #expect(try await late.wait(for: id).state == .succeeded)
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
        // All three at once: a queue whose shared memory goes alone ends.
        let lock = try FileLock(lab.file + "-lock")
        try lock.takeAlone(within: .seconds(60))
        for suffix in ["", "-wal", "-shm"] { StoreFiles.remove(lab.file + suffix) }
        lock.release()
        // That no request has this id, or that the file is gone.
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
