// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// A path that is cut at every point of a request, in every way: the server counts what it saw.
@Suite(.needsNamespaces)
struct CutTests {
    /// How far the request has come.
    enum Point: String, CaseIterable, Sendable {
        case beforeConnect
        case duringBody
        case received
        case duringResponse

        /// What makes the server stand still there, the first time.
        var path: String {
            switch self {
            case .beforeConnect: "/ok"
            case .duringBody: "/stall-reading?after=1000000&times=1"
            case .received: "/stall-response?times=1"
            case .duringResponse: "/stall-body?times=1"
            }
        }
    }

    /// What happens then.
    enum Cut: String, CaseIterable, Sendable {
        case linkDown
        case routeRemoved
        case packetsLost
    }

    @Test(arguments: Point.allCases, Cut.allCases)
    func cut(at point: Point, by cut: Cut) throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        if point == .beforeConnect { try self.make(cut, on: stage) }
        let client = try stage.start(
            "mixed",
            path: point.path,
            ["pace": "fast", "count": "1", "name": "cut", "size": "8000000", "timeout": "5", "events": "1"]
        )
        try client.next { $0["acknowledged"] != nil }
        if point != .beforeConnect {
            try server.await(1)
            try self.make(cut, on: stage)
        }
        // Long enough for whatever gives up to give up, and to try again where it may.
        let whileCut = try self.lines(of: client, for: .seconds(13))
        #expect(!whileCut.contains { $0["event"] == "succeeded" })
        let counted = try self.countedAttempts(on: stage)

        // It starts again from where the network is, without a word from anybody.
        try self.undo(cut, on: stage)
        try client.next { $0["end"] != nil }
        try client.waitForEnd()
        try server.expectDelivered(["cut-1"])

        // What met no path, or no answer to its first packet, never left this host, and is not counted.
        let begun = try server.requests()
        #expect(begun.count == (point == .beforeConnect ? 1 : 2), "\(begun)")
        #expect(counted == (point == .beforeConnect ? 0 : 1))
    }

    /// How many attempts of the one request counted so far.
    private func countedAttempts(on stage: Stage) throws -> Int? {
        let state = try stage.start("state")
        try state.next { $0["ready"] != nil }
        return try state.next()["attempts"]?.string.flatMap { Int($0) }
    }

    private func make(_ cut: Cut, on stage: Stage) throws {
        switch cut {
        case .linkDown: try stage.uplink.setPeerCarrier(false)
        case .routeRemoved: try stage.lab.removeDefaultRoute()
        case .packetsLost: try stage.losePackets()
        }
    }

    private func undo(_ cut: Cut, on stage: Stage) throws {
        switch cut {
        case .linkDown: try stage.uplink.setPeerCarrier(true)
        case .routeRemoved: try stage.addRoute()
        case .packetsLost: try stage.letPacketsPass()
        }
    }

    private func lines(of process: MonitorProcess, for duration: Duration) throws -> [JSONLine] {
        let deadline = ContinuousClock.now + duration
        var lines: [JSONLine] = []
        while ContinuousClock.now < deadline {
            let left = deadline - .now
            if let line = try? process.next(timeout: left) { lines.append(line) }
        }
        return lines
    }
}
