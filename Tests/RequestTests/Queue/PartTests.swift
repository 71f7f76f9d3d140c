// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Synchronization
import Testing

@testable import OfflineRequests

/// How processes hear of one another.
@Suite(.timeLimit(.minutes(5)))
struct QueuePartTests {
    @Test func oneHoldsTheLockAndItsEndIsHeard() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-sender"]
        let files = try #require(FileWatch())
        var first: FileLock? = try FileLock(path)
        let second = try FileLock(path)
        #expect(files.add(path, .closedAfterWriting))
        #expect(!FileLock.isTaken(at: path))
        #expect(files.take(), "who tried meanwhile tries again")
        #expect(try first?.take() == true)
        #expect(try !second.take())
        #expect(FileLock.isTaken(at: path))
        #expect(!files.take())
        first = nil
        #expect(files.take())
        #expect(try second.take())
        #expect(throws: QueueError.self) { try FileLock(folder["missing/queue-sender"]) }
        // Another process would make the file anew, and take that.
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: QueueError.removed(path: path)) { try second.checkPlace() }
        #expect(throws: QueueError.removed(path: path)) { try second.take() }
    }

    @Test func theLockIsSeenAmongOthersThatComeAndGo() throws {
        let folder = try TemporaryDirectory()
        let sender = try FileLock(folder["queue-sender"])
        let others = try (0..<300).map { try FileLock(folder["other-\($0)"]) }
        for other in others { try other.share(within: .seconds(10)) }
        #expect(try sender.take())
        let isDone = Atomic(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.load(ordering: .relaxed) {
                for other in others { other.release() }
                for other in others { try? other.takeAlone(within: .seconds(10)) }
            }
            hasEnded.signal()
        }
        let missed = (0..<2_000).count { _ in !FileLock.isTaken(at: folder["queue-sender"]) }
        isDone.store(true, ordering: .relaxed)
        hasEnded.wait()
        #expect(missed == 0)
    }

    @Test func whoAsksForTheLockKeepsItFromNobody() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-sender"]
        let files = try #require(FileWatch())
        _ = try FileLock(path)
        #expect(files.add(path, .closedAfterWriting))
        let isDone = Atomic(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.load(ordering: .relaxed) { _ = FileLock.isTaken(at: path) }
            hasEnded.signal()
        }
        defer {
            isDone.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
        var refusals = 0
        for _ in 0..<50_000 where refusals < 100 {
            let lock = try FileLock(path)
            // The end of the one before.
            files.take()
            while try !lock.take() {
                refusals += 1
                let end = ContinuousClock.now + .seconds(30)
                while !files.take() { try #require(.now < end) }
            }
        }
        print("\(refusals) times somebody asked at the same instant")
    }

    /// The row is what says which request it is; one that its index hides would wait for ever.
    @Test func aRequestThatItsIndexHidesIsRepaired() async throws {
        let lab = try QueueLab()
        let first = try lab.open()
        let ids = try await [first.enqueue(lab.request("a")), first.enqueue(lab.request("b"))]
        first.close()
        for await _ in first.changes {}
        try StoreBench.settle(lab.file)
        var bytes = try Data(contentsOf: URL(filePath: lab.file))
        let id = unsafe withUnsafeBytes(of: ids[0].uuid) { unsafe Data($0) }
        // The table comes before its index, and both have it.
        let row = try #require(bytes.firstRange(of: id))
        let entry = try #require(bytes[row.upperBound...].firstRange(of: id))
        bytes[entry.upperBound - 1] ^= 1
        try bytes.write(to: URL(filePath: lab.file))
        let sender = try lab.started()
        try await sender.waitUntilEmpty()
        #expect(lab.sent.sorted() == ["a", "b"])
        #expect(sender.salvages.map(\.lost) == [0])
        for id in ids { #expect(try await sender.wait(for: id).state == .succeeded) }
    }

    @Test func theBellIsHeardAndNothingElseIs() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-lock"]
        let files = try #require(FileWatch())
        let bell = try FileLock(path)
        #expect(files.add(path, .read))
        let other = try FileLock(path)
        try other.share(within: .seconds(10))
        other.release()
        #expect(!files.take())
        for bell in [bell, other] {
            bell.notifySender()
            #expect(files.take())
        }
        #expect(!files.take())
    }
}
