// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// How a queue comes back: late enough to be sure of its path, and not all at once.
@Suite(.needsNamespaces)
struct ReconnectTests {
    /// A path that comes and goes uses no attempts.
    @Test func flappingUsesNoAttempts() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        try stage.uplink.setPeerCarrier(false)
        let client = try stage.start("mixed", ["count": "5", "name": "flap", "events": "1"])
        for _ in 0..<5 { try client.next { $0["acknowledged"] != nil } }
        for _ in 0..<10 {
            try stage.uplink.setPeerCarrier(true)
            Thread.sleep(forTimeInterval: 0.3)
            try stage.uplink.setPeerCarrier(false)
            Thread.sleep(forTimeInterval: 0.1)
        }
        // The path was never there for the second that the queue wants to see it.
        #expect(try server.requests().isEmpty)
        try stage.uplink.setPeerCarrier(true)
        try client.waitForEnd(timeout: .seconds(20))
        let attempts = try client.drain().filter { $0["event"] == "attempt" }
        #expect(attempts.allSatisfy { $0["number"]?.string == "1" }, "\(attempts)")
        try server.expectDelivered(Set((1...5).map { "flap-\($0)" }))
        #expect(try server.requests().count == 5)
    }

    /// Many that come back at once do not all begin at once.
    @Test func fleetDoesNotStampede() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        try stage.uplink.setPeerCarrier(false)
        let fleet = try (0..<8).map { number in
            try stage.start("mixed", file: stage.queueFile("car-\(number)"), ["count": "3", "name": "car-\(number)"])
        }
        for car in fleet { for _ in 0..<3 { try car.next { $0["acknowledged"] != nil } } }
        try stage.uplink.setPeerCarrier(true)
        let restored = ContinuousClock.now
        for car in fleet { try car.waitForEnd(timeout: .seconds(20)) }
        let firsts = try (0..<8).map { number in
            try #require(server.requests().first { $0.name == "car-\(number)-1" }).at
        }
        let earliest = try #require(firsts.min())
        let latest = try #require(firsts.max())
        #expect(earliest - restored >= .milliseconds(950))
        // Eight drawn from three seconds lie within half a second of one another once in 100,000 times.
        #expect(latest - earliest > .milliseconds(500))
        #expect(latest - restored < .seconds(6))
    }
}
