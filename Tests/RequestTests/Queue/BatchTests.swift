// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Many requests in a row, which share few places.
@Suite(.timeLimit(.minutes(5)))
struct QueueBatchTests {
    /// A queue with so many requests that nobody sends yet, and a server that answers when it is told to.
    private static func filled(
        _ count: Int,
        _ change: (Int, inout RetryableRequest) -> Void = { _, _ in }
    ) async throws -> (lab: QueueLab, queue: OfflineRequestQueue, ids: [UUID]) {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.open()
        var ids: [UUID] = []
        for number in 0..<count {
            var request = lab.request("\(number)")
            change(number, &request)
            ids.append(try await queue.enqueue(request))
        }
        return (lab, queue, ids)
    }

    @Test func eachGoesOnceInOrderAndNoMoreAtATimeThanMay() async throws {
        let (lab, queue, _) = try await Self.filled(400)
        queue.start()
        var releases: [ContinuousClock.Instant] = [.now]
        for ended in 0..<400 {
            try await lab.transport.waitForRequests(min(400, ended + 4))
            // What is held for longer than that takes a quarter of a place.
            let isWhole = .now - releases[max(0, ended - 4)] < .seconds(1)
            #expect(lab.transport.held.count <= 4 || !isWhole)
            lab.transport.release()
            releases.append(.now)
        }
        try await queue.waitUntilEmpty()
        #expect(lab.sent == (0..<400).map { "\($0)" })
        #expect(try queue.counts.total == 0)
    }

    @Test func whatIsCancelledDoesNotGo() async throws {
        let (lab, queue, ids) = try await Self.filled(60)
        queue.start()
        try await lab.transport.waitForHeld(4)
        #expect(try await queue.cancelRequest(id: ids[10]) == .ready)
        try await Self.releaseAll(of: lab, until: queue)
        #expect(lab.sent == (0..<60).filter { $0 != 10 }.map { "\($0)" })
    }

    @Test func pausedNothingTakesAFreePlace() async throws {
        let (lab, queue, _) = try await Self.filled(60)
        queue.start()
        try await lab.transport.waitForHeld(4)
        try await queue.pause()
        // What is held for a second takes less than a place, on a busy machine.
        let sent = lab.sent.count
        while lab.transport.release() {}
        try await QueueDeliveryTests.eventually { try queue.counts.pending == 60 - sent }
        #expect(lab.sent.count == sent)
        try await queue.resume()
        try await Self.releaseAll(of: lab, until: queue)
        #expect(lab.sent == (0..<60).map { "\($0)" })
    }

    @Test func whatIsMoreUrgentGoesFirst() async throws {
        let (lab, queue, _) = try await Self.filled(60)
        queue.start()
        try await lab.transport.waitForHeld(4)
        var urgent = lab.request("urgent")
        urgent.priority = .high
        try await queue.enqueue(urgent)
        lab.transport.release()
        try await Self.releaseAll(of: lab, until: queue)
        // The fifth, but where what is held for a second takes less than a place.
        #expect(try #require(lab.sent.firstIndex(of: "urgent")) < 20)
        #expect(lab.sent.count == 61)
    }

    @Test func withoutAPathNothingTakesAFreePlace() async throws {
        let (lab, queue, ids) = try await Self.filled(60)
        let events = Events(queue)
        queue.start()
        try await lab.transport.waitForHeld(4)
        for ended in 1...8 {
            lab.transport.release()
            try await lab.transport.waitForRequests(4 + ended)
        }
        lab.network.report(.noLink)
        try await QueueDeliveryTests.eventually {
            if case .noPath = try queue.record(id: ids[59])?.waiting { true } else { false }
        }
        while lab.transport.release() {}
        try await QueueDeliveryTests.eventually { try queue.counts.pending == 48 }
        #expect(lab.sent == (0..<12).map { "\($0)" })
        lab.transport.answerUsually(.status(200))
        lab.network.report(.wifi)
        try await events.wait(for: .drained)
        #expect(lab.sent == (0..<60).map { "\($0)" })
    }

    @Test func whatFailsIsTriedAgainAmongTheOthers() async throws {
        let (lab, queue, ids) = try await Self.filled(100)
        let events = Events(queue)
        lab.transport.answerUsually(.status(200))
        lab.transport.answer(.status(503), .status(500), to: "http://192.0.2.80/50")
        lab.transport.answer(.status(404), to: "http://192.0.2.80/70")
        queue.start()
        try await events.wait(for: .drained)
        #expect(lab.sent.count == 102)
        #expect(try await queue.deadRequests.map(\.id) == [ids[70]])
        #expect(events.all.count { if case .succeeded = $0 { true } else { false } } == 99)
    }

    @Test func severalHostsShareThePlaces() async throws {
        let (lab, queue, _) = try await Self.filled(90) { number, request in
            request.endpoint = "http://192.0.2.8\(number % 3)/\(number)"
            if number >= 60 { request.priority = .high }
        }
        queue.start()
        try await lab.transport.waitForHeld(12)
        #expect(Set(lab.sent.prefix(12)) == Set((60..<72).map { "\($0)" }))
        try await Self.releaseAll(of: lab, until: queue)
        #expect(Set(lab.sent.prefix(30)) == Set((60..<90).map { "\($0)" }))
        #expect(Set(lab.sent).count == 90)
        #expect(lab.sent.count == 90)
    }

    @Test func manyHostsShareThePlaces() async throws {
        let (lab, queue, _) = try await Self.filled(300) { number, request in
            request.endpoint = "http://h\(number).example/\(number)"
            request.orderingKey = "\(number)"
        }
        queue.start()
        try await Self.releaseAll(of: lab, until: queue)
        #expect(lab.sent.count == 300)
        #expect(Set(lab.sent).count == 300)
    }

    @Test func aHandlerKeepsThePlaceOfItsRequest() async throws {
        let (lab, queue, _) = try await Self.filled(30)
        let handled = AwaitableState(0)
        queue.onResponse(for: "") { _, _ in handled.update { $0 += 1 } }
        queue.start()
        try await Self.releaseAll(of: lab, until: queue)
        #expect(handled.value == 30)
    }

    /// Answers everything, one after the other, until nothing is left.
    private static func releaseAll(of lab: QueueLab, until queue: OfflineRequestQueue) async throws {
        while try queue.counts.pending > 0 {
            if !lab.transport.release() { try await Task.sleep(for: .milliseconds(1)) }
        }
        try await queue.waitUntilEmpty()
    }
}
