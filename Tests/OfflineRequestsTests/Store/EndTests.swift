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

    private var ends: Int64 { get throws { try self.store.read { $0.status.ends } } }

    private func end(of id: UUID, since ends: Int64) throws -> RequestState? {
        try self.store.read { try $0.end(of: id, since: ends) }
    }

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

    @Test func whatIsGoneAndNotListedWasDelivered() throws {
        let before = try self.ends
        let delivered = try self.store.insert(sample(0)).id
        try self.store.run(delivered, .succeeded)
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
        try self.store.transaction(durable: true) { _ = try $0.cancel(.all) }
        let states = try [delivered, cancelled, replaced, purged, dropped].map { try self.end(of: $0, since: before) }
        #expect(states == [.succeeded, .cancelled, .cancelled, .dead, .cancelled])
        #expect(try self.ends == before + 5)
    }

    @Test func theOldestMakesRoomVisibly() throws {
        let before = try self.ends
        let oldest = try self.store.insert(sample(0)).id
        try self.store.run(oldest, .dead(reason: "refused"))
        for number in 1...3 { try self.store.insert(sample(number)) }
        #expect(try self.end(of: oldest, since: before) == .dead)
    }

    @Test func anIDThatCameAgainHasItsOwnEnd() throws {
        let request = sample(0)
        try self.store.insert(request)
        _ = try self.store.transaction(durable: true) { try $0.cancel(request.id) }
        try self.store.insert(request)
        let seen = try self.ends
        try self.store.run(request.id, .succeeded)
        #expect(try self.end(of: request.id, since: seen) == .succeeded)
    }

    @Test func whatIsNotKnownAnyMoreIsNotGuessed() throws {
        let before = try self.ends
        let delivered = try self.store.insert(sample(0)).id
        try self.store.run(delivered, .succeeded)
        let ids = (0..<1500).map { _ in UUID() }
        try self.store.transaction(durable: false) { try $0.remember(Array(ids[..<1000]), as: .cancelled) }
        #expect(try self.end(of: delivered, since: before) == .succeeded)
        #expect(try self.end(of: ids[0], since: before) == .cancelled)
        try self.store.transaction(durable: false) { try $0.remember([ids[1000]], as: .cancelled) }
        #expect(try self.end(of: delivered, since: before) == nil)
        // Of many at once the last are remembered.
        let now = try self.ends
        try self.store.transaction(durable: false) { try $0.remember(ids, as: .dead) }
        #expect(try self.end(of: ids[1499], since: now + 500) == .dead)
        #expect(try self.end(of: ids[499], since: now + 500) == .succeeded)
        #expect(try self.end(of: ids[1499], since: now) == nil)
        // The file took the place of another, which counted differently.
        #expect(try self.end(of: delivered, since: now + 5000) == nil)
    }
}
