// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Several processes on one file.
@Suite(.needsNamespaces)
struct ProcessTests {
    /// One sends; those that come after it wait for its end, and one of them goes on at once.
    @Test func oneSendsAndAnotherTakesOver() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let file = stage.queueFile()
        let filler = try stage.start("fill", path: "/slow?ms=100", ["count": "400"])
        try filler.next { $0["pending"] != nil }
        try filler.waitForEnd()

        let first = try stage.start("deliver", ["pace": "fast"])
        try first.next { $0["open"] != nil }
        try server.await(20)
        let second = try stage.start("deliver", ["pace": "fast"])
        try second.next { $0["open"] != nil }
        try server.await(20)

        let before = try server.requests()
        #expect(Set(before.map(\.name)).count == before.count)

        let killed = ContinuousClock.now
        first.sendSignal(.kill)
        try first.waitForEnd()
        try server.await(10)
        #expect(.now - killed < .seconds(30))
        try second.next(timeout: .seconds(60)) { $0["empty"] != nil }
        try second.waitForEnd()
        try server.expectDelivered(Set((0..<400).map { "request-\($0)" }))
        // Twice only what the first one was sending when it died, at most 4 to one host, and what had ended since its
        // last write to the disk, which a busy machine delays.
        let byName = Dictionary(grouping: try server.requests(), by: \.name)
        #expect(byName.values.allSatisfy { $0.count <= 2 })
        #expect(byName.values.count { $0.count == 2 } <= 40)
        #expect(try integrity(of: file) == "ok")
    }

    /// What one that does not send enqueues, the sender sends without being asked.
    @Test func senderHearsOfWhatOthersEnqueue() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let sender = try stage.start("deliver", ["stay": "1"])
        try sender.next { $0["empty"] != nil }
        let other = try stage.start("enqueue", ["count": "1", "name": "other"])
        try other.next { $0["acknowledged"] != nil }
        let acknowledged = ContinuousClock.now
        try server.await(1)
        #expect(.now - acknowledged < .seconds(25))
        try other.waitForEnd()
        try server.expectDelivered(["other-1"])
    }
}
