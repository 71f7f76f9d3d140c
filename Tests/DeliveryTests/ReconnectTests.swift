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
        var isTested = false
        for _ in 0..<10 where !isTested { isTested = try self.flap() }
        #expect(isTested, "this machine is too busy to have the path there for less than a second")
    }

    /// False when the path was there for too long to know what has to be, which a busy machine is the cause of.
    private func flap() throws -> Bool {
        let stage = try Stage()
        let server = try Server(on: stage)
        try stage.uplink.setPeerCarrier(false)
        let client = try stage.start("mixed", ["count": "5", "name": "flap", "events": "1"])
        for _ in 0..<5 { try client.next { $0["acknowledged"] != nil } }
        for _ in 0..<10 {
            let begin = ContinuousClock.now
            try stage.uplink.setPeerCarrier(true)
            Thread.sleep(forTimeInterval: 0.3)
            try stage.uplink.setPeerCarrier(false)
            guard ContinuousClock.now - begin < .seconds(1) else { return false }
            Thread.sleep(forTimeInterval: 0.1)
            // The path was never there for the second that the queue wants to see it.
            #expect(try server.requests().isEmpty)
        }
        try stage.uplink.setPeerCarrier(true)
        try client.waitForEnd()
        let attempts = try client.drain().filter { $0["event"] == "attempt" }
        #expect(attempts.allSatisfy { $0["number"]?.string == "1" }, "\(attempts)")
        try server.expectDelivered(Set((1...5).map { "flap-\($0)" }))
        #expect(try server.requests().count == 5)
        return true
    }

    /// A connection that was kept over an uplink that is gone holds up nothing.
    @Test func anotherUplinkGetsConnectionsOfItsOwn() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let client = try stage.start("mixed", ["count": "1", "name": "first", "events": "1", "stay": "1"])
        try client.next { $0["event"] == "succeeded" }
        // Nothing tells the server, nor the client's end of the connection.
        let spare = try stage.lab.addUplink("wan1", addresses: ["192.0.3.2/24"])
        let end = try #require(spare.peerName)
        try stage.lab.runOnFarSide("ip address add 192.0.3.1/24 dev \(end)")
        try stage.lab.addDefaultRoute(via: "192.0.3.1", through: spare, metric: 500)
        try stage.uplink.setDown()
        try stage.lab.runOnFarSide("ip address add \(Stage.serverAddress)/32 dev \(end)")
        let replaced = ContinuousClock.now
        let second = try stage.start("enqueue", ["count": "1", "name": "second"])
        try second.waitForEnd()
        try client.next(timeout: .seconds(60)) { $0["event"] == "succeeded" }
        // Nothing moved for half a minute is what a transport waits for.
        #expect(ContinuousClock.now - replaced < .seconds(25))
        try server.expectDelivered(["first-1", "second-1"])
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
        let before = ContinuousClock.now
        try stage.uplink.setPeerCarrier(true)
        for car in fleet { try car.waitForEnd() }
        let requests = try server.requests()
        let firsts = try (0..<8).map { number in try #require(requests.first { $0.name == "car-\(number)-1" }) }
        let (earliest, latest) = try (#require(firsts.map(\.at).min()), #require(firsts.map(\.at).max()))
        #expect(earliest - before >= .milliseconds(950))
        // Eight drawn from three seconds lie within half a second of one another once in 100,000 times.
        let (first, last) = try (#require(firsts.map(\.written).min()), #require(firsts.map(\.written).max()))
        #expect(last - first > .milliseconds(500))
        #expect(latest - before < .seconds(20))
    }
}
