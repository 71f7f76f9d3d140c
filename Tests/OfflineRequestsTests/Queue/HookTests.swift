// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Functions of the application in the way of a request, and requests that are taken out of it.
@Suite(.timeLimit(.minutes(5)))
struct HookTests {
    @Test func theHandlerIsCalledBeforeSuccessIsRecorded() async throws {
        let lab = try QueueLab(.response(HTTPResponse(status: 201, body: Array("answer".utf8))))
        let queue = try lab.open()
        let seen = AwaitableState<[(request: RetryableRequest, body: [UInt8], state: RequestState?)]>([])
        queue.onResponse(for: "order") { [weak queue] request, response in
            let state = try queue?.record(id: request.id)?.state
            seen.update { $0.append((request, response.body, state)) }
        }
        queue.start()
        var request = lab.request()
        request.requestType = "order"
        let id = try await queue.enqueue(request)
        #expect(try await queue.wait(for: id).state == .succeeded)
        let calls = seen.value
        #expect(calls.map(\.request.id) == [id])
        #expect(calls.map { $0.state?.isFinal } == [false])
        #expect(calls.map(\.body) == [Array("answer".utf8)])
    }

    @Test func aHandlerThatThrowsIsCalledAgain() async throws {
        struct Failure: Error {}
        let lab = try QueueLab()
        let queue = try lab.open()
        let calls = AwaitableState(0)
        queue.onResponse(for: "") { _, _ in
            if calls.update({ count in
                count += 1
                return count
            }) < 3 {
                throw Failure()
            }
        }
        queue.start()
        let id = try await queue.enqueue(lab.request())
        let record = try await queue.wait(for: id)
        #expect(record.state == .succeeded)
        #expect(calls.value == 3)
        #expect(lab.sent.count == 3)
    }

    @Test func everyAttemptIsPrepared() async throws {
        struct NoToken: Error {}
        let lab = try QueueLab()
        lab.transport.answer(.status(503))
        let calls = AwaitableState(0)
        let settings = QueueSettings(
            delivery: QueueLab.quick,
            prepare: { http, _ in
                let number = calls.update { count in
                    count += 1
                    return count
                }
                if number == 1 { throw NoToken() }
                http.headers["Authorization"] = "Bearer \(number)"
            }
        )
        let queue = try lab.started(settings)
        var request = lab.request()
        // The one that could not be prepared does not count.
        request.maxRetries = 1
        let id = try await queue.enqueue(request)
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.transport.requests.map { $0.headers["Authorization"] } == ["Bearer 2", "Bearer 3"])
    }

    @Test func whatIsBeingSentCanBeCancelled() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.started()
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        #expect(try await queue.cancelRequest(id: id))
        try await events.wait(for: .cancelled(id))
        #expect(lab.transport.cancelled == 1)
        #expect(queue.counts.total == 0)
        await #expect(throws: QueueError.unknownID(id)) { try await queue.cancelRequest(id: id) }
        // Its place is free again.
        lab.transport.answerUsually(.status(200))
        #expect(try await queue.wait(for: queue.enqueue(lab.request("b"))).state == .succeeded)
    }

    @Test func kindsLanesAndEverythingCanBeCancelled() async throws {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.started(QueueSettings(delivery: DeliverySettings(concurrency: 1)))
        for number in 0..<6 {
            var request = lab.request("\(number)")
            request.requestType = number < 2 ? "photo" : ""
            request.orderingKey = number > 3 ? "lane" : nil
            try await queue.enqueue(request)
        }
        try await lab.transport.waitForHeld()
        #expect(try await queue.cancelRequests(requestType: "photo") == 2)
        #expect(try await queue.cancelRequests(orderingKey: "lane") == 2)
        #expect(queue.counts.pending == 2)
        try await queue.reset()
        #expect(queue.counts == QueueCounts())
        #expect(lab.transport.held.isEmpty)
    }

    @Test func whoWaitsMayGoAway() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        let waiting = Task { try await queue.wait(for: id) }
        let empty = Task { try await queue.waitUntilEmpty() }
        waiting.cancel()
        empty.cancel()
        await #expect(throws: QueueError.closed) { try await waiting.value }
        await #expect(throws: QueueError.closed) { try await empty.value }
        let unknown = UUID()
        await #expect(throws: QueueError.unknownID(unknown)) { _ = try await queue.wait(for: unknown) }
    }

    @Test func attachedToAMonitor() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.open()
        #expect(lab.monitor.pendingRequests.isEmpty)
        lab.monitor.attach(queue)
        defer { lab.monitor.detachQueue() }
        let id = try await queue.enqueue(lab.request())
        try await queue.enqueue(lab.request())
        #expect(lab.monitor.pendingRequests.count == 2)
        #expect(try await !lab.monitor.cancelRequest(id: id))
        try await lab.monitor.reset()
        #expect(lab.monitor.pendingRequests.isEmpty)
    }
}
