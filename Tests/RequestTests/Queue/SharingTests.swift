// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import OfflineRequests

/// Several queues on one file, which in one process are to each other what they are in several; and the end of one.
@Suite(.timeLimit(.minutes(5)))
struct SharingTests {
    @Test func oneSendsAndTheNextTakesOver() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let first = try lab.started()
        let id = try await first.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        let second = try lab.started()
        let events = Events(second)
        try await QueueDeliveryTests.eventually { second.core.status.withLock { $0.role } == .waiting }
        #expect(lab.transport.requests.count == 1)
        try await QueueDeliveryTests.eventually { try second.record(id: id)?.state == .running }

        lab.transport.answerUsually(.status(200))
        first.close()
        try await events.wait(for: .succeeded(id, status: 200))
        #expect(lab.transport.requests.count == 2)
        #expect(Set(lab.transport.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
    }

    /// A program may end as soon as it has its answer.
    @Test func theSenderIsRungBeforeTheCallerHasItsAnswer() async throws {
        let lab = try QueueLab()
        let queue = try lab.open(QueueSettings(sends: false))
        let files = try #require(FileWatch())
        _ = try #require(files.add(queue.core.store.paths.lock, .read))
        let isRung = await withCheckedContinuation { continuation in
            queue.enqueue(lab.request()) { _ in continuation.resume(returning: files.take()) }
        }
        #expect(isRung)
    }

    @Test func whoOnlyEnqueuesRingsTheSenderAndHearsOfTheEnd() async throws {
        let lab = try QueueLab()
        let sender = try lab.started()
        try await QueueDeliveryTests.eventually { sender.core.status.withLock { $0.role } == .sender }
        let spool = try lab.open(QueueSettings(sends: false))
        let id = try await spool.enqueue(lab.request())
        #expect(try await spool.wait(for: id).state == .succeeded)
        try await spool.waitUntilEmpty()
        #expect(lab.sent == ["a"])
    }

    @Test func whatAnotherCancelsIsCancelledHere() async throws {
        let lab = try QueueLab(.held(.notSent))
        let sender = try lab.started()
        let id = try await sender.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        let other = try lab.open(QueueSettings(sends: false))
        #expect(try await other.cancelRequest(id: id) == .running)
        try await QueueDeliveryTests.eventually { lab.transport.cancelled == 1 }
    }

    @Test func whatAnotherDidToARequestIsTold() async throws {
        let lab = try QueueLab(.held(.notSent))
        let sender = try lab.started()
        let events = Events(sender)
        let other = try lab.open(QueueSettings(sends: false))
        let first = try await other.enqueue(lab.request())
        async let waited = other.wait(for: first)
        try await sender.cancelRequest(id: first)
        #expect(try await waited.state == .cancelled)
        let second = try await other.enqueue(lab.request())
        #expect(try await sender.cancelRequests() == 1)
        #expect(try await other.wait(for: second).state == .cancelled)
        let third = try await other.enqueue(lab.request())
        try await sender.reset()
        #expect(try await other.wait(for: third).state == .cancelled)

        lab.transport.answerUsually(.status(400))
        let fourth = try await other.enqueue(lab.request())
        try await events.wait { $0.isDead }
        #expect(try await sender.purgeDead() == 1)
        #expect(try await other.wait(for: fourth).state == .dead)

        lab.transport.answerUsually(.status(200))
        let fifth = try await other.enqueue(lab.request())
        try await events.wait(for: .succeeded(fifth, status: 200))
        #expect(try await other.wait(for: fifth).state == .succeeded)
    }

    @Test func pausingAndForcingReachTheSender() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(503, ["Retry-After": "3600"]))
        let sender = try lab.started()
        let events = Events(sender)
        let id = try await sender.enqueue(lab.request())
        try await events.wait { $0.isBackoff }
        let other = try lab.open(QueueSettings(sends: false))
        try await other.pause()
        try await QueueDeliveryTests.eventually { try sender.record(id: id)?.waiting == .paused }
        try await other.resume()
        other.forceTriggerRetry()
        try await events.wait(for: .succeeded(id, status: 200))
    }

    @Test func theSenderRemovesBodiesThatBelongToNobody() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        var request = lab.request()
        request.body = Data(repeating: 1, count: 100_000)
        // Somebody has copied a body, and not put the request in yet.
        let prepared = try queue.core.store.prepare(request)
        let bodies = queue.core.store.bodies
        let leased = try #require(FileAccess.names(in: bodies.folder).first)
        try Data([1]).write(to: URL(filePath: bodies.path(UUID().uuidString.lowercased())))
        queue.start()
        try await QueueDeliveryTests.eventually { FileAccess.names(in: bodies.folder) == [leased] }
        try await QueueDeliveryTests.eventually { queue.core.status.withLock { $0.role } == .sender }
        withExtendedLifetime(prepared) { #expect(FileAccess.names(in: bodies.folder) == [leased]) }
    }

    @Test func theFileShrinksOnceEverythingIsDelivered() async throws {
        func size(_ lab: QueueLab) throws -> Int {
            try FileManager.default.attributesOfItem(atPath: lab.file)[.size] as? Int ?? 0
        }
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let body = Data(repeating: 7, count: 50_000)
        for _ in 0..<200 {
            var request = lab.request()
            request.body = body
            queue.enqueue(request) { _ in }
        }
        try await QueueDeliveryTests.eventually { try queue.counts.pending == 200 }
        try await QueueDeliveryTests.eventually { try size(lab) > 5 << 20 }
        lab.network.report(.wifi)
        try await queue.waitUntilEmpty()
        try await QueueDeliveryTests.eventually { try size(lab) < 1 << 20 }
        #expect(try size(lab) > 0)
    }

    @Test func oneRequestIsForcedAndTheOthersWaitOn() async throws {
        let lab = try QueueLab()
        let sender = try lab.started()
        let other = try lab.open(QueueSettings(sends: false))
        let events = Events(sender)
        var ids: [UUID] = []
        for name in ["a", "b", "c"] {
            lab.transport.answer(.status(503, ["Retry-After": "3600"]), to: "http://192.0.2.80/\(name)")
            ids.append(try await sender.enqueue(lab.request(name)))
        }
        try await events.wait(count: 3) { $0.isBackoff }
        try await other.forceTriggerRetry(id: ids[1])
        try await events.wait(for: .succeeded(ids[1], status: 200))
        try await sender.forceTriggerRetry(id: ids[2])
        try await events.wait(for: .succeeded(ids[2], status: 200))
        #expect(try sender.record(id: ids[0])?.state == .backoff)
        #expect(lab.sent.sorted() == ["a", "b", "b", "c", "c"])
        await #expect(throws: QueueError.unknownID(ids[1])) { try await other.forceTriggerRetry(id: ids[1]) }
    }

    @Test func whatWasGivenUpIsForcedToo() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.status(400), .status(401))
        let sender = try lab.started()
        let other = try lab.open(QueueSettings(sends: false))
        let events = Events(sender)
        let dead = try await sender.enqueue(lab.request("dead"))
        try await events.wait { $0.isDead }
        let held = try await sender.enqueue(lab.request("held"))
        try await events.wait { $0.isHeld }
        for id in [held, dead] {
            try await other.forceTriggerRetry(id: id)
            try await events.wait(for: .succeeded(id, status: 200))
        }
    }

    @Test(arguments: [true, false])
    func forcingElsewhereEndsThePauseOfAHost(one: Bool) async throws {
        let lab = try QueueLab(.failure(.refused, .notSent))
        let settings = QueueSettings.with { ($0.baseBackoff, $0.maxBackoff) = (.seconds(3600), .seconds(3600)) }
        let sender = try lab.started(settings)
        let other = try lab.open(QueueSettings(sends: false))
        let id = try await sender.enqueue(lab.request())
        try await QueueDeliveryTests.eventually {
            if case .hostPaused = try sender.record(id: id)?.waiting { true } else { false }
        }
        lab.transport.answerUsually(.status(200))
        if one { try await other.forceTriggerRetry(id: id) } else { other.forceTriggerRetry() }
        #expect(try await sender.wait(for: id).state == .succeeded)
    }

    @Test func whoSendsOnlyOneLeavesTheOthersToOthers() async throws {
        let lab = try QueueLab()
        let one = try lab.open()
        let other = try await one.enqueue(lab.request("other"))
        let mine = try await one.enqueue(lab.request("mine"))
        one.start(only: mine)
        #expect(try await one.wait(for: mine).state == .succeeded)
        #expect(lab.sent == ["mine"])
        let sender = try lab.started()
        #expect(try await sender.wait(for: other).state == .succeeded)
        // Nobody is in the way while it waits for its time.
        lab.transport.answer(.status(503, ["Retry-After": "3600"]), to: "http://192.0.2.80/late")
        sender.close()
        let late = try await one.enqueue(lab.request("late"))
        let second = try lab.open()
        second.start(only: late)
        try await QueueDeliveryTests.eventually { try second.record(id: late)?.state == .backoff }
        let third = try lab.started()
        #expect(try await third.wait(for: third.enqueue(lab.request("third"))).state == .succeeded)
        #expect(lab.sent == ["mine", "other", "late", "third"])
    }

    /// Those belong to programs with settings of their own.
    @Test func whoSendsOnlyOneGivesUpNoOther() async throws {
        let lab = try QueueLab()
        let one = try lab.open()
        let old = try await one.enqueue(lab.request("old"))
        try await Task.sleep(for: .milliseconds(200))
        let sender = try lab.open(.with { $0.maxAge = .milliseconds(100) })
        let mine = try await sender.enqueue(lab.request("mine"))
        sender.start(only: mine)
        #expect(try await sender.wait(for: mine).state == .succeeded)
        #expect(try sender.record(id: old)?.state == .ready)
    }

    /// The kernel tells of the end of a process before it takes the lock of that away.
    @Test func aLockThatIsFreedAfterTheWordOfItIsTaken() async throws {
        let lab = try QueueLab()
        let path = QueueFile.senderLock(of: lab.file)
        let holder = try FileLock(path)
        #expect(try holder.take())
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        try await QueueDeliveryTests.eventually { queue.core.status.withLock { $0.role } == .waiting }
        _ = FileDescriptor(unsafe open(path, O_WRONLY))
        try await Task.sleep(for: .milliseconds(300))
        holder.release()
        #expect(try await queue.wait(for: id).state == .succeeded)
    }

    @Test func aQueueThatNobodyHoldsIsClosed() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        var queue: OfflineRequestQueue? = try lab.started()
        let id = try await #require(queue).enqueue(lab.request())
        try await lab.transport.waitForHeld()
        let changes = try #require(queue?.core.observers.stream())
        queue = nil
        // Ends, and does not hang.
        for await _ in changes {}
        lab.transport.answerUsually(.status(200))
        let again = try lab.open()
        let record = try #require(try again.record(id: id))
        #expect(record.state == .ready)
        #expect(record.isRepeat)
        again.start()
        #expect(try await again.wait(for: id).state == .succeeded)
    }

    @Test func closingTwiceAndUsingWhatIsClosed() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        queue.start()
        let waiting = Task { try await queue.waitUntilEmpty() }
        queue.close()
        queue.close()
        queue.start()
        _ = await waiting.result
        await #expect(throws: QueueError.closed) { try await queue.enqueue(lab.request()) }
        await #expect(throws: QueueError.closed) { try await queue.waitUntilEmpty() }
        for await _ in queue.changes {}
        await #expect(throws: QueueError.closed) { try await queue.pendingRequests }
        #expect(throws: QueueError.closed) { try queue.counts }
    }

    /// Whether the executor has to be woken or the caller's thread does the work.
    @Test func theCallsOfOneTaskKeepTheirOrder() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        for number in stride(from: 0, to: 300, by: 3) {
            queue.enqueue(lab.request("\(number)")) { _ in }
            try await queue.enqueue(lab.request("\(number + 1)"))
            try await queue.enqueue(lab.request("\(number + 2)"))
        }
        let names = try await queue.pendingRequests.compactMap {
            $0.request.endpoint.split(separator: "/").last.map { String($0) }
        }
        #expect(names == (0..<300).map { "\($0)" })
    }

    @Test func manyCallersAtOnce() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for number in 0..<500 { group.addTask { try await queue.enqueue(lab.request("\(number)")) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 500)
        try await queue.waitUntilEmpty()
        #expect(Set(lab.sent).count == 500)
        #expect(lab.sent.count == 500)
    }

    @Test func wrongRequestsAndFilesAreRefused() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        var request = lab.request()
        request.endpoint = "no scheme"
        await #expect {
            try await queue.enqueue(request)
        } throws: {
            if case .invalidRequest? = $0 as? QueueError { true } else { false }
        }
        let duplicate = lab.request()
        try await queue.enqueue(duplicate)
        await #expect(throws: QueueError.duplicate(duplicate.id)) { try await queue.enqueue(duplicate) }
        #expect(try queue.counts.total == 1)
        #expect(throws: QueueError.isDirectory(path: URL(filePath: lab.folder.path).standardizedFileURL.path)) {
            try OfflineRequestQueue(file: lab.folder.path, transport: lab.transport, monitor: lab.monitor)
        }
    }

    @Test func applicationsThatNameNoFileHaveOneEach() throws {
        let environment = ["XDG_DATA_HOME": "relative", "HOME": "/home/x"]
        let names = try ["org.example.mail", "org.example.news", nil].map { application in
            try QueueFile.standard(application: application, environment: environment)
        }
        #expect(names.first == "/home/x/.local/share/netpath/requests/org.example.mail.sqlite")
        #expect(Set(names).count == 3)
        let data = try QueueFile.standard(application: "a", environment: ["XDG_DATA_HOME": "/data"])
        #expect(data == "/data/netpath/requests/a.sqlite")
        // As where it is not set; not in the root folder, nor in the current one.
        let unset = try QueueFile.standard(application: "a", environment: [:])
        #expect(unset.hasSuffix("/.local/share/netpath/requests/a.sqlite") && !unset.hasPrefix("/.local"), "\(unset)")
        for home in ["", "relative"] {
            #expect(try QueueFile.standard(application: "a", environment: ["HOME": home]) == unset, "\(home)")
        }
        for wrong in ["", "../a", "a\nb", String(repeating: "a", count: 300)] {
            #expect(throws: QueueError.self) { try QueueFile.standard(application: wrong) }
        }
    }
}
