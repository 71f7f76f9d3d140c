// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Synchronization
import Testing

/// Programs that are killed at any instant: what was acknowledged arrives, and each repeat says that it is one.
@Suite(.needsNamespaces, .serialized)
struct CrashTests {
    /// How often a program is killed; `NETPATH_CRASHES` asks for more or fewer.
    private static let crashes = ProcessInfo.processInfo.environment["NETPATH_CRASHES"].flatMap { Int($0) } ?? 500

    /// Where the random instants begin; the same seed draws the same ones.
    private static let seed = ProcessInfo.processInfo.environment["NETPATH_CRASH_SEED"].flatMap { UInt64($0) } ?? 1

    /// A caller that waits for an answer has put its request on disk before.
    @Test func whoIsKilledWhileWaitingForAnAnswerLosesNothing() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let file = stage.queueFile("fetch")
        let options = ["pace": "fast", "name": "f"]
        let client = try stage.start("fetch", path: "/stall-response?times=1", file: file, options)
        try server.await(1)
        client.sendSignal(.kill)
        #expect(try client.waitForEnd() == 128 + 9)
        try stage.drain(file)
        let requests = try server.requests()
        #expect(requests.map(\.name) == ["f-0", "f-0"])
        #expect(Set(requests.map(\.key)).count == 1)
    }

    @Test func killedAtRandomInstants() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        // All on one file, so that one program starts while another sends and a third one dies.
        let file = stage.queueFile("crash")
        let lanes = 3
        let failures = Mutex<[String]>([])
        let acknowledged = Mutex<Set<String>>([])
        let died = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: lanes) { lane in
            do {
                var random = SeededGenerator(seed: Self.seed &+ UInt64(lane))
                var names: Set<String> = []
                var count = 0
                while count * lanes < Self.crashes {
                    // Sometimes two at once, and with the others up to six.
                    let victims = try (0..<(Int.random(in: 0..<6, using: &random) == 0 ? 2 : 1)).map { number in
                        try stage.start(
                            ["mixed", "mixed", "enqueue", "deliver"].randomElement(using: &random) ?? "mixed",
                            path: "/flaky",
                            file: file,
                            ["pace": "fast", "name": "r\(lane)-\(count)-\(number)", "count": "20", "stay": "1"]
                        )
                    }
                    for victim in victims { try victim.next { $0["begin"] != nil } }
                    for victim in victims {
                        Thread.sleep(forTimeInterval: .random(in: 0...0.1, using: &random))
                        victim.sendSignal(.kill)
                        #expect(try victim.waitForEnd() == 128 + 9)
                        names.formUnion(try victim.drain().compactMap { $0["acknowledged"]?.string })
                        count += 1
                    }
                }
                acknowledged.withLock { $0.formUnion(names) }
                died.withLock { $0 += count }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(died.withLock { $0 } >= Self.crashes)

        try stage.drain(file)
        let names = acknowledged.withLock { $0 }
        // Enough to lose something of; how much a busy machine takes on is another matter.
        #expect(names.count > Self.crashes / 10)
        // What was on disk and not yet acknowledged may arrive as well.
        try server.expectDelivered(names, orAlso: true)
        #expect(try integrity(of: file) == "ok")
        let files = try FileManager.default.contentsOfDirectory(atPath: stage.lab.directory)
        #expect(files.filter { $0.contains("corrupt") } == [], "nothing is set aside")
    }

    /// The instants that matter most, each for certain.
    @Test(arguments: ["before-send", "sending", "answered", "handling"])
    func killedAt(_ point: String) throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        var names: Set<String> = []
        for round in 0..<5 {
            let victim = try stage.start(
                "mixed",
                ["pace": "fast", "name": "r\(round)", "count": "10", "kill": point, "kill-after": "\(round + 1)"]
            )
            #expect(try victim.waitForEnd() == 128 + 9, "\(victim.standardError)")
            names.formUnion(try victim.drain().compactMap { $0["acknowledged"]?.string })
        }
        try stage.drain()
        try server.expectDelivered(names, orAlso: true)
        #expect(try integrity(of: stage.queueFile()) == "ok")
        let requests = try server.requests()
        let repeats = requests.count - Set(requests.map(\.name)).count
        // Only what was under way when a process died is sent twice: at most 4 to one host, and 4 that had just ended.
        #expect(repeats <= 5 * 8)
        if point == "handling" || point == "answered" { #expect(repeats >= 5) }
    }
}
