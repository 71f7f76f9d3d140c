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
        let lab = try QueueLab(.response(TransportResponse(status: 201, body: Array("answer".utf8))))
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

    @Test func whatWasDeliveredIsNotSentAgainWhenItsHandlerThrows() async throws {
        struct Failure: Error {}
        let lab = try QueueLab(.response(TransportResponse(status: 201, body: Array("answer".utf8))))
        let queue = try lab.open()
        let calls = AwaitableState(0)
        queue.onResponse(for: "order") { _, response in
            let number = calls.update { count in
                count += 1
                return count
            }
            #expect(response.body == Array("answer".utf8))
            if number < 3 { throw Failure() }
        }
        queue.start()
        var request = lab.request()
        request.requestType = "order"
        let id = try await queue.enqueue(request)
        let record = try await queue.wait(for: id)
        #expect(record.state == .dead)
        #expect(record.lastStatus == 201)
        #expect(record.lastError?.contains("Failure") == true, "\(record.lastError ?? "")")
        #expect(record.response?.body == Array("answer".utf8))
        #expect(try queue.counts.dead == 1)
        // Whoever wants it offered again gets that, in whatever way.
        let events = Events(queue)
        try await queue.requeueDead(id: id)
        try await events.wait { $0.isDead }
        try await queue.forceTriggerRetry(id: id)
        try await events.wait(for: .succeeded(id, status: 201))
        #expect(calls.value == 3)
        #expect(lab.sent.count == 1)
        #expect(try queue.counts == QueueCounts())
    }

    @Test func whatIsDeliveredIsASuccessWithoutAHandler() async throws {
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array("answer".utf8))))
        let queue = try lab.started()
        var request = lab.request()
        request.requestType = "order"
        #expect(try await queue.wait(for: queue.enqueue(request)).state == .succeeded)
        #expect(try queue.counts == QueueCounts())
    }

    @Test func whatAHandlerCouldNotTakeIsKeptForTheNextRun() async throws {
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array("answer".utf8))))
        let queue = try lab.open()
        queue.onResponse(for: "order") { _, _ in throw CancellationError() }
        var request = lab.request()
        request.requestType = "order"
        let id = try await queue.enqueue(request)
        let size = try queue.counts.bytes
        queue.start()
        #expect(try await queue.wait(for: id).state == .dead)
        #expect(try queue.counts.bytes >= size + 6)
        queue.close()

        // It is there after a restart, and asks for no network, nor is it lost where there is no handler.
        let again = try lab.open()
        let events = Events(again)
        again.start()
        #expect(try await again.requeueDead() == 1)
        let record = try await again.wait(for: id)
        #expect(record.lastError?.contains("no handler") == true, "\(record.lastError ?? "")")
        let bodies = AwaitableState<[[UInt8]]>([])
        again.onResponse(for: "order") { _, response in bodies.update { $0.append(response.body) } }
        #expect(try await again.requeueDead() == 1)
        try await events.wait(for: .succeeded(id, status: 200))
        #expect(bodies.value == [Array("answer".utf8)])
        #expect(lab.sent.count == 1)
        #expect(try again.counts == QueueCounts())
        try again.core.store.verify()
    }

    @Test func aHandlerThatDoesNotReturnHoldsUpNothing() async throws {
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array("answer".utf8))))
        var settings = QueueLab.quick
        settings.handlerTimeLimit = .milliseconds(200)
        let queue = try lab.open(settings)
        let stuck = AwaitableState<[CheckedContinuation<Void, Never>]>([])
        defer { for handler in stuck.value { handler.resume() } }
        queue.onResponse(for: "order") { _, _ in
            await withCheckedContinuation { handler in stuck.update { $0.append(handler) } }
        }
        queue.start()
        var request = lab.request()
        request.requestType = "order"
        request.orderingKey = "lane"
        let id = try await queue.enqueue(request)
        var next = lab.request("next")
        next.orderingKey = "lane"
        let after = try await queue.enqueue(next)
        let record = try await queue.wait(for: id)
        #expect(record.state == .dead)
        #expect(record.lastError?.contains("did not return") == true, "\(record.lastError ?? "")")
        // It was delivered, so that what is behind it may go.
        #expect(try await queue.wait(for: after).state == .succeeded)
        #expect(lab.sent == ["a", "next"])
    }

    @Test func aResponseWhoseHandlerIsCutOffIsHandledAfterARestart() async throws {
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array("answer".utf8))))
        let queue = try lab.open()
        let begun = AwaitableState(false)
        queue.onResponse(for: "order") { _, _ in
            begun.update { $0 = true }
            try await Task.sleep(for: .seconds(3600))
        }
        queue.start()
        var request = lab.request()
        request.requestType = "order"
        let id = try await queue.enqueue(request)
        try await begun.wait { $0 }
        #expect(await !queue.shutdown(within: .milliseconds(100)))
        let again = try lab.open()
        let handled = AwaitableState(0)
        again.onResponse(for: "order") { _, response in
            #expect(response.body == Array("answer".utf8))
            handled.update { $0 += 1 }
        }
        again.start()
        #expect(try await again.wait(for: id).state == .succeeded)
        #expect(handled.value == 1)
        #expect(lab.sent.count == 1)
    }

    @Test func aShutdownWaitsForWhatIsUnderWayAndBeginsNothing() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.open()
        let handled = AwaitableState(0)
        queue.onResponse(for: "order") { _, _ in
            try await Task.sleep(for: .milliseconds(50))
            handled.update { $0 += 1 }
        }
        queue.start()
        var first = lab.request("first")
        (first.requestType, first.orderingKey) = ("order", "lane")
        try await queue.enqueue(first)
        var second = lab.request("second")
        second.orderingKey = "lane"
        let left = try await queue.enqueue(second)
        try await lab.transport.waitForHeld()
        let ending = Task { await queue.shutdown(within: .seconds(900)) }
        let another = Task { await queue.shutdown(within: .seconds(1_000)) }
        func begun() async -> Int {
            await withCheckedContinuation { continuation in
                queue.core.post { worker, _ in continuation.resume(returning: worker.shutdowns.count) }
            }
        }
        while await begun() < 2 {}
        lab.transport.release(.status(200))
        #expect(await ending.value)
        #expect(await another.value)
        #expect(await queue.shutdown(within: .seconds(1)))
        #expect(handled.value == 1)
        #expect(lab.sent == ["first"])
        await #expect(throws: QueueError.closed) { try await queue.enqueue(lab.request()) }
        #expect(try await lab.open().pendingRequests.map(\.id) == [left])
    }

    @Test func aShutdownDoesNotWaitForEver() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        #expect(await !queue.shutdown(within: .milliseconds(100)))
        #expect(try lab.open().record(id: id)?.isRepeat == true)
    }

    @Test func everyAttemptIsPrepared() async throws {
        struct NoToken: Error {}
        let lab = try QueueLab()
        lab.transport.answer(.status(503))
        let calls = AwaitableState(0)
        var settings = QueueLab.quick
        settings.prepare = { http, _ in
            let number = calls.update { count in
                count += 1
                return count
            }
            if number == 1 { throw NoToken() }
            http.headers["Authorization"] = "Bearer \(number)"
        }
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
        #expect(try await queue.cancelRequest(id: id) == .running)
        try await events.wait(for: .cancelled(id))
        #expect(lab.transport.cancelled == 1)
        #expect(try queue.counts.total == 0)
        await #expect(throws: QueueError.unknownID(id)) { try await queue.cancelRequest(id: id) }
        // Its place is free again.
        lab.transport.answerUsually(.status(200))
        #expect(try await queue.wait(for: queue.enqueue(lab.request("b"))).state == .succeeded)
    }

    @Test func kindsLanesAndEverythingCanBeCancelled() async throws {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.started(.with { $0.concurrency = 1 })
        for number in 0..<6 {
            var request = lab.request("\(number)")
            request.requestType = number < 2 ? "photo" : ""
            request.orderingKey = number > 3 ? "lane" : nil
            try await queue.enqueue(request)
        }
        try await lab.transport.waitForHeld()
        #expect(try await queue.cancelRequests(requestType: "photo") == 2)
        #expect(try await queue.cancelRequests(orderingKey: "lane") == 2)
        #expect(try queue.counts.pending == 2)
        try await queue.reset()
        #expect(try queue.counts == QueueCounts())
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

    /// Whoever is cancelled has its stream ended, which must not wait for the queue that tells it something else.
    @Test func whoListensMayGoAway() async throws {
        let observers = QueueObservers()
        for _ in 0..<500 {
            let isHeard = AwaitableState(false)
            let stream = observers.stream()
            let listener = Task { for await _ in stream { isHeard.update { $0 = true } } }
            let sender = Task.detached { for _ in 0..<50 { observers.send([.drained, .drained]) } }
            try await isHeard.wait { $0 }
            listener.cancel()
            await sender.value
            await listener.value
        }
    }

    @Test func aStartedQueueIsTheOneOfItsMonitor() async throws {
        let lab = try QueueLab(network: .noLink)
        var queue: OfflineRequestQueue? = try lab.started()
        #expect(lab.monitor.queue === queue)
        _ = try await queue?.enqueue(lab.request())
        #expect(lab.monitor.pendingRequests.count == 1)
        let other = try OfflineRequestQueue(
            file: lab.folder["other.sqlite"],
            transport: lab.transport,
            monitor: lab.monitor
        )
        other.start()
        #expect(lab.monitor.queue === queue)
        // It is not kept alive by that, and leaves its place to the next.
        weak let first = queue
        queue = nil
        while first != nil { await Task.yield() }
        other.start()
        #expect(lab.monitor.queue === other)
    }

    @Test func aMonitorSpeaksOfItsQueue() async throws {
        let lab = try QueueLab(network: .noLink)
        #expect(lab.monitor.pendingRequests.isEmpty)
        await #expect(throws: QueueError.self) { try await lab.monitor.cancelRequest(id: UUID()) }
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        try await queue.enqueue(lab.request())
        #expect(lab.monitor.pendingRequests.count == 2)
        #expect(try await lab.monitor.cancelRequest(id: id) == .ready)
        try await lab.monitor.reset()
        #expect(lab.monitor.pendingRequests.isEmpty)
    }
}
