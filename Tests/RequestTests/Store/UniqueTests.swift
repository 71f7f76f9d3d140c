// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import OfflineRequests

@Suite struct UniqueTests {
    private let store: RequestStore
    private let bench: StoreBench

    init() throws {
        self.bench = try StoreBench()
        self.store = try self.bench.open()
    }

    private func insert(_ number: Int, _ policy: UniquePolicy, key: String = "key") throws -> Insertion {
        try self.store.insert(
            sample(number) {
                $0.uniqueKey = key
                $0.ifExists = policy
            }
        )
    }

    private func order() throws -> [UUID] { try self.store.all().map(\.id) }

    @Test func keepKeepsTheFirst() throws {
        let first = try self.insert(1, .keep)
        let second = try self.insert(2, .keep)
        #expect(second == Insertion(id: first.id, isKept: true, state: .ready))
        #expect(try self.order() == [first.id])
        #expect(try self.insert(3, .keep, key: "other").isKept == false)
        // Once it is done, another may come.
        try self.store.run(first.id, .succeeded)
        #expect(try self.insert(4, .keep).isKept == false)
    }

    @Test func keepAlsoKeepsWhatIsBeingSent() throws {
        let first = try self.insert(1, .keep)
        _ = try self.store.transaction(durable: true) { try $0.markRunning(first.id) }
        #expect(try self.insert(2, .keep) == Insertion(id: first.id, isKept: true, state: .running))
    }

    @Test func replaceTakesThePlace() throws {
        let first = try self.insert(1, .keep)
        let between = try self.store.insert(sample(2))
        let second = try self.insert(3, .replace)
        #expect(second.replaced == [first.id])
        #expect(try self.order() == [second.id, between.id])
        #expect(second.state == .ready)
    }

    @Test func replaceWaitsForWhatIsBeingSent() throws {
        let first = try self.insert(1, .keep)
        _ = try self.store.transaction(durable: true) { try $0.markRunning(first.id) }
        let second = try self.insert(2, .replace)
        #expect(second == Insertion(id: second.id, state: .blocked))
        let third = try self.insert(3, .replace)
        #expect(third.replaced == [second.id])
        #expect(try self.order() == [first.id, third.id])
        #expect(try self.store.transaction(durable: false) { try $0.finish(first.id, .succeeded) } != nil)
        #expect(try self.store.readyIDs() == [third.id])
    }

    @Test func aKeyInsideALaneKeepsTheLaneInOrder() throws {
        func insert(_ number: Int, _ policy: UniquePolicy) throws -> Insertion {
            try self.store.insert(
                sample(number) {
                    $0.orderingKey = "lane"
                    $0.uniqueKey = number < 10 ? "key" : nil
                    $0.ifExists = policy
                }
            )
        }
        let first = try insert(1, .keep)
        let behind = try insert(10, .keep)
        let second = try insert(2, .replace)
        #expect(try self.order() == [second.id, behind.id])
        #expect(try self.store.all().map(\.state) == [.ready, .blocked])
        #expect(first.id != second.id)
    }

    @Test func aDuplicateIsRefusedBeforeAnythingIsReplaced() throws {
        let other = try self.store.insert(sample(1)).id
        let first = try self.insert(2, .replace)
        var request = RetryableRequest(id: other, endpoint: "https://example.net")
        request.uniqueKey = "key"
        request.ifExists = .replace
        #expect(throws: QueueError.duplicate(other)) { try self.store.insert(request) }
        #expect(try self.order() == [other, first.id])
    }
}
