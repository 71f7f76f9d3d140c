// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

@testable import OfflineRequests

@Suite struct LaneTests {
    private let bench: StoreBench
    private let store: RequestStore

    init() throws {
        self.bench = try StoreBench()
        self.store = try self.bench.open()
    }

    private func lane(_ count: Int, _ policy: LanePolicy = .hold) throws -> [UUID] {
        try (0..<count).map { number in
            try self.store.insert(
                sample(number) {
                    $0.orderingKey = "lane"
                    $0.onFailure = policy
                    // Precedence does not change the order of a lane.
                    $0.priority = number % 2 == 0 ? .low : .high
                }
            ).id
        }
    }

    private func states() throws -> [RequestState] { try self.store.all().map(\.state) }

    @Test func oneAtATimeAndInOrder() throws {
        let ids = try self.lane(4)
        #expect(try self.states() == [.ready, .blocked, .blocked, .blocked])
        #expect(try self.store.record(ids[2])?.waiting == .behind(ids[0]))
        for index in ids.indices {
            #expect(try self.store.readyIDs() == [ids[index]])
            // A repeat stays in front.
            try self.store.run(ids[index], .retry(after: .seconds(3), countsAttempt: true))
            #expect(try self.store.readyIDs() == [])
            self.bench.pass(.seconds(3))
            #expect(try self.store.transaction(durable: false) { try $0.promoteDue() } == 1)
            #expect(try self.store.run(ids[index], .succeeded) == Finish(state: .succeeded))
        }
        #expect(try self.store.counts == QueueCounts())
    }

    @Test func otherLanesGoOn() throws {
        let first = try self.lane(2)
        let other = try self.store.insert(sample { $0.orderingKey = "other" }).id
        let free = try self.store.insert(sample()).id
        #expect(try Set(self.store.readyIDs()) == [first[0], other, free])
    }

    @Test func holdKeepsTheLaneUntilSomebodyActs() throws {
        let ids = try self.lane(2, .hold)
        #expect(try self.store.run(ids[0], .dead(reason: "refused"), status: 400) == Finish(state: .held))
        #expect(try self.states() == [.held, .blocked])
        let record = try #require(try self.store.record(ids[0]))
        #expect(record.waiting == .laneHeld)
        #expect(record.lastStatus == 400)
        #expect(record.lastError == "refused")
        #expect(try self.store.transaction(durable: true) { try $0.requeue(ids[0]) } == .ready)
        #expect(try self.states() == [.ready, .blocked])
        try self.store.run(ids[0], .dead(reason: "refused"))
        #expect(try self.store.transaction(durable: true) { try $0.cancel(ids[0]) } == .held)
        #expect(try self.states() == [.ready])
    }

    @Test func skipGoesOnWithTheNext() throws {
        let ids = try self.lane(3, .skip)
        #expect(try self.store.run(ids[0], .dead(reason: "refused")) == Finish(state: .dead))
        #expect(try self.states() == [.dead, .ready, .blocked])
        // Revived it goes to the end.
        #expect(try self.store.transaction(durable: true) { try $0.requeue(ids[0]) } == .blocked)
        #expect(try self.store.all().map(\.id) == [ids[1], ids[2], ids[0]])
    }

    @Test func dropLaneGivesAllUp() throws {
        let ids = try self.lane(3, .dropLane)
        #expect(
            try self.store.run(ids[0], .dead(reason: "refused")) == Finish(state: .dead, dropped: [ids[1], ids[2]])
        )
        #expect(try self.states() == [.dead, .dead, .dead])
        #expect(try self.store.insert(sample { $0.orderingKey = "lane" }).state == .ready)
    }

    @Test func withoutAKeyForOrderNothingIsHeld() throws {
        let id = try self.store.insert(sample { $0.uniqueKey = "key" }).id
        #expect(try self.store.run(id, .dead(reason: "refused"))?.state == .dead)
    }

    @Test func cancellingTheHeadLetsTheNextGo() throws {
        let ids = try self.lane(3)
        _ = try self.store.transaction(durable: true) { try $0.markRunning(ids[0]) }
        #expect(try self.store.transaction(durable: true) { try $0.cancel(ids[0]) } == .running)
        #expect(try self.store.readyIDs() == [ids[1]])
        // What the transport says afterwards is about nothing.
        #expect(try self.store.transaction(durable: false) { try $0.finish(ids[0], .succeeded) } == nil)
        #expect(try self.store.transaction(durable: true) { try $0.cancel(lane: "lane") } == [ids[1], ids[2]])
        #expect(try self.store.counts == QueueCounts())
    }
}
