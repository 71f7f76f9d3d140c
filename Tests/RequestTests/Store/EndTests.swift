// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import OfflineRequests

/// What a process learns of a request that another one made an end of.
@Suite struct EndTests {
    private let bench: StoreBench
    private let store: RequestStore

    init() throws {
        self.bench = try StoreBench()
        self.store = try self.bench.open(.with { $0.maxCount = 3 })
    }

    private func end(of id: UUID) throws -> RequestState? { try self.store.read { try $0.end(of: id)?.state } }

    /// The sender ends what another process has cancelled before it begins the next of that lane.
    @Test func aTransactionKnowsWhetherOthersHaveWritten() throws {
        func othersWrote() throws -> Bool { try self.store.transaction(durable: false) { $0.othersWrote } }
        let id = try self.store.insert(sample(0)).id
        #expect(try !othersWrote())
        let other = try self.bench.open()
        #expect(try !othersWrote(), "to open the file writes nothing")
        _ = try other.transaction(durable: true) { try $0.cancel(id) }
        #expect(try othersWrote())
        #expect(try !othersWrote())
    }

    @Test func everyEndIsListed() throws {
        let delivered = try self.store.insert(sample(0)).id
        try self.store.run(delivered, .succeeded, status: 204)
        let cancelled = try self.store.insert(sample(1)).id
        #expect(try self.store.transaction(durable: true) { try $0.cancel(cancelled) } == .ready)
        let replaced = try self.store.insert(sample(2) { $0.uniqueKey = "one" }).id
        try self.store.insert(
            sample(3) {
                $0.uniqueKey = "one"
                $0.ifExists = .replace
            }
        )
        let purged = try self.store.insert(sample(4)).id
        try self.store.run(purged, .dead(reason: "refused"))
        #expect(try self.store.transaction(durable: true) { try $0.purge(purged) })
        let dropped = try self.store.insert(sample(5)).id
        try self.store.transaction(durable: true) { _ = try $0.cancel() }
        let states = try [delivered, cancelled, replaced, purged, dropped].map { try self.end(of: $0) }
        #expect(states == [.succeeded, .cancelled, .cancelled, .dead, .cancelled])
        #expect(try self.store.read { try $0.end(of: delivered)?.status } == 204)
        #expect(try self.end(of: UUID()) == nil)
    }

    @Test func theOldestMakesRoomVisibly() throws {
        let oldest = try self.store.insert(sample(0)).id
        try self.store.run(oldest, .dead(reason: "refused"))
        for number in 1...3 { try self.store.insert(sample(number)) }
        #expect(try self.end(of: oldest) == .dead)
    }

    @Test func anIDThatCameAgainHasItsOwnEnd() throws {
        let request = sample(0)
        try self.store.insert(request)
        _ = try self.store.transaction(durable: true) { try $0.cancel(request.id) }
        try self.store.insert(request)
        try self.store.run(request.id, .succeeded)
        #expect(try self.end(of: request.id) == .succeeded)
    }

    @Test func onlyTheLastAreRemembered() throws {
        let delivered = try self.store.insert(sample(0)).id
        try self.store.run(delivered, .succeeded)
        let ids = (0..<10_500).map { _ in UUID() }
        try self.store.transaction(durable: false) { try $0.remember(Array(ids[..<9_999]), as: .cancelled) }
        #expect(try self.end(of: delivered) == .succeeded)
        #expect(try self.end(of: ids[0]) == .cancelled)
        try self.store.transaction(durable: false) { try $0.remember([ids[9_999]], as: .cancelled) }
        #expect(try self.end(of: delivered) == nil)
        // Of many at once the last are remembered.
        try self.store.transaction(durable: false) { try $0.remember(ids, as: .dead) }
        #expect(try self.end(of: ids[10_499]) == .dead)
        #expect(try self.end(of: ids[499]) == nil)
        // And for a day.
        self.bench.pass(.seconds(86_401))
        #expect(try self.end(of: ids[10_499]) == nil)
    }
}
