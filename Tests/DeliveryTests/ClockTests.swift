// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Clocks that jump: nothing is given up because of it, and nothing waits for a time that will not come.
@Suite(.needsNamespaces)
struct ClockTests {
    private static let year = Duration.seconds(365 * 86_400)

    /// The clock jumps while a request waits for its next attempt.
    @Test(arguments: [Self.year, Self.year * -1])
    func jumpsDuringBackoff(_ jump: Duration) throws {
        let stage = try Stage()
        let clock = try WallClock(in: stage.lab)
        let server = try Server(on: stage)
        let client = try stage.start(
            "mixed",
            path: "/status/503?times=1",
            ["base-backoff": "1000", "count": "1", "name": "jump", "events": "1"],
            environment: clock.environment
        )
        try client.next { $0["event"] == "backoff" }
        try clock.set(jump)
        try client.next { $0["end"] != nil }
        try client.waitForEnd()
        try server.expectDelivered(["jump-1"])
    }

    /// The clock jumps while requests wait for a path.
    @Test(arguments: [Self.year, Self.year * -1])
    func jumpsWhileOffline(_ jump: Duration) throws {
        let stage = try Stage()
        let clock = try WallClock(in: stage.lab)
        let server = try Server(on: stage)
        try stage.uplink.setPeerCarrier(false)
        let client = try stage.start(
            "mixed",
            ["pace": "fast", "count": "3", "name": "jump"],
            environment: clock.environment
        )
        for _ in 0..<3 { try client.next { $0["acknowledged"] != nil } }
        try clock.set(jump)
        try stage.uplink.setPeerCarrier(true)
        try client.waitForEnd()
        try server.expectDelivered(["jump-1", "jump-2", "jump-3"])
    }

    /// A board without a battery for its clock: requests of 1970, sent in the present, and the other way round.
    @Test(arguments: [(year * -56, Duration.zero), (.zero, year * -56), (year, .zero)])
    func anotherTimeAfterAStart(_ before: Duration, _ after: Duration) throws {
        let stage = try Stage()
        let clock = try WallClock(in: stage.lab)
        let server = try Server(on: stage)
        try clock.set(before)
        let first = try stage.start(
            "mixed",
            path: "/status/503?times=1",
            ["base-backoff": "2000", "count": "2", "name": "set", "events": "1"],
            environment: clock.environment
        )
        var (acknowledged, hasFailed) = (0, false)
        try first.next { line in
            if line["acknowledged"] != nil { acknowledged += 1 }
            if line["event"] == "backoff" { hasFailed = true }
            return acknowledged == 2 && hasFailed
        }
        try first.stop(signal: .kill)

        try clock.set(after)
        let second = try stage.start("deliver", ["base-backoff": "2000"], environment: clock.environment)
        try second.next { $0["empty"] != nil }
        try second.waitForEnd()
        try server.expectDelivered(["set-1", "set-2"])
    }

    /// The clock that never jumps, which begins anew with each start of the machine, stands elsewhere.
    @Test func anotherTimeSinceTheStartOfTheMachine() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        try stage.uplink.setPeerCarrier(false)
        let program = try MonitorProcess.builtProduct("OfflineScenarios")
        let filler = try stage.lab.start(
            "unshare",
            ["--time", "--boottime", "1000000000", "--monotonic", "1000000000", "--fork", program, "enqueue"]
                + [stage.queueFile(), Stage.origin + "/ok", "--count", "3", "--name", "boot"]
        )
        try filler.next { $0["end"] != nil }
        try filler.waitForEnd()
        try stage.uplink.setPeerCarrier(true)
        try stage.drain()
        try server.expectDelivered(["boot-1", "boot-2", "boot-3"])
    }
}
