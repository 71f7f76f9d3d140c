// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// From the file to the server and back.
@Suite(.timeLimit(.minutes(5)))
struct QueueDeliveryTests {
    @Test func whatIsEnqueuedIsSentAndLeavesTheFile() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait(for: .drained)
        #expect(events.all.contains(.succeeded(id, status: 200)))
        #expect(lab.transport.requests.map { $0.headers["Idempotency-Key"] } == ["\"\(id.uuidString.lowercased())\""])
        #expect(try await queue.pendingRequests.isEmpty)
        #expect(try queue.counts.total == 0)
        #expect(try queue.record(id: id) == nil)
    }

    /// A pause that ends while a turn is under way is over, and nobody has to be woken for it later.
    @Test func aHostIsTriedAgainHoweverShortItsPauseIs() async throws {
        let lab = try QueueLab()
        for _ in 0..<300 { lab.transport.answer(.failure(.refused, .notSent)) }
        var settings = QueueLab.quick
        settings.baseBackoff = .microseconds(300)
        settings.maxBackoff = .microseconds(300)
        let queue = try lab.started(settings)
        try await queue.enqueue(lab.request())
        try await queue.waitUntilEmpty()
        #expect(lab.transport.requests.count == 301)
    }

    @Test func withoutAPathNothingIsSentUntilItReturns() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let events = Events(queue)
        let ids = [try await queue.enqueue(lab.request("a")), try await queue.enqueue(lab.request("b"))]
        try await lab.network.waitForRun()
        #expect(try await queue.pendingRequests.map(\.id) == ids)
        #expect(try await queue.pendingRequests.count == 2)
        #expect(try await queue.pendingRequests.first?.id == ids[0])
        lab.network.report(.wifi)
        try await events.wait(for: .drained)
        #expect(lab.sent == ["a", "b"])
        #expect(events.all.contains(.connectivityRestored))
    }

    /// SQLite's journal has what was written until it is emptied; another reader keeps it from being removed.
    @Test(arguments: ["delivered", "delivered beside a lane that is held", "cancelled", "closed"])
    func noSecretOutlivesItsRequest(end: String) async throws {
        let isDelivered = end.hasPrefix("delivered")
        let lab = try QueueLab(network: isDelivered ? .wifi : .noLink)
        let queue = try lab.started()
        var lane: [UUID] = []
        if end.hasSuffix("held") {
            for name in ["held", "behind"] {
                var request = lab.request(name)
                request.orderingKey = "lane"
                if name == "held" { lab.transport.answer(.status(401), to: request.endpoint) }
                lane.append(try await queue.enqueue(request))
            }
            try await queue.waitUntilEmpty()
            #expect(try queue.counts.held == 1 && queue.counts.blocked == 1)
        }
        let reader = try QueueReader(file: lab.file)
        _ = try reader.counts()
        var request = lab.request("a")
        request.headers["Authorization"] = "Bearer s3cr3tToken"
        request.body = Data("s3cr3tBody".utf8)
        let id = try await queue.enqueue(request)
        if isDelivered {
            try await queue.waitUntilEmpty()
        } else {
            if end == "closed" { try await queue.enqueue(lab.request("b")) }
            try await queue.cancelRequest(id: id)
        }
        if end == "closed" { await queue.shutdown(within: .zero) }
        for name in try FileManager.default.contentsOfDirectory(atPath: lab.folder.path) {
            let content = (try? Data(contentsOf: URL(filePath: lab.folder[name]))) ?? Data()
            for secret in ["s3cr3tToken", "s3cr3tBody"] {
                #expect(content.firstRange(of: Data(secret.utf8)) == nil, "\(name) has \(secret)")
            }
        }
        #expect(try reader.counts().pending == (end == "closed" ? 1 : lane.count))
    }

    @Test func aRequestWhoseBodyWasDamagedIsHeldAndThatIsSaid() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let events = Events(queue)
        var request = lab.request("a")
        request.body = Data(repeating: 1, count: 100_000)
        let id = try await queue.enqueue(request)
        let file = try #require(try queue.record(id: id)?.request.bodyFile)
        try FileHandle(forWritingTo: URL(filePath: file)).truncate(atOffset: 99_999)
        try await queue.enqueue(lab.request("b"))
        lab.network.report(.wifi)
        try await events.wait(for: .held(id, .damaged))
        try await queue.waitUntilEmpty()
        #expect(lab.sent == ["b"])
    }

    @Test func everyRequestSaysWhatItWaitsFor() async throws {
        let lab = try QueueLab(.held(.notSent), network: .noLink)
        let queue = try lab.open()
        var metered = lab.request()
        metered.requires.unmeteredOnly = true
        let id = try await queue.enqueue(metered)
        #expect(try queue.record(id: id)?.waiting == .notRunning)
        let events = Events(queue)
        queue.start()
        try await lab.network.waitForRun()
        try await Self.eventually { if case .noPath = try queue.record(id: id)?.waiting { true } else { false } }
        lab.network.report(.modem)
        try await events.wait(for: .connectivityRestored)
        try await Self.eventually { try queue.record(id: id)?.waiting == .metered }
        try await queue.pause()
        try await Self.eventually { try queue.record(id: id)?.waiting == .paused }
        try await queue.resume()
        lab.network.report(.wifi)
        try await lab.transport.waitForHeld()
        try await Self.eventually { try queue.record(id: id)?.state == .running }
        #expect(try queue.record(id: id)?.waiting == nil)
        // Else the sender may have taken it up already.
        try await queue.pause()
        let other = try lab.open(QueueSettings(sends: false))
        let second = try await other.enqueue(lab.request("second"))
        #expect(try other.record(id: second)?.waiting == .paused)
    }

    @Test func whatFailsIsSentAgainWithTheSameKey() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(503), .failure(.connectionLost, .mayHaveBeenReceived), .status(409))
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait(for: .succeeded(id, status: 200))
        #expect(lab.sent.count == 4)
        #expect(Set(lab.transport.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
        #expect(events.all.contains(.attempt(id, number: 4)))
    }

    @Test func whatDidNotLeaveThisHostCostsNoAttempt() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.failure(.refused, .notSent), .failure(.unreachable, .notSent))
        let queue = try lab.started()
        var request = lab.request()
        request.maxRetries = 0
        let id = try await queue.enqueue(request)
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.sent.count == 3)
    }

    @Test func aFinalAnswerMakesADeadLetterThatCanBeRevived() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(404))
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        let record = try await queue.wait(for: id)
        #expect(record.state == .dead)
        #expect(record.lastStatus == 404)
        #expect(try await queue.deadRequests.map(\.id) == [id])
        try await queue.requeueDead(id: id)
        let revived = try await queue.wait(for: id)
        #expect(revived.state == .succeeded)
        #expect(revived.lastStatus == 200)
        await #expect(throws: QueueError.unknownID(id)) { try await queue.requeueDead(id: id) }
    }

    @Test func deadLettersArePurged() async throws {
        let lab = try QueueLab(.status(400))
        let queue = try lab.started()
        for number in 0..<3 { _ = try await queue.wait(for: queue.enqueue(lab.request("\(number)"))) }
        #expect(try queue.counts.dead == 3)
        #expect(try await queue.purgeDead() == 3)
        #expect(try await queue.deadRequests.isEmpty)
    }

    @Test func allAreCancelledButTheDead() async throws {
        let lab = try QueueLab(.held(.notSent))
        lab.transport.answer(.status(400))
        let queue = try lab.started()
        #expect(try await queue.cancelRequests() == 0)
        let dead = try await queue.enqueue(lab.request())
        #expect(try await queue.wait(for: dead).state == .dead)
        for number in 0..<10 { try await queue.enqueue(lab.request("\(number)")) }
        try await lab.transport.waitForHeld()
        #expect(try await queue.cancelRequests() == 10)
        #expect(try await queue.pendingRequests.isEmpty)
        #expect(try queue.counts.dead == 1)
        try await QueueDeliveryTests.eventually { lab.transport.cancelled > 0 }
    }

    @Test func finishedRequestsArePurgedOneByOne() async throws {
        let lab = try QueueLab(.held(.notSent))
        lab.transport.answer(.status(200), .status(400))
        let queue = try lab.started()
        var request = lab.request()
        request.keepsResponse = true
        let id = try await queue.enqueue(request)
        #expect(try await queue.wait(for: id).response?.status == 200)
        // It is kept until it is removed.
        #expect(try await queue.wait(for: id).response?.status == 200)
        let dead = try await queue.enqueue(lab.request("b"))
        #expect(try await queue.wait(for: dead).state == .dead)
        try await queue.purgeFinished(id: id)
        try await queue.purgeFinished(id: dead)
        #expect(try queue.counts.total == 0)
        await #expect(throws: QueueError.unknownID(id)) { try await queue.purgeFinished(id: id) }
        let pending = try await queue.enqueue(lab.request("c"))
        await #expect(throws: QueueError.unknownID(pending)) { try await queue.purgeFinished(id: pending) }
        #expect(try queue.counts.pending == 1)
    }

    @Test func unauthorizedIsHeldUntilSomebodyHasNewCredentials() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(401))
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait(for: .held(id, .unauthorized))
        #expect(try queue.record(id: id)?.waiting == .unauthorized)
        try await queue.waitUntilEmpty()
        queue.forceTriggerRetry()
        try await events.wait(for: .succeeded(id, status: 200))
    }

    /// Of one that counts, and of one that never reached the server.
    @Test func whyAnAttemptFailedIsTold() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(503), .failure(.refused, .notSent), .status(200))
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait(for: .succeeded(id, status: 200))
        let reasons = events.all.compactMap { if case .attemptFailed(id, let reason) = $0 { reason } else { nil } }
        #expect(reasons.count == 2 && reasons[0].contains("503") && reasons[1].contains("refused"), "\(reasons)")
    }

    @Test func forcingDoesNotWaitForTheBackoff() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(503, ["Retry-After": "3600"]))
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait { $0.isBackoff }
        let notBefore = try #require(try queue.record(id: id)?.notBefore)
        #expect(notBefore.timeIntervalSinceNow > 3500)
        queue.forceTriggerRetry()
        try await events.wait(for: .succeeded(id, status: 200))
    }

    @Test func lanesKeepTheirOrderAndHoldBehindWhatWasGivenUp() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(503), .status(200), .status(422))
        let queue = try lab.started()
        let events = Events(queue)
        for path in ["1", "2", "3"] {
            var request = lab.request(path)
            request.orderingKey = "lane"
            try await queue.enqueue(request)
        }
        try await events.wait { $0.isHeld }
        #expect(lab.sent == ["1", "1", "2"])
        #expect(try queue.counts.blocked == 1)
        let held = try #require(try await queue.pendingRequests.first)
        #expect(held.waiting == .laneHeld)
        #expect(try await queue.pendingRequests.map(\.waiting).last == .behind(held.id))
        #expect(try await queue.cancelRequest(id: held.id) == .held)
        try await events.wait(for: .drained)
        #expect(lab.sent == ["1", "1", "2", "3"])
    }

    /// Nothing else happens meanwhile that could have the queue look.
    @Test(arguments: [false, true])
    func whatExpiresEndsByItself(isOnline: Bool) async throws {
        let lab = try QueueLab(.status(503), network: isOnline ? .wifi : .noLink)
        let settings = QueueSettings.with { ($0.baseBackoff, $0.maxBackoff) = (.seconds(3000), .seconds(3000)) }
        let queue = try lab.started(settings)
        let events = Events(queue)
        var request = lab.request()
        // A busy machine has to have sent it before.
        request.expiresAt = Date(timeIntervalSinceNow: isOnline ? 10 : 1)
        let id = try await queue.enqueue(request)
        #expect(try await queue.wait(for: id).state == .dead)
        try await events.wait(for: .expired(id))
        #expect(try #require(request.expiresAt).timeIntervalSinceNow < 0.1)
        #expect(lab.sent.isEmpty == !isOnline)
    }

    /// What is put there meanwhile does not put it off.
    @Test func whatExpiresEndsBesideOthers() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let events = Events(queue)
        var request = lab.request()
        request.expiresAt = Date(timeIntervalSinceNow: 0.3)
        let id = try await queue.enqueue(request)
        var count = 0
        while !events.all.contains(.expired(id)) {
            try await queue.enqueue(lab.request())
            count += 1
            try #require(count < 5000)
        }
    }

    /// An attempt that ends after the time is the last one, however soon the next would be.
    @Test(arguments: [TransportError.Progress.notSent, .mayHaveBeenReceived])
    func whatExpiresWhileItIsSentIsNotSentAgain(progress: TransportError.Progress) async throws {
        let lab = try QueueLab(.held(progress))
        var settings = QueueLab.quick
        (settings.baseBackoff, settings.maxBackoff) = (.milliseconds(1), .milliseconds(1))
        let queue = try lab.started(settings)
        var request = lab.request(method: "PUT")
        request.expiresAt = Date(timeIntervalSinceNow: 1)
        let id = try await queue.enqueue(request)
        try await lab.transport.waitForRequests(1)
        try await Self.eventually { request.expiresAt.map { $0 < .now } == true }
        lab.transport.release(.failure(.connectionLost, progress))
        #expect(try await queue.wait(for: id).state == .dead)
        #expect(lab.sent.count == 1)
    }

    @Test func whatHasExpiredDoesNotStandForANewOne() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        var (old, new) = (lab.request("old"), lab.request("new"))
        (old.uniqueKey, new.uniqueKey) = ("daily", "daily")
        old.expiresAt = Date(timeIntervalSinceNow: 0.2)
        let id = try await queue.enqueue(old)
        try await Self.eventually { try queue.record(id: id)?.waiting == .expired }
        #expect(try await queue.enqueue(new) == new.id)
        #expect(try queue.record(id: id)?.state == .dead)
        queue.start()
        try await queue.waitUntilEmpty()
        #expect(lab.sent == ["new"])
    }

    @Test func whatExpiresInALaneHoldsIt() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let events = Events(queue)
        var request = lab.request()
        request.orderingKey = "lane"
        request.expiresAt = Date(timeIntervalSinceNow: 0.5)
        let id = try await queue.enqueue(request)
        try await events.wait(for: .held(id, .laneHeld))
        #expect(!events.all.contains(.expired(id)))
    }

    /// What cannot be read is not empty.
    @Test func aDamagedFileIsReadAsDamaged() async throws {
        let lab = try QueueLab()
        let first = try lab.open()
        try await first.enqueue(lab.request())
        await first.shutdown(within: .zero)
        let file = try FileHandle(forUpdating: URL(filePath: lab.file))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 100))
        try file.close()
        let queue = try lab.open()
        let damaged = QueueError.corrupt(path: queue.file, setAsideAs: nil)
        #expect(throws: damaged) { try queue.counts }
        await #expect(throws: damaged) { try await queue.pendingRequests }
        await #expect(throws: damaged) { try await queue.requests(in: [.dead], limit: 1) }
        #expect(throws: damaged) { try queue.isPaused }
        lab.monitor.adopt(queue)
        #expect(lab.monitor.pendingRequests.failure == damaged)
        #expect(!lab.monitor.pendingRequests.isEmpty)
        let events = Events(queue)
        queue.start()
        try await events.wait { if case .salvaged = $0 { true } else { false } }
        try await Self.eventually { (try? queue.counts) == QueueCounts() }
        #expect(lab.monitor.pendingRequests.isEmpty)
    }

    /// What SQLite finds nothing wrong with until it is asked to compare.
    @Test func whoIsToSendLooksThroughTheFileFirst() async throws {
        let lab = try QueueLab()
        let first = try lab.open()
        let id = try await first.enqueue(lab.request())
        await first.shutdown(within: .zero)
        try await DatabaseQueue(path: lab.file).write { try $0.execute(sql: "UPDATE request SET state = 'reads'") }
        let queue = try lab.open()
        let events = Events(queue)
        queue.start()
        try await events.wait { if case .salvaged = $0 { true } else { false } }
        #expect(try await queue.requests(in: [.held], limit: 2).map(\.id) == [id])
    }

    @Test func listsArePagesOfOneMoment() async throws {
        let lab = try QueueLab(.status(400))
        let queue = try lab.started()
        for number in 0..<4 { try await queue.enqueue(lab.request("\(number)")) }
        try await queue.waitUntilEmpty()
        // What is revived, and given up again, is not in it for a second time.
        var revived = 0
        for record in try await queue.deadRequests {
            try await queue.requeueDead(id: record.id)
            _ = try await queue.wait(for: record.id)
            revived += 1
        }
        #expect(revived == 4)
        let pages = [try await queue.requests(in: [.dead], limit: 3)]
        let rest = try await queue.requests(in: [.dead], after: pages[0].last?.sequence ?? 0)
        #expect((pages[0] + rest).map(\.id) == (try await queue.deadRequests.map(\.id)))
        #expect(rest.count == 1)
    }

    @Test func urgentOnesGoFirst() async throws {
        let lab = try QueueLab(network: .noLink)
        var settings = QueueLab.quick
        settings.concurrency = 1
        let queue = try lab.started(settings)
        for (path, priority) in [("low", RequestPriority.low), ("normal", .normal), ("high", .high)] {
            var request = lab.request(path)
            request.priority = priority
            try await queue.enqueue(request)
        }
        lab.network.report(.wifi)
        try await lab.transport.waitForRequests(3)
        #expect(lab.sent == ["high", "normal", "low"])
    }

    @Test func nothingIsSentWhilePausedAlsoAfterARestart() async throws {
        let lab = try QueueLab()
        var queue: OfflineRequestQueue? = try lab.started()
        try await queue?.pause()
        try await queue?.enqueue(lab.request())
        queue = nil
        let again = try lab.started()
        let events = Events(again)
        // Answered in a transaction after the one that would have sent.
        try await again.enqueue(lab.request("b"))
        #expect(lab.sent.isEmpty)
        try await again.resume()
        try await events.wait(for: .drained)
        #expect(lab.sent.sorted() == ["a", "b"])
    }

    /// What could not be written down is not taken for written.
    @Test func whatIsBeingSentIsMarkedAgainAfterAFailure() async throws {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.open()
        let id = try await queue.enqueue(lab.request())
        queue.start()
        try await lab.transport.waitForHeld(1)
        // As when the disk is full, nothing of the transaction remains.
        await #expect(throws: QueueError.self) {
            try await queue.core.perform { _, _ in throw CancellationError() }
        }
        try await queue.pause()
        #expect(try queue.record(id: id)?.state == .running)
        #expect(try queue.record(id: id)?.attempts == 1)
    }

    /// For what no event tells; half a minute, since a busy machine keeps it waiting.
    static func eventually(_ condition: () throws -> Bool) async throws {
        for _ in 0..<3_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("it did not come to that")
    }
}
