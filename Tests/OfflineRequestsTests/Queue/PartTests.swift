// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Synchronization
import Testing

@testable import OfflineRequests

/// The parts that the thread of a queue is made of.
@Suite(.timeLimit(.minutes(5)))
struct QueuePartTests {
    private struct Sleeper {
        let sleep: Sleep
        let mailbox: Mailbox<Int>

        init() throws {
            let doorbell = try #require(Doorbell())
            self.sleep = Sleep(doorbell: doorbell, files: try #require(FileWatch()))
            self.mailbox = Mailbox(doorbell: doorbell)
        }

        /// What there is to hear at once.
        func heard() -> Sleep.Wake { self.sleep.wait(until: Sleep.now()).subtracting(.time) }
    }

    @Test func aMailboxRingsOnlyWhoSleeps() throws {
        let sleeper = try Sleeper()
        sleeper.mailbox.post(1)
        #expect(sleeper.heard().isEmpty)
        #expect(!sleeper.mailbox.mayRest())
        sleeper.mailbox.post(2)
        #expect(sleeper.mailbox.take() == [1, 2])
        #expect(sleeper.mailbox.mayRest())
        sleeper.mailbox.post(3)
        sleeper.mailbox.post(4)
        #expect(sleeper.heard() == .rung)
        #expect(sleeper.heard().isEmpty)
        #expect(sleeper.mailbox.take() == [3, 4])
        sleeper.mailbox.post(5)
        #expect(sleeper.mailbox.close() == [5])
        #expect(!sleeper.mailbox.post(6))
    }

    @Test func aSleepEndsInTime() throws {
        let sleeper = try Sleeper()
        let begin = Sleep.now()
        #expect(sleeper.sleep.wait(until: begin + .milliseconds(30)) == .time)
        #expect(Sleep.now() - begin >= .milliseconds(30))
    }

    @Test func oneHoldsTheLockAndItsEndIsHeard() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-sender"]
        let sleeper = try Sleeper()
        var first: SenderLock? = try SenderLock(path: path)
        let second = try SenderLock(path: path)
        #expect(sleeper.sleep.files.add(path, .closedAfterWriting) != nil)
        #expect(!SenderLock.isHeld(at: path))
        #expect(sleeper.heard() == .file, "who tried meanwhile tries again")
        #expect(first?.take() == true)
        #expect(!second.take())
        #expect(SenderLock.isHeld(at: path))
        #expect(sleeper.heard().isEmpty)
        first = nil
        #expect(sleeper.heard() == .file)
        #expect(second.take())
        #expect(throws: QueueError.self) { try SenderLock(path: folder["missing/queue-sender"]) }
    }

    @Test func theLockIsSeenAmongOthersThatComeAndGo() throws {
        let folder = try TemporaryDirectory()
        let sender = try SenderLock(path: folder["queue-sender"])
        let others = try (0..<300).map { try StoreLock(folder["other-\($0)"]) }
        for other in others { other.share() }
        #expect(sender.take())
        let isDone = Atomic(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.load(ordering: .relaxed) {
                for other in others { other.release() }
                for other in others { other.takeAlone() }
            }
            hasEnded.signal()
        }
        let missed = (0..<2_000).count { _ in !SenderLock.isHeld(at: folder["queue-sender"]) }
        isDone.store(true, ordering: .relaxed)
        hasEnded.wait()
        #expect(missed == 0)
    }

    @Test func whoAsksForTheLockKeepsItFromNobody() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-sender"]
        let sleeper = try Sleeper()
        _ = try SenderLock(path: path)
        #expect(sleeper.sleep.files.add(path, .closedAfterWriting) != nil)
        let isDone = Atomic(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.load(ordering: .relaxed) { _ = SenderLock.isHeld(at: path) }
            hasEnded.signal()
        }
        defer {
            isDone.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
        var refusals = 0
        for _ in 0..<50_000 where refusals < 100 {
            let lock = try SenderLock(path: path)
            // The end of the one before.
            _ = sleeper.heard()
            while !lock.take() {
                refusals += 1
                try #require(sleeper.sleep.wait(until: Sleep.now() + .seconds(30)).contains(.file))
            }
        }
        print("\(refusals) times somebody asked at the same instant")
    }

    @Test func theBellIsHeardAndNothingElseIs() throws {
        let folder = try TemporaryDirectory()
        let path = folder["queue-lock"]
        let sleeper = try Sleeper()
        let bell = try StoreLock(path)
        #expect(sleeper.sleep.files.add(path, .read) != nil)
        let other = try StoreLock(path)
        other.share()
        other.release()
        #expect(sleeper.heard().isEmpty)
        for bell in [bell, other] {
            bell.ring()
            #expect(sleeper.heard() == .file)
        }
        #expect(sleeper.heard().isEmpty)
    }

    @Test func onlyTheLastRequestsAreRemembered() {
        let recent = RecentRequests(capacity: 3)
        let records = (0..<4).map { number in
            RequestRecord(
                request: RetryableRequest(endpoint: "http://192.0.2.80/", body: Data([1])),
                state: .ready,
                sequence: number
            )
        }
        for record in records { recent.add(record) }
        #expect(recent[records[0].id] == nil)
        #expect(recent[records[1].id] != nil)
        #expect(recent[records[3].id]?.record.request.body == nil)
        var changed = records[2]
        for state in [RequestState.running, .succeeded] {
            changed.state = state
            recent.add(changed)
            #expect(recent[changed.id]?.record.state == state, "the latest counts")
        }
        #expect(recent[records[3].id] != nil)
        #expect(recent[records[1].id] == nil)
    }
}
