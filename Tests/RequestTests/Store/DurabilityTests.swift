// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import GRDB
import NetPathHTTP
import Testing

@testable import OfflineRequests

@Suite struct DurabilityTests {
    @Test func everyFieldSurvivesReopening() throws {
        let bench = try StoreBench()
        let request = sample(1) { request in
            request.headers.fields.append(HeaderFields.Field(name: "X-Again", value: "ü"))
            request.maxRetries = 1_000_000
            request.priority = .high
            request.expiresAt = Date(timeIntervalSince1970: 1_760_000_000.25)
            request.orderingKey = "lane"
            request.onFailure = .dropLane
            request.requires = PathRequirements(unmeteredOnly: true, interfaceType: .wifi)
            request.uniqueKey = "key"
            request.ifExists = .replace
            request.sensitiveHeaders = ["X-Pin"]
            request.timeouts = TransportRequest.Timeouts(
                connect: .milliseconds(1500),
                total: .seconds(9),
                stall: .milliseconds(1)
            )
            request.keepsResponse = true
        }
        let plain = RetryableRequest(endpoint: "http://example.net", idempotencyKey: .none)
        do {
            let store = try bench.open()
            try store.insert(request)
            try store.insert(plain)
            store.close()
        }
        let store = try bench.open()
        #expect(try store.all().map(\.request) == [request, plain])
        var expected = QueueCounts()
        (expected.ready, expected.bytes) = (2, try store.counts.bytes)
        #expect(try store.counts == expected)
        #expect(throws: QueueError.duplicate(plain.id)) { try store.insert(plain) }
    }

    @Test func whatFailsLeavesNothing() throws {
        struct Stop: Error {}
        let bench = try StoreBench()
        let store = try bench.open()
        let prepared = try store.prepare(sample())
        #expect(throws: QueueError.self) {
            try store.transaction(durable: true) { transaction in
                _ = try transaction.insert(prepared)
                throw Stop()
            }
        }
        #expect(try store.all().isEmpty)
        #expect(try store.counts == QueueCounts())
        // The number of the gate must not have stayed either.
        try store.insert(sample())
        #expect(try store.readyIDs().count == 1)
    }

    @Test func whatIsAcknowledgedIsOnTheDisk() throws {
        let store = try StoreBench().open()
        for durable in [true, false, false, true] {
            let level = try store.transaction(durable: durable) { try Int.fetchOne($0.db, sql: "PRAGMA synchronous") }
            // FULL, or NORMAL.
            #expect(level == (durable ? 2 : 1))
        }
    }

    @Test func closedIsClosed() throws {
        let store = try StoreBench().open()
        store.close()
        #expect(throws: QueueError.closed) { try store.insert(sample()) }
        #expect(throws: QueueError.closed) { try store.all() }
    }
}
