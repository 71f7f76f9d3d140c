// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Hosts and requests that fail, beside those that do not.
@Suite(.timeLimit(.minutes(5)))
struct QueueFairnessTests {
    private func enqueue(_ urls: [String], in queue: OfflineRequestQueue) async throws -> [UUID] {
        var ids: [UUID] = []
        for url in urls { ids.append(try await queue.enqueue(RetryableRequest(endpoint: url, method: "POST"))) }
        return ids
    }

    private static let good = (0..<20).map { "http://good.example/\($0)" }

    /// Not one of them answers for as long as the test goes on.
    @Test(arguments: [60, 300])
    func hostsThatNeverAnswerDoNotHideOneThatDoes(_ count: Int) async throws {
        let lab = try QueueLab(.held(.notSent))
        let queue = try lab.open()
        _ = try await self.enqueue((0..<count).map { "http://silent\($0).example/" }, in: queue)
        let ids = try await self.enqueue(Self.good, in: queue)
        for url in Self.good { lab.transport.answer(.status(200), to: url) }
        queue.start()
        for id in ids { #expect(try await queue.wait(for: id).state == .succeeded) }
        // Each takes a quarter of a place after a while, and then a sixteenth.
        #expect(lab.transport.requests.count <= 16 * 16 + 20)
        #expect(try queue.counts.pending == count)
    }

    @Test(arguments: [500, 503])
    func requestsThatFailDoNotHideOthersOfTheirHost(_ status: Int) async throws {
        let lab = try QueueLab()
        let poisoned = (0..<6).map { "http://good.example/poisoned/\($0)" }
        for url in poisoned { for _ in 0..<500 { lab.transport.answer(.status(status), to: url) } }
        let queue = try lab.open()
        _ = try await self.enqueue(poisoned, in: queue)
        let ids = try await self.enqueue(Self.good, in: queue)
        queue.start()
        for id in ids { #expect(try await queue.wait(for: id).state == .succeeded) }
        let lastGood = try #require(lab.transport.requests.lastIndex { !$0.url.contains("poisoned") })
        #expect(lastGood < 20 + 6 * 5, "\(lastGood)")
    }

    /// Neither at the beginning nor at the end.
    @Test func manyPoisonedRequestsDoNotHideAFewInTheMiddle() async throws {
        let lab = try QueueLab()
        let poisoned = (0..<40).map { "http://good.example/poisoned/\($0)" }
        for url in poisoned { for _ in 0..<500 { lab.transport.answer(.status(500), to: url) } }
        let queue = try lab.open()
        _ = try await self.enqueue(Array(poisoned.prefix(20)), in: queue)
        let ids = try await self.enqueue(Self.good, in: queue)
        _ = try await self.enqueue(Array(poisoned.suffix(20)), in: queue)
        queue.start()
        for id in ids { #expect(try await queue.wait(for: id).state == .succeeded) }
        let urls = lab.transport.requests.map(\.url)
        let lastGood = try #require(urls.lastIndex { !$0.contains("poisoned") })
        // Each was tried once before any was tried for the second time, but for one that works now and then.
        #expect(lastGood < 40 + 20 + 20, "\(lastGood)")
    }
}
