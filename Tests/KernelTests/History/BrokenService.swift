// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A service that is broken at random, and a log of what happened to the network meanwhile.
final class BrokenService {
    private let place: ServiceLab
    private let clock: WallClock
    private(set) var log = OutageLog()
    /// How many outages the history has that was looked at last.
    private(set) var told = 0
    /// How often each thing was done.
    private(set) var done: [String: Int] = [:]
    private var service: MonitorProcess?
    private var isUp = true
    /// What the service has to write, when it happened and when the service had said so.
    private var events: [OutageLog.Span] = []
    private var isDiskFull = false
    private var hasOtherBoots = false
    private var generator: SeededGenerator

    /// Seconds since 1970, by the clock that is not set.
    static func now() -> Double { Date.now.timeIntervalSince1970 }

    private var disk: String { self.place.environment["STATE_DIRECTORY"] ?? "" }

    init(seed: UInt64) throws {
        self.place = try ServiceLab()
        self.clock = try WallClock(in: self.place.lab)
        self.generator = SeededGenerator(seed: seed)
        try self.place.lab.run("mkdir -p \(self.disk) && mount -t tmpfs -o size=24m none \(self.disk)")
        self.log.change(isUp: true, OutageLog.Span(begin: Self.now(), end: Self.now()))
        try self.start(unknownSince: 0)
    }

    private func random(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &self.generator) }

    private func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self.generator) == 0 }

    private func pass(_ seconds: ClosedRange<Double>) { usleep(UInt32(self.random(seconds) * 1_000_000)) }

    // MARK: What is done

    /// Does everything once, in a random order, with time between.
    func round() throws {
        var deeds: [(name: String, act: () throws -> Void)] = [
            ("toggle", self.toggle), ("toggle", self.toggle), ("toggle", self.toggle), ("power cut", self.cutPower),
            ("kill", { try self.restart(by: .kill) }), ("stop", { try self.restart(by: .terminate) }),
            ("full disk", self.fillDisk), ("clock set", self.setClock), ("stand-still", self.standStill),
            ("reload", { self.service?.sendSignal(.hangUp) }),
        ]
        deeds.shuffle(using: &self.generator)
        for deed in deeds {
            self.done[deed.name, default: 0] += 1
            try deed.act()
            self.pass(0.1...2.5)
        }
    }

    /// The path goes, or comes back; waits until the service says so, where one runs.
    private func toggle() throws {
        try self.change()
        try self.settle()
        self.log.prolong(until: Self.now())
        if self.service != nil, !self.isDiskFull, let last = self.log.changes.last { self.events.append(last.span) }
    }

    private func change() throws {
        let begin = Self.now()
        self.isUp.toggle()
        if self.isUp {
            try self.place.uplink.setPeerCarrier(true)
            try self.place.lab.run("ip link set wan0 up && ip route replace default via 192.0.2.1")
        } else {
            switch Int.random(in: 0..<3, using: &self.generator) {
            case 0: try self.place.lab.run("ip link set wan0 down")
            case 1: try self.place.lab.run("ip route del default")
            default: try self.place.uplink.setPeerCarrier(false)
            }
        }
        self.log.change(isUp: self.isUp, OutageLog.Span(begin: begin, end: Self.now()))
    }

    private func changeMaybe() throws {
        self.pass(0...1)
        guard self.happens(oneIn: 2) else { return }
        try self.change()
        self.pass(0...1.5)
    }

    private func restart(by signal: MonitorProcess.Signal) throws {
        let unknownSince = try self.end(signal)
        try self.changeMaybe()
        try self.start(unknownSince: unknownSince)
    }

    /// The service is killed, its last lines are lost, and another boot begins, maybe with a clock that is wrong.
    private func cutPower() throws {
        try self.toggle()
        try self.write()
        try self.toggle()
        var unknownSince = try self.end(.kill)
        if self.happens(oneIn: 2), let before = self.events.dropLast().last {
            unknownSince = min(unknownSince, before.begin)
            let cut = Int(self.random(1...120))
            try self.place.lab.run("for last in \(self.disk)/*.jsonl; do :; done; truncate -s -\(cut) $last")
        }
        let boot = "\(self.place.lab.directory)/boot"
        try self.place.lab.run("cat /proc/sys/kernel/random/uuid >\(boot)")
        if !self.hasOtherBoots { try self.place.lab.run("mount --bind \(boot) /proc/sys/kernel/random/boot_id") }
        self.hasOtherBoots = true
        try self.changeMaybe()
        if self.happens(oneIn: 2) { try self.clock.set(.seconds(Int(self.random(-30_000_000 ... -10)))) }
        try self.start(unknownSince: unknownSince)
        self.pass(0.1...1)
        try self.mendClock()
    }

    /// The clock is right again, and the service has written something by it.
    private func mendClock() throws {
        try self.clock.set(.zero)
        try self.toggle()
        try self.write()
    }

    private func setClock() throws {
        for _ in 0..<Int.random(in: 1...2, using: &self.generator) {
            try self.clock.set(.seconds(Int(self.random(-40_000...40_000))))
            try self.toggle()
            self.pass(0.1...1.5)
        }
        try self.mendClock()
    }

    private func fillDisk() throws {
        let unknownSince = self.certain.begin
        try self.place.lab.run("dd if=/dev/zero of=\(self.disk)/rest bs=4k 2>/dev/null || true")
        self.isDiskFull = true
        for _ in 0..<Int.random(in: 1...3, using: &self.generator) {
            try self.toggle()
            self.pass(0.1...2)
        }
        if self.happens(oneIn: 3) { try self.restart(by: .kill) }
        try self.write()
        try self.place.lab.run("rm \(self.disk)/rest")
        if self.happens(oneIn: 2) { try self.toggle() }
        try self.await("recording again") { text in
            let words = ["missing in the recording", "nothing is recorded until that works", "the recording goes on"]
            let last = words.compactMap { word in
                text.range(of: word, options: .backwards).map { ($0.lowerBound, word) }
            }.max { $0.0 < $1.0 }
            return last == nil || last?.1 == words[2]
        }
        self.isDiskFull = false
        self.log.excuse(OutageLog.Span(begin: unknownSince, end: Self.now()))
        try self.toggle()
    }

    /// What happens meanwhile is told when the process goes on.
    private func standStill() throws {
        self.service?.sendSignal(.suspend)
        self.pass(0...1.5)
        let changes = self.happens(oneIn: 2)
        if changes { try self.change() }
        self.pass(0...1)
        self.service?.sendSignal(.resume)
        guard changes else { return }
        try self.settle()
        self.log.prolong(until: Self.now())
    }

    // MARK: The service

    private func start(unknownSince: Double) throws {
        self.service = try self.place.lab.start(
            Watched.program,
            ["run", "--set", "logging.level=info"],
            environment: self.place.environment.merging(self.clock.environment) { $1 }
        )
        let begin = Self.now()
        try self.settle()
        self.log.excuse(OutageLog.Span(begin: unknownSince, end: Self.now()))
        if !self.isDiskFull { self.events.append(OutageLog.Span(begin: begin, end: Self.now())) }
    }

    /// Ends the service; returns from when on nothing may be known.
    private func end(_ signal: MonitorProcess.Signal) throws -> Double {
        let certain = self.certain
        try self.service?.stop(signal: signal)
        self.service = nil
        return signal == .kill || self.isDiskFull ? certain.begin : Self.now()
    }

    /// The last event that is written whatever happens: they are after a tenth of a second, on a machine that is not busy.
    private var certain: OutageLog.Span {
        let now = Self.now()
        return self.events.last { $0.end < now - 2 } ?? OutageLog.Span(begin: 0, end: 0)
    }

    /// Waits until the service says what is.
    private func settle() throws {
        try self.await(self.isUp ? "satisfied" : "unsatisfied") { text in
            let last = text.split(separator: "\n").last {
                $0.hasPrefix("netpath: satisfied") || $0.hasPrefix("netpath: unsatisfied")
            }
            return last.map { $0.hasPrefix("netpath: satisfied") == self.isUp } ?? false
        }
    }

    private func await(_ what: String, _ isThere: (String) -> Bool) throws {
        guard let service = self.service else { return }
        let deadline = ContinuousClock.now + .seconds(60)
        while !isThere(service.standardError) {
            try #require(ContinuousClock.now < deadline, "not \(what): \(service.standardError.suffix(2_000))")
            usleep(2_000)
        }
    }

    // MARK: The comparison

    /// Has the service write everything; returns its history.
    @discardableResult
    private func write() throws -> JSONValue {
        let words = try self.place.command("history --json --since 30d", self.clock.environment)
        return try JSONValue(json: self.place.lab.run("\(words) 2>/dev/null"))
    }

    /// What is wrong with the history.
    func faults() throws -> [String] {
        if !self.isUp { try self.toggle() }
        let claims = try OutageLog.Claim.claims(of: self.write())
        self.told = self.log.told(in: claims)
        return self.log.faults(of: claims, until: Self.now())
    }

    /// Stops the service, and says what is wrong with the history that it leaves.
    func finish() throws -> [String] {
        let end = try self.end(.terminate)
        self.log.excuse(OutageLog.Span(begin: end, end: .infinity))
        return try self.faults()
    }
}
