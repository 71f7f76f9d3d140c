// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathTestKit
import Synchronization
import Testing

@testable import OfflineRequests

/// Requests that their callers write into the file themselves: the same comes of it, in the same order.
@Suite(.timeLimit(.minutes(5)))
struct ShortcutTests {
    @Test func openForAQuickDiskAndACallerAlone() {
        let shortcut = Shortcut()
        #expect(!shortcut.isOpen, "nothing is known of the disk yet")
        shortcut.measured(.microseconds(200))
        #expect(shortcut.isOpen)
        shortcut.measured(.milliseconds(3))
        #expect(!shortcut.isOpen)
        shortcut.measured(.microseconds(200))
        #expect(shortcut.isOpen)
        shortcut.measured(.microseconds(200), commands: 2)
        #expect(!shortcut.isOpen, "several are better off together")
        shortcut.measured(.microseconds(200))
        shortcut.posted()
        shortcut.posted()
        shortcut.answered(1)
        #expect(!shortcut.isOpen, "something is waiting for its turn")
        shortcut.answered(1)
        #expect(shortcut.isOpen)
    }

    @Test func needsNoOtherThread() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        let thread = Stuck(queue)
        defer { thread.release() }
        let id = try await queue.enqueueHere(QueueLab.any)
        // The thread of the queue has seen nothing of it.
        #expect(try queue.record(id: id)?.state == .ready)
        #expect(queue.counts.ready == 2)
        try queue.core.store.verify()
    }

    /// Every way to be taken, replaced, dropped or refused.
    @Test(arguments: [QueueLimits.FullPolicy.reject, .dropOldest])
    func theSameComesOfIt(whenFull: QueueLimits.FullPolicy) async throws {
        func run(_ way: (OfflineRequestQueue, RetryableRequest) async throws -> UUID) async throws -> [String] {
            let lab = try QueueLab()
            let limits = QueueLimits(maxCount: 6, maxBodyBytes: 100_000, whenFull: whenFull)
            let queue = try lab.open(QueueSettings(limits: limits))
            let events = Events(queue)
            var names: [UUID: String] = [:]
            var lines: [String] = []
            for (name, request) in Self.samples {
                names[request.id] = name
                do {
                    let id = try await way(queue, request)
                    lines.append("\(name): \(names[id] ?? "?")")
                } catch {
                    lines.append("\(name): \(error)")
                }
            }
            for record in queue.pendingRequests {
                let body = record.request.bodyFile.map { FileManager.default.contents(atPath: $0)?.count ?? -1 }
                lines.append("\(names[record.id] ?? "?") \(record.sequence) \(record.state) \(body ?? 0)")
            }
            lines.append("\(queue.counts)")
            try await events.wait(count: 2) { if case .enqueued = $0 { true } else { false } }
            queue.close()
            for await _ in queue.changes {}
            lines += events.all.map { "\($0)" }
            // Ids and folders are others in every run.
            return lines.map { line in
                names.reduce(line.replacing(lab.folder.path, with: "")) { line, name in
                    line.replacing(name.key.uuidString, with: name.value)
                        .replacing(name.key.uuidString.lowercased(), with: name.value)
                }
            }
        }
        let direct = try await run { try await $0.enqueueHere($1) }
        let byThread = try await run { queue, request in
            // As if something else were waiting.
            queue.core.shortcut.posted()
            defer { queue.core.shortcut.answered(1) }
            return try await queue.enqueue(request)
        }
        #expect(direct == byThread)
    }

    private static var samples: [(String, RetryableRequest)] {
        func sample(_ change: (inout RetryableRequest) -> Void = { _ in }) -> RetryableRequest {
            var request = QueueLab.any
            change(&request)
            return request
        }
        let twice = sample()
        return [
            ("plain", twice), ("again", twice),
            ("long", sample { $0.body = Data(repeating: 1, count: 70_000) }),
            ("too long", sample { $0.body = Data(repeating: 1, count: 100_001) }),
            ("wrong", sample { $0.endpoint = "nowhere" }),
            ("lane", sample { $0.orderingKey = "a" }), ("behind", sample { $0.orderingKey = "a" }),
            ("unique", sample { $0.uniqueKey = "k" }), ("kept", sample { ($0.uniqueKey, $0.ifExists) = ("k", .keep) }),
            ("replacing", sample { ($0.uniqueKey, $0.ifExists) = ("k", .replace) }),
            ("appended", sample { ($0.uniqueKey, $0.ifExists) = ("k", .append) }),
            ("full", sample()), ("fuller", sample()),
        ]
    }

    /// Requests of one caller stay in their order, however it gives them.
    @Test func nothingOvertakes() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        var random = SeededGenerator(seed: 7)
        var order: [UUID] = []
        for _ in 0..<300 {
            let request = QueueLab.any
            order.append(request.id)
            if Bool.random(using: &random) {
                queue.enqueue(request) { _ in }
            } else {
                // However slow the disk of the test is.
                queue.core.shortcut.measured(.zero)
                try await queue.enqueue(request)
            }
        }
        try await queue.enqueue(QueueLab.any)
        #expect(queue.pendingRequests.map(\.id).dropLast() == order[...])
    }

    @Test func eventsAreInTheirOrderAndEverythingIsSent() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        let events = Events(queue)
        var ids: [UUID] = []
        for number in 0..<200 {
            queue.core.shortcut.measured(.zero)
            ids.append(try await queue.enqueue(lab.request("\(number)")))
        }
        try await queue.waitUntilEmpty()
        for id in ids {
            try await events.wait(for: .succeeded(id, status: 200))
            let first = try #require(events.all.firstIndex(of: .enqueued(id)))
            let attempt = try #require(events.all.firstIndex(of: .attempt(id, number: 1)))
            #expect(first < attempt)
        }
        #expect(Set(lab.sent).count == 200)
    }

    @Test func theSenderOfAnotherProcessHears() async throws {
        let lab = try QueueLab()
        let sender = try lab.started()
        try await QueueDeliveryTests.eventually { sender.core.status.withLock { $0.role } == .sender }
        let spool = try lab.open(QueueSettings(sends: false))
        let id = try await spool.enqueueHere(lab.request())
        // Known by the one that has not sent it.
        #expect(try await spool.wait(for: id).state == .succeeded)
        #expect(lab.sent == ["a"])
    }

    @Test func emptyAgainIsTold() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        let events = Events(queue)
        let id = try await queue.enqueueHere(QueueLab.any)
        try await queue.cancelRequest(id: id)
        try await events.wait(for: .drained)
        #expect(events.all == [.enqueued(id), .cancelled(id), .drained])
    }

    @Test func closedMeansClosedAtOnce() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        let thread = Stuck(queue)
        queue.close()
        queue.core.shortcut.measured(.zero)
        let late = Task { try await queue.enqueue(QueueLab.any) }
        thread.release()
        await #expect(throws: QueueError.closed) { try await late.value }
    }

    @Test func waitsForNoOtherProcess() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        try await queue.enqueue(QueueLab.any)
        let other = try RequestStore(path: lab.file)
        let prepared = try queue.core.store.prepare(QueueLab.any)
        try other.transaction(durable: false) { _ in
            let begin = ContinuousClock.now
            #expect(!queue.core.append(prepared))
            #expect(ContinuousClock.now - begin < .seconds(2))
        }
        #expect(queue.core.append(prepared))
        #expect(!queue.core.append(prepared), "it is there already")
    }

    @Test func aFileThatIsGoneIsTheThreadsToMakeAnew() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        try await queue.enqueue(QueueLab.any)
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: lab.file + suffix) }
        let request = QueueLab.any
        #expect(!queue.core.append(try queue.core.store.prepare(request)))
        try await queue.enqueueHere(request)
        #expect(queue.pendingRequests.map(\.id) == [request.id])
    }

    @Test func aFileThatAnotherProcessHasReplacedIsTheThreadsToOpen() async throws {
        let lab = try QueueLab()
        let queue = try lab.open()
        let first = try await queue.enqueue(QueueLab.any)
        try StoreBench.settle(lab.file)
        let handle = try #require(FileHandle(forUpdatingAtPath: lab.file))
        // The table of counts.
        try handle.seek(toOffset: UInt64(DatabasePages.size))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: DatabasePages.size))
        let other = try lab.open()
        let second = try await other.enqueueHere(QueueLab.any)
        let request = QueueLab.any
        #expect(!queue.core.append(try queue.core.store.prepare(request)))
        let third = try await queue.enqueueHere(request)
        let fourth = try await queue.enqueueHere(QueueLab.any)
        #expect(queue.pendingRequests.map(\.id) == [first, second, third, fourth])
        #expect(other.counts.ready == 4)
    }
}

/// Keeps the thread of a queue from doing anything.
private struct Stuck {
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ queue: OfflineRequestQueue) {
        let isStuck = DispatchSemaphore(value: 0)
        queue.enqueue(QueueLab.any) { [semaphore = self.semaphore] _ in
            isStuck.signal()
            // No test may hang for ever.
            _ = semaphore.wait(timeout: .now() + 10)
        }
        _ = isStuck.wait(timeout: .now() + 10)
    }

    func release() { self.semaphore.signal() }
}

extension QueueLab {
    fileprivate static var any: RetryableRequest {
        RetryableRequest(endpoint: "http://192.0.2.80/a", method: "POST", body: Data("x".utf8))
    }
}

extension OfflineRequestQueue {
    /// Enqueues as after a quick commit, whatever the disk of the test is like.
    @discardableResult
    fileprivate func enqueueHere(_ request: RetryableRequest) async throws -> UUID {
        self.core.shortcut.measured(.zero)
        return try await self.enqueue(request)
    }
}
