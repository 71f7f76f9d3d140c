// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Random operations, after each of which the store must hold what the model holds, and must have counted it.
@Suite struct TallyTests {
    @Test(arguments: 0..<220)
    func theStoreIsTheModel(seed: Int) throws {
        var walk = try Walk(seed: UInt64(seed))
        for _ in 0..<25 {
            let step = try walk.step()
            try walk.check(step)
        }
        #expect(walk.bench.salvages.isEmpty)
    }
}

private struct Walk {
    struct Undo: Error {}

    let bench: StoreBench
    var store: RequestStore
    /// What another process would have; the two take turns, and each must see what the other did.
    var other: RequestStore
    var model = StoreModel()
    var random: SeededGenerator
    var time = 0

    init(seed: UInt64) throws {
        self.random = SeededGenerator(seed: seed)
        self.bench = try StoreBench()
        self.store = try self.bench.open()
        self.other = try self.bench.open()
    }

    private func change<Value: Sendable>(_ body: (StoreTransaction) throws -> Value) throws -> Value {
        try self.store.transaction(durable: false) { transaction in
            let value = try body(transaction)
            // What is known without reading is what the triggers have counted.
            let (known, counted) = (try transaction.counts, try transaction.records.counts)
            #expect(known == counted)
            return value
        }
    }

    private mutating func request() -> RetryableRequest {
        sample(Int.random(in: 0..<100, using: &self.random)) { request in
            request.priority = RequestPriority.allCases.randomElement(using: &self.random) ?? .normal
            request.orderingKey = [nil, nil, "a", "b"].randomElement(using: &self.random) ?? nil
            request.onFailure = LanePolicy.allCases.randomElement(using: &self.random) ?? .hold
            request.uniqueKey = [nil, nil, "x", "y"].randomElement(using: &self.random) ?? nil
            request.ifExists = UniquePolicy.allCases.randomElement(using: &self.random) ?? .keep
            request.requestType = "even"
        }
    }

    private mutating func pick(_ states: RequestState...) -> UUID? {
        (self.model.pending + self.model.finished).filter { states.contains($0.state) }
            .randomElement(using: &self.random)?.id
    }

    /// Does something to both.
    ///
    /// - Returns: What.
    mutating func step() throws -> String {
        if Int.random(in: 0..<3, using: &self.random) == 0 { swap(&self.store, &self.other) }
        switch Int.random(in: 0..<24, using: &self.random) {
        case 0..<8:
            let request = self.request()
            try self.store.insert(request)
            self.model.insert(request)
            return "insert \(request)"
        case 8..<11:
            guard let id = self.pick(.ready) else { return "nothing ready" }
            #expect(try self.change { try $0.markRunning(id) })
            self.model.start(id)
            return "start"
        case 11..<17: return try self.finish()
        case 17:
            self.time += 5
            self.bench.pass(.seconds(5))
            try self.change { _ = try $0.promoteDue() }
            self.model.promoteDue(self.time)
            return "time passes"
        case 18:
            guard let id = self.pick(.ready, .blocked, .backoff, .running, .held, .dead) else { return "nothing" }
            #expect(try self.change { try $0.cancel(id) } != nil)
            self.model.remove(id)
            return "cancel"
        case 19:
            let cancelled = try self.change { try $0.cancel(lane: "a") }
            for entry in self.model.pending where entry.lane == "order a" { self.model.remove(entry.id) }
            return "cancel \(cancelled.count) of a lane"
        case 20:
            guard let id = self.pick(.dead, .held) else { return "nothing dead" }
            _ = try self.change { try $0.requeue(id) }
            self.model.requeue(id)
            return "revive"
        case 21:
            try self.change { _ = try $0.releaseRunning() }
            for entry in self.model.pending where entry.state == .running { self.model.set(entry.id, .ready) }
            return "release"
        case 22:
            let prepared = try self.store.prepare(self.request())
            #expect(throws: QueueError.self) {
                try self.change { transaction in
                    _ = try transaction.insert(prepared)
                    _ = try transaction.cancel(type: "even")
                    throw Undo()
                }
            }
            return "undo"
        default:
            self.store.close()
            self.store = try self.bench.open()
            return "open again"
        }
    }

    private mutating func finish() throws -> String {
        guard let id = self.pick(.running) else { return "nothing running" }
        let dispositions: [Disposition] = [
            .succeeded, .waitForPath, .retry(after: .seconds(7), countsAttempt: true), .hold(.unauthorized),
            .dead(reason: "refused"),
        ]
        let disposition = dispositions.randomElement(using: &self.random) ?? .succeeded
        let bodies: [[UInt8]?] = [nil, nil, [], [1, 2, 3]]
        let body = bodies.randomElement(using: &self.random) ?? nil
        let response = body.map { TransportResponse(status: 200, body: $0) }
        #expect(try self.change { try $0.finish(id, disposition, status: 200, response: response) } != nil)
        if response != nil { self.model.answer(id) }
        switch disposition {
        case .succeeded where response == nil: self.model.remove(id)
        case .succeeded: self.model.bury(id, .succeeded)
        case .waitForPath: self.model.set(id, .ready)
        case .retry: self.model.set(id, .backoff, due: self.time + 7)
        case .hold: self.model.set(id, .held)
        case .dead where response != nil: self.model.bury(id, .dead)
        case .dead: self.model.giveUp(id)
        }
        return "finish \(disposition) \(String(describing: response))"
    }

    func check(_ step: String) throws {
        let records = try self.store.all()
        #expect(records.map(\.id) == self.model.order, "\(step)")
        #expect(Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.state) }) == self.model.states, "\(step)")
        #expect(try self.store.readyIDs() == self.model.ready, "\(step)")
        var counts = QueueCounts()
        for record in records { counts[record.state] += 1 }
        counts.bytes = try self.store.counts.bytes
        #expect(try self.store.counts == counts, "\(step)")
        // Every index has what it must have, and all is counted, bytes too.
        try self.store.verify()
    }
}
