// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// What a caller of the client gets, now or later.
@Suite(.timeLimit(.minutes(5)))
struct OfflineClientTests {
    private struct Order: Codable, Hashable {
        var number: Int
    }

    private static let answer = ScriptedTransport.Answer.response(
        TransportResponse(status: 200, body: Array(#"{"number":7}"#.utf8))
    )

    private static func client(of queue: OfflineRequestQueue) -> OfflineClient {
        OfflineClient(baseURL: "http://192.0.2.80/v1/", queue: queue, headers: ["Accept": "application/json"])
    }

    @Test func onlineItAnswers() async throws {
        let lab = try QueueLab(Self.answer)
        let queue = try lab.started()
        let client = Self.client(of: queue)
        #expect(try await client.fetchWithOfflineSupport(endpoint: "/orders/7", as: Order.self) == Order(number: 7))
        let posted: Order = try await client.fetchWithOfflineSupport(endpoint: "orders", json: Order(number: 8))
        #expect(posted.number == 7)
        let raw: TransportResponse = try await client.fetchWithOfflineSupport(endpoint: "http://192.0.2.81/whole")
        #expect(raw.status == 200)
        let data: Data = try await client.fetchWithOfflineSupport(endpoint: "?q=1")
        #expect(data.count == 12)
        #expect(try queue.counts.total == 0)
        let requests = lab.transport.requests
        #expect(
            requests.map(\.url) == [
                "http://192.0.2.80/v1/orders/7", "http://192.0.2.80/v1/orders", "http://192.0.2.81/whole",
                "http://192.0.2.80/v1?q=1",
            ]
        )
        #expect(requests[1].body == .bytes(Array(#"{"number":8}"#.utf8)))
        #expect(requests[1].headers["Content-Type"] == "application/json")
        #expect(requests.allSatisfy { $0.headers["Accept"] == "application/json" })
    }

    @Test func offlineItKeepsTheRequestForTheHandler() async throws {
        let lab = try QueueLab(Self.answer, network: .noLink)
        let queue = try lab.open()
        let answers = AwaitableState<[Order]>([])
        queue.onResponse(for: "order") { _, response in
            let order = try JSONDecoder().decode(Order.self, from: Data(response.body))
            answers.update { $0.append(order) }
        }
        queue.start()
        let error = await #expect(throws: OfflineClientError.self) {
            let _: Order = try await Self.client(of: queue)
                .fetchWithOfflineSupport(endpoint: "orders", json: Order(number: 8), requestType: "order")
        }
        guard case .queuedForRetry(let id) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(try await queue.pendingRequests.map(\.id) == [id])
        lab.network.report(.wifi)
        try await answers.wait { !$0.isEmpty }
        #expect(answers.value == [Order(number: 7)])
    }

    /// What would be read later is of no use then.
    @Test(arguments: ["GET", "HEAD"])
    func whatOnlyReadsIsNotKeptWithoutAPath(method: String) async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived), network: .noLink)
        let queue = try lab.started()
        let client = Self.client(of: queue)
        @Sendable func error(of client: OfflineClient) async throws -> OfflineClientError? {
            do throws(OfflineClientError) {
                try await client.fetchWithOfflineSupport(endpoint: "a", method: method)
                return nil
            } catch { return error }
        }
        guard case .noPath = try await error(of: client) else { throw CancellationError() }
        #expect(try queue.counts.total == 0)
        // Nor when the path is lost meanwhile.
        let events = Events(queue)
        lab.network.report(.wifi)
        try await events.wait(for: .connectivityRestored)
        async let lost = error(of: client)
        try await lab.transport.waitForHeld()
        lab.network.report(.noLink)
        guard case .noPath = try await lost else { throw CancellationError() }
        #expect(try queue.counts.total == 0)
        var keeping = client
        keeping.keepsReads = true
        guard case .queuedForRetry(let id) = try await error(of: keeping) else { throw CancellationError() }
        #expect(try await queue.pendingRequests.map(\.id) == [id])
    }

    /// It is on disk before anything is sent, and no handler gets what its caller gets.
    @Test func whatIsAskedIsInTheQueueFirst() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.open()
        queue.onResponse(for: "order") { _, _ in Issue.record("the caller has it") }
        let client = Self.client(of: queue)
        // The first request starts the queue.
        async let answer: Order = client.fetchWithOfflineSupport(
            endpoint: "orders",
            json: Order(number: 8),
            requestType: "order"
        )
        try await lab.transport.waitForHeld()
        #expect(try QueueReader(file: lab.file).counts().running == 1)
        lab.transport.release(Self.answer)
        #expect(try await answer == Order(number: 7))
        #expect(try queue.counts == QueueCounts())
    }

    /// Where another process sends, the handler there gets the answer.
    @Test func whereAnotherProcessSendsTheRequestIsKept() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let sender = try lab.started()
        try await sender.enqueue(lab.request())
        try await lab.transport.waitForHeld()
        let queue = try lab.started()
        let error = await #expect(throws: OfflineClientError.self) {
            try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "a", method: "PUT")
        }
        guard case .queuedForRetry = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test func aLostConnectionEndsTheWaitForAnAnswer() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.started()
        async let answer: Order = Self.client(of: queue).fetchWithOfflineSupport(endpoint: "orders/7", method: "PUT")
        try await lab.transport.waitForHeld()
        lab.network.report(.noLink)
        do {
            _ = try await answer
            Issue.record("an answer came over no network")
        } catch {
            guard case .queuedForRetry(let id) = error as? OfflineClientError else {
                Issue.record("\(error)")
                return
            }
            #expect(try await queue.pendingRequests.map(\.id) == [id])
        }
    }

    /// An application whose main thread waits for something else must not have to serve a queue for this.
    @Test func aLostConnectionEndsTheWaitWhereNobodyServesTheMonitor() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let unserved = DispatchQueue(label: "unserved")
        unserved.suspend()
        defer { unserved.resume() }
        let monitor = NetworkMonitor(
            monitor: lab.network,
            deliverOn: .queue(unserved)
        )
        let queue = try OfflineRequestQueue(file: lab.file, transport: lab.transport, monitor: monitor)
        queue.start()
        let sending = Task { () -> Order in
            try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "orders/7", method: "PUT")
        }
        try await lab.transport.waitForHeld()
        lab.network.report(.noLink)
        // Were nobody to hear of it, this would end only here.
        let patience = Task {
            try await Task.sleep(for: .seconds(240))
            sending.cancel()
        }
        defer { patience.cancel() }
        let error = await #expect(throws: OfflineClientError.self) { try await sending.value }
        guard case .queuedForRetry = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test(arguments: [
        ScriptedTransport.Answer.failure(.connectionLost, .mayHaveBeenReceived), .failure(.refused, .notSent),
        .status(503, ["Retry-After": "1"]), .status(408), .status(425), .status(429),
    ])
    func whatMayBeMendedIsSentLaterWithTheSameKey(_ answer: ScriptedTransport.Answer) async throws {
        let lab = try QueueLab(Self.answer)
        lab.transport.answer(answer)
        // Where the second attempt is due before a busy machine looks, its answer is given instead.
        var settings = QueueLab.quick
        (settings.baseBackoff, settings.maxBackoff) = (.seconds(600), .seconds(600))
        let queue = try lab.started(settings)
        let error = await #expect(throws: OfflineClientError.self) {
            let _: Order = try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "a", method: "POST")
        }
        guard case .queuedForRetry(let id) = error else {
            Issue.record("\(error as Any)")
            return
        }
        queue.forceTriggerRetry()
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.transport.requests.count == 2)
        #expect(Set(lab.transport.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
    }

    @Test func whatCannotBeMendedIsNotKept() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        let client = Self.client(of: queue)
        lab.transport.answer(
            .response(TransportResponse(status: 404, body: [1])),
            .status(401),
            .failure(.tls, .answered(status: 400)),
            .status(200)
        )
        func error() async -> OfflineClientError? {
            await #expect(throws: OfflineClientError.self) {
                let _: Order = try await client.fetchWithOfflineSupport(endpoint: "a")
            }
        }
        #expect(await error() == .status(404, body: [1]))
        #expect(await error() == .status(401, body: []))
        guard case .notRetryable = await error() else {
            Issue.record("the third")
            return
        }
        guard case .decoding = await error() else {
            Issue.record("the fourth")
            return
        }
        let invalid = await #expect(throws: OfflineClientError.self) {
            let _: Order = try await client.fetchWithOfflineSupport(endpoint: "a", headers: ["X": "a\r\nb"])
        }
        guard case .invalidRequest = invalid else {
            Issue.record("\(invalid as Any)")
            return
        }
        #expect(try queue.counts.total == 0)
    }

    @Test func whoCancelsGetsItBackAtOnce() async throws {
        let lab = try QueueLab(.held(.mayHaveBeenReceived))
        let queue = try lab.started()
        let task = Task {
            let _: Order = try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "a")
        }
        try await lab.transport.waitForHeld()
        task.cancel()
        await #expect(throws: OfflineClientError.cancelled(queuedAs: nil)) { try await task.value }
        #expect(try queue.counts.total == 0)
    }

    @Test func whatWasCancelledBeforeItWasKeptIsNotKept() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        await lab.offline()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "a")
        }
        task.cancel()
        await #expect(throws: OfflineClientError.cancelled(queuedAs: nil)) { try await task.value }
        #expect(try queue.counts.total == 0)
    }

    /// Who cancels while it is written down hears that it stays, and under which name.
    @Test func whatWasKeptBeforeItWasCancelledIsSaid() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        await lab.offline()
        let task = AwaitableState<Task<Void, any Error>?>(nil)
        queue.observe { event in
            if case .enqueued = event { task.value?.cancel() }
        }
        // Held until the task is known that is to be cancelled.
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let client = Task {
            for await _ in gate {}
            try await Self.client(of: queue).fetchWithOfflineSupport(endpoint: "a", method: "PUT")
        }
        task.update { $0 = client }
        open.finish()
        let error = await #expect(throws: OfflineClientError.self) { try await client.value }
        let waiting = try await queue.pendingRequests.map(\.id)
        // Which it is depends on what is first; both that leave it there have the name.
        switch error {
        case .cancelled(let id?), .queuedForRetry(let id): #expect(waiting == [id])
        case .cancelled(nil): #expect(waiting == [])
        default: Issue.record("\(error as Any)")
        }
    }

    @Test func theCallerSaysHowJSONIsWritten() async throws {
        struct Visit: Codable, Hashable {
            var customerName: String
            var at: Date
        }
        let json = #"{"at":"2026-01-02T03:04:05Z","customer_name":"Ada"}"#
        let visit = Visit(customerName: "Ada", at: Date(timeIntervalSince1970: 1_767_323_045))
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .sortedKeys
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array(json.utf8))))
        let queue = try lab.open()
        let handled = AwaitableState<[Visit]>([])
        queue.onResponse(for: "visit", as: Visit.self, decoder: decoder) { _, visit in
            handled.update { $0.append(visit) }
        }
        queue.start()
        let client = OfflineClient(baseURL: "http://192.0.2.80", queue: queue, encoder: encoder, decoder: decoder)
        #expect(try await client.fetchWithOfflineSupport(endpoint: "/visits", json: visit, as: Visit.self) == visit)
        #expect(lab.transport.requests.first?.body == .bytes(Array(json.utf8)))
        var later = lab.request()
        later.requestType = "visit"
        #expect(try await queue.wait(for: queue.enqueue(later)).state == .succeeded)
        #expect(handled.value == [visit])
    }

    /// What belongs to a request comes back with its answer, whichever run of the program that reaches.
    @Test func theContextOfARequestComesBackWithItsAnswer() async throws {
        struct Draft: Codable, Hashable { var row: Int }
        let lab = try QueueLab(
            .response(TransportResponse(status: 200, body: Array(#"{"number":7}"#.utf8))),
            network: .noLink
        )
        let ids: [UUID]
        do {
            let queue = try lab.started()
            await lab.offline()
            let client = OfflineClient(baseURL: "http://192.0.2.80", queue: queue)
            await #expect(throws: OfflineClientError.self) {
                try await client.fetchWithOfflineSupport(endpoint: "/orders", method: "POST", requestType: "order") {
                    try $0.setContext(Draft(row: 3))
                }
            }
            var without = lab.request()
            without.requestType = "order"
            ids = [try #require(try await queue.pendingRequests.first?.id), try await queue.enqueue(without)]
            await queue.shutdown(within: .seconds(5))
        }
        let queue = try lab.open()
        let drafts = AwaitableState<[Draft]>([])
        queue.onResponse(for: "order", as: Data.self, context: Draft.self) { draft, _ in
            drafts.update { $0.append(draft) }
        }
        let events = Events(queue)
        queue.start()
        lab.network.report(.wifi)
        try await events.wait(for: .succeeded(ids[0], status: 200))
        try await events.wait { $0.isDead }
        #expect(drafts.value == [Draft(row: 3)])
        let record = try #require(try queue.record(id: ids[1]))
        let error = try #require(record.lastError)
        #expect(error.contains("the context of the request is missing"), "\(error)")
    }

    /// Sending again would not change what the server says.
    @Test func aResponseThatCannotBeDecodedIsKept() async throws {
        let lab = try QueueLab(.response(TransportResponse(status: 200, body: Array(#"{"total":7}"#.utf8))))
        let queue = try lab.open()
        queue.onResponse(for: "order", as: Order.self) { _, _ in Issue.record("there is no order") }
        queue.start()
        var request = lab.request()
        request.requestType = "order"
        let id = try await queue.enqueue(request)
        let record = try await queue.wait(for: id)
        #expect(record.state == .dead)
        #expect(record.lastError?.contains("not what was expected") == true, "\(record.lastError ?? "")")
        // A handler that can read it gets it, without another request.
        let bodies = AwaitableState<[Data]>([])
        queue.onResponse(for: "order", as: Data.self) { _, body in bodies.update { $0.append(body) } }
        let events = Events(queue)
        try await queue.requeueDead(id: id)
        try await events.wait(for: .succeeded(id, status: 200))
        #expect(bodies.value.map { String(decoding: $0, as: UTF8.self) } == [#"{"total":7}"#])
        #expect(lab.sent.count == 1)
    }

    @Test func everythingCanBeSaidOfARequestToAnEndpoint() async throws {
        let lab = try QueueLab(network: .noLink)
        let queue = try lab.started()
        await lab.offline()
        var client = Self.client(of: queue)
        client.keepsReads = true
        let expiry = Date(timeIntervalSinceNow: 3600)
        await #expect(throws: OfflineClientError.self) {
            try await client.fetchWithOfflineSupport(endpoint: "a", json: Order(number: 1), as: Order.self) {
                $0.priority = .high
                $0.expiresAt = expiry
                $0.sensitiveHeaders = ["Accept"]
                $0.idempotencyKey = "mine"
            }
        }
        await #expect(throws: OfflineClientError.self) {
            try await client.fetchWithOfflineSupport(endpoint: "b") { $0.orderingKey = "lane" }
        }
        let waiting = try await queue.pendingRequests.map(\.request).sorted { $0.endpoint < $1.endpoint }
        try #require(waiting.count == 2)
        #expect(waiting[0].priority == .high && waiting[0].sensitiveHeaders == ["Accept"])
        #expect(waiting[0].idempotencyKey == "mine" && waiting[0].method == "POST")
        #expect(abs(waiting[0].expiresAt?.timeIntervalSince(expiry) ?? 1) < 0.01)
        #expect(waiting[1].orderingKey == "lane" && waiting[1].method == "GET")
    }

    @Test func anAnswerNeedNotBeUsed() async throws {
        let lab = try QueueLab(Self.answer)
        let queue = try lab.started()
        let client = Self.client(of: queue)
        try await client.fetchWithOfflineSupport(endpoint: "a", json: Order(number: 8))
        try await client.fetchWithOfflineSupport(endpoint: "b", body: Data([1]))
        try await client.fetchWithOfflineSupport(lab.request("c", method: "DELETE"))
        let response = try await client.fetchWithOfflineSupport(endpoint: "d")
        #expect(response.status == 200)
        #expect(lab.transport.requests.map(\.method) == ["POST", "POST", "DELETE", "GET"])
        await #expect(throws: OfflineClientError.self) {
            try await client.fetchWithOfflineSupport(endpoint: "e", body: Data(), json: Order(number: 8))
        }
    }

    @Test func whatHasAnOrderWaitsForWhatWasKeptBefore() async throws {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.started()
        var first = lab.request("first")
        first.orderingKey = "lane"
        try await queue.enqueue(first)
        try await lab.transport.waitForHeld()
        var second = lab.request("second")
        second.orderingKey = "lane"
        let request = second
        await #expect(throws: OfflineClientError.queuedForRetry(second.id)) {
            let _: TransportResponse = try await Self.client(of: queue).fetchWithOfflineSupport(request)
        }
        #expect(lab.sent == ["first"])
    }
}
