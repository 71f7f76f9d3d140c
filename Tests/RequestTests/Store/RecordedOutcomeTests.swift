// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Testing

@testable import OfflineRequests

@Suite struct RecordedOutcomeTests {
    private let bench: StoreBench
    private let store: RequestStore

    init() throws {
        self.bench = try StoreBench()
        self.store = try self.bench.open()
    }

    private func change<Value: Sendable>(_ body: (StoreTransaction) throws -> Value) throws -> Value {
        try self.store.transaction(durable: true, body)
    }

    @Test func highPrioritiesFirstThenInOrder() throws {
        let priorities: [RequestPriority] = [.low, .normal, .high, .normal, .high, .low]
        let ids = try priorities.enumerated().map { number, priority in
            try self.store.insert(sample(number) { $0.priority = priority }).id
        }
        #expect(try self.store.readyIDs() == [2, 4, 1, 3, 0, 5].map { ids[$0] })
        let gate = try #require(try self.change { try $0.gates() }.first)
        #expect(gate.priority == .high)
        #expect(gate.gate == Gate(host: "example.net"))
        #expect(try self.change { try $0.ready(gate: gate.id, limit: 2).map(\.id) } == [ids[2], ids[4]])
    }

    @Test func whatFailedGoesBehindWhatWasNotTried() throws {
        let ids = try (0..<5).map { number in
            try self.store.insert(sample(number) { $0.priority = number == 1 ? .high : .normal }).id
        }
        for (id, count) in [(ids[0], 1), (ids[1], 2)] {
            for _ in 0..<count {
                try self.store.run(id, .retry(after: .zero, countsAttempt: true))
                _ = try self.change { try $0.promoteDue() }
            }
        }
        let gate = try #require(try self.change { try $0.gates() }.first).id
        func order(_ order: DeliveryMachine.Order, limit: Int = 9, except known: Set<UUID> = []) throws -> [Int?] {
            let found = try self.change { try $0.ready(gate: gate, limit: limit, order: order) { known.contains($0) } }
            return found.map { ids.firstIndex(of: $0.id) }
        }
        #expect(try order(.oldest) == [2, 3, 4, 0, 1])
        #expect(try order(.newest) == [4, 2, 3, 0, 1])
        #expect(try order(.newest, limit: 1) == [4])
        #expect(try order(.newest, limit: 1, except: [ids[2], ids[3], ids[4]]) == [0])
        #expect(try order(.mostTried) == [1, 2, 3, 4, 0])
        #expect(try order(.mostTried, limit: 0) == [])
        // An attempt that the end of a process cut short was one.
        try self.change { _ = try $0.markRunning(ids[2]) }
        try self.change { _ = try $0.releaseRunning() }
        #expect(try order(.oldest) == [3, 4, 0, 2, 1])
    }

    @Test func gatesAreHostsAndRequirements() throws {
        for number in 0..<6 {
            let endpoint = number % 2 == 0 ? "https://a.example" : "https://b.example:8443/x"
            var request = RetryableRequest(endpoint: endpoint)
            request.requires.unmeteredOnly = number % 3 == 0
            try self.store.insert(request)
        }
        let gates = try self.change { try $0.gates() }
        #expect(gates.count == 4)
        #expect(Set(gates.map(\.gate.host)) == ["a.example", "b.example:8443"])
        // The numbers stay when the file is opened again.
        self.store.close()
        let again = try self.bench.open()
        try again.insert(RetryableRequest(endpoint: "https://a.example/other"))
        #expect(try again.transaction(durable: false) { try $0.gates().map(\.id) } == gates.map(\.id))
    }

    @Test func attemptsAreCountedWhereTheyCount() throws {
        let id = try self.store.insert(sample()).id
        try self.store.run(id, .waitForPath, error: "no path")
        var record = try #require(try self.store.record(id))
        #expect(record.state == .ready)
        #expect(record.attempts == 1)
        #expect(record.request.retryCount == 0)
        #expect(!record.isRepeat)
        #expect(record.lastError == "no path")

        try self.store.run(id, .retry(after: .seconds(60), countsAttempt: true), status: 503, error: "busy")
        record = try #require(try self.store.record(id))
        #expect(record.state == .backoff)
        #expect(record.request.retryCount == 1)
        #expect(record.isRepeat)
        #expect(record.lastStatus == 503)
        let due = self.bench.stamp.wall.addingTimeInterval(60)
        #expect(record.notBefore == due)
        #expect(record.waiting == .backoff(until: due))
        #expect(try self.change { try $0.nextDue() } == .seconds(60))
        self.bench.pass(.milliseconds(59_999))
        #expect(try self.change { try $0.promoteDue() } == 0)
        self.bench.pass(.milliseconds(1))
        #expect(try self.change { try $0.promoteDue() } == 1)
        #expect(try self.change { try $0.nextDue() } == nil)
    }

    @Test func backoffIsForgottenOnDemand() throws {
        let id = try self.store.insert(sample()).id
        try self.store.run(id, .retry(after: .seconds(3600), countsAttempt: true))
        #expect(try self.change { try $0.promoteDue(.all) } == 1)
        #expect(try self.store.readyIDs() == [id])
    }

    @Test func whatADeadSenderLeftIsARepeat() throws {
        let id = try self.store.insert(sample()).id
        #expect(try self.change { try $0.markRunning(id) })
        #expect(try !self.change { try $0.markRunning(id) })
        #expect(try self.store.readyIDs().isEmpty)
        self.store.close()
        let next = try self.bench.open()
        #expect(try next.counts.running == 1)
        #expect(try next.transaction(durable: false) { try $0.releaseRunning() } == 1)
        let record = try #require(try next.record(id))
        #expect(record.state == .ready)
        #expect(record.isRepeat)
        #expect(record.request.retryCount == 0)
    }

    @Test func responsesAreKeptUntilTheyAreTaken() throws {
        let response = TransportResponse(status: 201, headers: ["Location": "/1"], body: [0, 255, 1], isCut: true)
        let id = try self.store.insert(sample { $0.keepsResponse = true }).id
        try self.store.run(id, .succeeded, response: response)
        let record = try #require(try self.store.record(id))
        #expect(record.state == .succeeded)
        #expect(record.response == response)
        #expect(record.lastStatus == 201)
        #expect(try self.store.all([.ready, .dead]).isEmpty)
        #expect(try self.change { try $0.purge(.dead) } == 0)
        #expect(try self.change { try $0.purge(id) })
        #expect(try self.store.counts == QueueCounts())
    }

    @Test func responsesThatNobodyTakesGoByTheirAge() throws {
        func keep(_ number: Int) throws -> UUID {
            let id = try self.store.insert(sample(number) { $0.keepsResponse = true }).id
            // Offline for longer than responses are kept.
            self.bench.pass(.seconds(100_000))
            try self.store.run(id, .succeeded, response: TransportResponse(status: 200))
            return id
        }
        let dead = try self.store.insert(sample(0)).id
        try self.store.run(dead, .dead(reason: "refused"))
        let first = try keep(1)
        let second = try keep(2)
        try self.change { try $0.removeOldResponses() }
        #expect(try self.store.all([.succeeded]).map(\.id) == [second])
        self.bench.setWall(1_000_000)
        self.bench.pass(.seconds(86_399))
        try self.change { try $0.removeOldResponses() }
        #expect(try self.store.all([.succeeded]).map(\.id) == [second])
        self.bench.pass(.seconds(1))
        try self.change { try $0.removeOldResponses() }
        #expect(try self.store.all().map(\.id) == [dead])
        #expect(try self.store.record(first) == nil)
        try self.store.verify()
    }

    @Test func theDeadAreListedRevivedAndPurged() throws {
        let ids = try (0..<4).map { try self.store.insert(sample($0)).id }
        for id in ids[..<3] { try self.store.run(id, .dead(reason: "not found"), status: 404) }
        #expect(try self.store.all([.dead]).map(\.id) == Array(ids[..<3]))
        #expect(try self.store.readyIDs() == [ids[3]])
        #expect(try self.store.all([.dead]).allSatisfy { $0.lastStatus == 404 && $0.lastError == "not found" })

        #expect(try self.change { try $0.requeue(ids[1]) } == .ready)
        #expect(try self.change { try $0.requeue(ids[3]) } == nil)
        #expect(try self.store.readyIDs() == [ids[3], ids[1]])
        #expect(try self.change { try $0.purge(ids[2]) })
        #expect(try self.change { try $0.requeueDead() } == [ids[0]])
        #expect(try self.change { try $0.purge(.dead) } == 0)
        #expect(try self.store.all().map(\.id) == [ids[3], ids[1], ids[0]])
        // An id is free again only once nothing has it.
        #expect(try self.store.insert(RetryableRequest(id: ids[2], endpoint: "https://example.net")).state == .ready)
    }

    @Test func heldRequestsGoOnByReason() throws {
        let ids = try (0..<2).map { number in
            try self.store.insert(sample(number) { $0.orderingKey = "\(number)" }).id
        }
        try self.store.run(ids[0], .hold(.unauthorized), status: 401)
        try self.store.run(ids[1], .dead(reason: "refused"))
        #expect(try self.store.all([.held]).map(\.waiting) == [.unauthorized, .laneHeld])
        #expect(try self.change { try $0.requeueDead() } == [ids[1]])
        #expect(try self.store.all().map(\.state) == [.held, .ready])
        #expect(try self.change { try $0.resumeHeld() } == 1)
    }

    @Test func selectionsAreCancelled() throws {
        let ids = try (0..<6).map { number in
            try self.store.insert(sample(number) { $0.requestType = number % 2 == 0 ? "even" : "odd" }).id
        }
        _ = try self.change { try $0.markRunning(ids[0]) }
        #expect(try self.change { try $0.cancel(type: "even") } == [ids[0], ids[2], ids[4]])
        #expect(try self.change { try $0.cancel() } == [ids[1], ids[3], ids[5]])
        #expect(try self.change { try $0.cancel(ids[1]) } == nil)
    }

    @Test func resetRemovesEverything() throws {
        let ids = try (0..<5).map { try self.store.insert(sample($0)).id }
        try self.store.run(ids[0], .dead(reason: "refused"))
        _ = try self.change { try $0.markRunning(ids[1]) }
        #expect(try self.change { try $0.reset() }.filter { !$0.state.isFinal }.map(\.id) == Array(ids[1...]))
        #expect(try self.store.all().isEmpty)
        #expect(try self.store.counts == QueueCounts())
        try self.store.insert(sample())
        #expect(try self.store.readyIDs().count == 1)
    }

    @Test func aPauseOutlivesTheProcess() throws {
        try self.change { $0.status.isPaused = true }
        self.store.close()
        let again = try self.bench.open()
        #expect(try again.read { $0.status.isPaused })
    }

    @Test func pagesAreInOrderAndWithoutGaps() throws {
        let ids = try (0..<25).map { try self.store.insert(sample($0)).id }
        for index in [3, 9, 20] { try self.store.run(ids[index], .dead(reason: "refused")) }
        var found: [UUID] = []
        var last: Int64 = 0
        while true {
            let page = try self.store.read { [last] records in
                try records.page(states: [.ready, .dead], after: last, limit: 10)
            }
            guard let end = page.last else { break }
            found += page.map(\.id)
            last = end.sequence
        }
        #expect(found == ids)
    }
}
