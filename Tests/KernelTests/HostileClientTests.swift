// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// `netpath run` with clients that want to fill it, to keep it busy, or to lock others out.
@Suite(.needsNamespaces, .serialized)
struct HostileClientTests {
    private let place: ServiceLab

    init() throws { self.place = try ServiceLab() }

    /// Starts the service on a recording of 10 MB that is all paths.
    private func startWithHistory() throws -> MonitorProcess {
        let first = try self.place.start()
        try self.place.history("there was a path all the time")
        #expect(try first.stop() == 0)
        let folder = "\(self.place.lab.directory)/state/netpath"
        let file = "\(folder)/00000001.jsonl"
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { String($0) + "\n" }
        let path = try #require(lines.first { $0.contains(#","path":{"#) })
        let text = lines[0] + String(repeating: path, count: (2 << 20) / path.utf8.count)
        for number in 1...5 {
            try text.write(toFile: "\(folder)/0000000\(number).jsonl", atomically: true, encoding: .utf8)
        }
        return try self.place.start()
    }

    /// How long the service takes to answer, at best: the machine may be busy with something else.
    private func answerTime() throws -> Duration {
        var best = Duration.seconds(60)
        for _ in 0..<20 {
            let begin = ContinuousClock.now
            let client = try SocketClient(self.place.socket)
            try client.write(#"{"request":"status"}"# + "\n")
            try client.await(#""status":"satisfied""#)
            best = min(best, ContinuousClock.now - begin)
        }
        return best
    }

    /// The part of a processor that the service uses when it is done with what it was asked.
    private func load(_ service: MonitorProcess) throws -> Double {
        var load = 1.0
        for _ in 0..<10 where load >= 0.2 {
            let before = try service.cpuTime()
            Thread.sleep(forTimeInterval: 2)
            load = try (service.cpuTime() - before) / .seconds(2)
        }
        return load
    }

    @Test func theHistoryIsNotKeptForThoseThatDoNotRead() throws {
        let service = try self.startWithHistory()
        _ = try self.answerTime()
        let before = try service.residentPeakKiB()
        let stuck = try (0..<30).map { _ in try SocketClient(self.place.socket) }
        for client in stuck { try client.write(#"{"request":"history","since":0}"# + "\n") }
        // They say that they ask nothing more, and do not read.
        for client in stuck.prefix(15) { client.end() }
        #expect(try self.answerTime() < .milliseconds(200))
        #expect(try self.load(service) < 0.2)
        let grown = try service.residentPeakKiB() - before
        #expect(grown < 8 << 10, "\(grown) KiB for 30 clients")
        // One that reads gets all.
        #expect(try self.place.ask("history --since 1000d").contains("since"))
        let reading = try SocketClient(self.place.socket)
        try reading.write(#"{"request":"history","since":0}"# + "\n")
        reading.end()
        #expect(try reading.readToEnd().utf8.count > 8 << 20)
        #expect(try service.stop() == 0)
        withExtendedLifetime(stuck) {}
    }

    /// They are let go after a while.
    @Test func silentClientsLockNobodyOut() throws {
        let service = try self.place.start()
        let silent = try (0..<100).map { _ in try SocketClient(self.place.socket) }
        #expect(try silent[99].readToEnd().contains("too many connections, of this user"))
        let deadline = ContinuousClock.now + .seconds(60)
        while try !self.place.ask("status --service --quiet").hasSuffix("status 0") {
            try #require(ContinuousClock.now < deadline)
        }
        #expect(try service.stop() == 0)
        withExtendedLifetime(silent) {}
    }

    @Test func withoutDescriptorsItWaits() throws {
        let service = try self.place.start()
        _ = try self.answerTime()
        let process = "/proc/\(service.processIdentifier)/fd"
        let limit = { (count: Int) in
            _ = try self.place.lab.run("prlimit --pid \(service.processIdentifier) --nofile=\(count):1024")
        }
        // Room for one connection: the others wait to be accepted.
        let numbers = try FileManager.default.contentsOfDirectory(atPath: process).compactMap { Int($0) }
        try limit((numbers.max() ?? 0) + 2)
        var waiting = try (0..<10).map { _ in try SocketClient(self.place.socket) }
        #expect(try self.load(service) < 0.2)
        // Those that have gone take no pause each.
        waiting = try (0..<60).map { _ in try SocketClient(self.place.socket) }
        waiting = []
        #expect(try self.answerTime() < .seconds(10))
        // Fewer than it has already: poll(2) refuses to wait for them.
        try limit(1)
        let woken = try SocketClient(self.place.socket)
        #expect(try self.load(service) < 0.2)
        try limit(1_024)
        waiting = []
        #expect(try self.answerTime() < .seconds(10))
        #expect(try service.stop() == 0)
        withExtendedLifetime((waiting, woken)) {}
    }

    /// Half of the descriptors are for what watches the network.
    @Test func fewDescriptorsAreEnough() throws {
        let place = self.place
        let service = try place.lab.start(
            "prlimit",
            ["--nofile=48:48", Watched.program, "run"],
            environment: place.environment
        )
        try place.message("satisfied", in: service)
        let many = try (0..<40).map { _ in try SocketClient(place.socket) }
        for client in many.prefix(5) {
            try client.write(#"{"request":"status"}"# + "\n")
            try client.await(#""status":"satisfied""#)
        }
        #expect(try many[39].readToEnd().contains("too many connections, of this user"))
        try place.lab.removeDefaultRoute()
        try place.message("unsatisfied", in: service)
        #expect(try self.load(service) < 0.2)
        #expect(try service.stop() == 0)
        withExtendedLifetime(many) {}
    }
}
