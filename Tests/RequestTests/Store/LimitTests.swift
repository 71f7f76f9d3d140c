// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import OfflineRequests

@Suite struct LimitTests {
    private let bench: StoreBench

    init() throws { self.bench = try StoreBench() }

    @Test func aFullQueueRefuses() throws {
        let store = try self.bench.open(.with { $0.maxCount = 2 })
        let ids = try (0..<2).map { try store.insert(sample($0)).id }
        #expect(throws: QueueError.queueFull(limit: 2, of: "requests")) { try store.insert(sample(2)) }
        #expect(try store.all().map(\.id) == ids)
        try store.run(ids[0], .succeeded)
        try store.insert(sample(3))
    }

    @Test func aRefusalDoesNotEndTheTransaction() throws {
        let store = try self.bench.open(.with { $0.maxCount = 1 })
        let (first, second) = (try store.prepare(sample(1)), try store.prepare(sample(2)))
        let refusal = try store.transaction(durable: true) { transaction -> QueueError? in
            _ = try transaction.insert(first)
            do {
                _ = try transaction.insert(second)
                return nil
            } catch let error as QueueError { return error }
        }
        #expect(refusal == .queueFull(limit: 1, of: "requests"))
        #expect(try store.all().map(\.id) == [first.request.id])
    }

    @Test func bytesCountBodiesToo() throws {
        let size = try self.bench.open().prepare(sample(0)).row.size
        let store = try self.bench.open(.with { $0.maxBytes = 2 * size + 10 })
        try store.insert(sample(0))
        try store.insert(sample(1))
        #expect(throws: QueueError.queueFull(limit: 2 * size + 10, of: "bytes")) { try store.insert(sample(2)) }
        store.close()
        let small = try self.bench.open(.with { $0.maxBytes = size - 1 })
        #expect(throws: QueueError.queueFull(limit: size - 1, of: "bytes")) { try small.insert(sample(3)) }
    }

    @Test func theFinishedNeverStandInTheWay() throws {
        let store = try self.bench.open(.with { $0.maxCount = 3 })
        let ids = try (0..<3).map { try store.insert(sample($0)).id }
        for id in ids[..<2] { try store.run(id, .dead(reason: "refused")) }
        #expect(try store.insert(sample(3)).dropped == [ids[0]])
        #expect(try store.insert(sample(4)).dropped == [ids[1]])
        #expect(throws: QueueError.queueFull(limit: 3, of: "requests")) { try store.insert(sample(5)) }
    }

    @Test func aReplacementNeedsNoRoom() throws {
        let store = try self.bench.open(.with { $0.maxCount = 1 })
        let unique: (inout RetryableRequest) -> Void = {
            $0.uniqueKey = "key"
            $0.ifExists = .replace
        }
        let first = try store.insert(sample(1, unique))
        #expect(try store.insert(sample(2, unique)).replaced == [first.id])
    }

    @Test func tooLongABodyIsRefused() throws {
        let store = try self.bench.open(.with { $0.maxBodyBytes = 10 })
        let body = Data(repeating: 1, count: 11)
        #expect(throws: QueueError.bodyTooLarge(bytes: 11, limit: 10)) { try store.insert(sample { $0.body = body }) }
        try body.write(to: URL(filePath: self.bench.folder["body"]))
        #expect(throws: QueueError.bodyTooLarge(bytes: 11, limit: 10)) {
            try store.insert(
                sample {
                    $0.body = nil
                    $0.bodyFile = self.bench.folder["body"]
                }
            )
        }
    }
}
