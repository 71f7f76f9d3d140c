// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

/// Random lives of a machine: what must be true of it always.
struct DeliveryWalkTests {
    private static let settings = QueueSettings.with { ($0.concurrency, $0.perHostConcurrency) = (5, 2) }
    private static let gates = ["a.net", "b.net", "c.net"].flatMap { host in
        [
            Gate(host: host), Gate(host: host, requires: PathRequirements(unmeteredOnly: true)),
            Gate(host: host, requires: PathRequirements(interfaceType: .ethernet)),
        ]
    }

    /// A walk, and what the test knows of it itself.
    private struct Walk {
        var lab: MachineLab
        var generator: SeededGenerator
        var running: [(request: RetryableRequest, gate: Gate, since: MonotonicTime)] = []
        var facts: PathFacts?

        init(seed: UInt64) {
            self.lab = MachineLab(DeliveryWalkTests.settings, seed: seed &+ 1)
            self.generator = SeededGenerator(seed: seed)
        }

        mutating func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.generator) }

        mutating func step() {
            switch self.random(0..<12) {
            case 0: self.setPath(isSatisfied: false)
            case 1, 2: self.setPath(isSatisfied: true)
            case 3:
                let unknown = PathFacts(isSatisfied: true, isKnown: false)
                self.facts = self.facts ?? unknown
                self.lab.machine.path(unknown, at: self.lab.now)
            case 4:
                if self.random(0..<4) == 0 {
                    self.lab.machine.isPaused = true
                } else {
                    self.lab.machine.isPaused = false
                }
            case 5: if self.random(0..<8) == 0 { self.lab.machine.force() }
            case 6:
                if let wake = self.lab.machine.nextWake(after: self.lab.now, for: DeliveryWalkTests.gates) {
                    self.lab.advance(to: wake)
                }
            case 7: self.lab.advance(.milliseconds(self.random(0..<3_000)))
            case 8: self.lab.now.wall += Double(self.random(-1_000_000..<1_000_000))
            case 9, 10: self.start()
            default: self.finish()
            }
        }

        mutating func setPath(isSatisfied: Bool) {
            let facts = PathFacts(
                isSatisfied: isSatisfied,
                reason: "no carrier",
                isExpensive: self.random(0..<2) == 0,
                over: self.random(0..<2) == 0 ? .wired : .wifi
            )
            self.facts = facts
            self.lab.machine.path(facts, at: self.lab.now)
        }

        /// Starts all that may be started, as the queue does.
        mutating func start() {
            for gate in DeliveryWalkTests.gates.shuffled(using: &self.generator) {
                while self.lab.machine.waiting(for: gate, at: self.lab.now) == nil {
                    #expect(self.lab.machine.slots(at: self.lab.now) > 0)
                    let request = post(gate.host)
                    self.lab.machine.started(request.id, gate: gate, at: self.lab.now)
                    self.running.append((request, gate, self.lab.now.monotonic))
                    self.check()
                }
            }
        }

        mutating func finish() {
            guard !self.running.isEmpty else { return }
            let (request, _, _) = self.running.remove(at: self.random(0..<self.running.count))
            let results: [Result<TransportResponse, TransportError>] = [
                .status(200), .status(404), .status(503), .status(429, ["Retry-After": "7"]), .notSent, .lost,
                .error(.cancelled, .notSent), .error(.timedOut, .answered(status: 200)),
            ]
            let result = results[self.random(0..<results.count)]
            if self.random(0..<10) == 0 {
                self.lab.machine.dropped(request.id)
                return
            }
            switch self.lab.finish(request, result) {
            case .retry(let after, let counts): #expect(after >= .zero && after <= .seconds(300) && counts)
            case .succeeded, .waitForPath, .hold, .dead: ()
            }
        }

        func check() {
            let now = self.lab.now
            let machine = self.lab.machine
            func taken(_ starts: [MonotonicTime], _ shares: DeliveryMachine.Shares) -> Int {
                starts.reduce(0) { $0 + shares.share(after: now.monotonic - $1) }
            }
            let whole = DeliveryMachine.Shares.whole
            let ofQueue = taken(self.running.map { $0.since }, .ofQueue)
            #expect(ofQueue <= 5 * whole)
            #expect((0...5 * whole).contains(machine.slots(at: now) * whole + ofQueue))
            for host in Set(self.running.map(\.gate.host)) {
                let starts = self.running.filter { $0.gate.host == host }.map { $0.since }
                #expect(taken(starts, .ofHost) <= DeliveryWalkTests.settings.perHostConcurrency * whole)
            }
            let isShut = machine.isPaused || self.facts?.isSatisfied != true
            if isShut { #expect(machine.slots(at: now) == 0) }
            for gate in DeliveryWalkTests.gates {
                let wake = machine.nextWake(after: now, for: [gate])
                if isShut { #expect(wake == nil) }
                if let wake { #expect(wake > now.monotonic && wake <= now.monotonic + .seconds(300)) }
                let waiting = machine.waiting(for: gate, at: now)
                switch waiting {
                case nil: #expect(!isShut && wake == nil && self.facts?.lacks(gate) == nil)
                case .hostPaused: #expect(wake != nil)
                case .concurrency: #expect(wake != nil || !self.running.isEmpty)
                case .reconnecting: #expect(wake != nil || !self.running.isEmpty)
                default: #expect(wake == nil)
                }
            }
        }

        /// Whatever happened, a gate that is open is passed before long: nobody has to restart anything.
        mutating func expectProgress() {
            self.lab.machine.isPaused = false
            self.lab.machine.path(PathFacts(isSatisfied: true, over: .wired), at: self.lab.now)
            while !self.running.isEmpty { self.finish() }
            for gate in DeliveryWalkTests.gates {
                if self.lab.machine.waiting(for: gate, at: self.lab.now) != nil {
                    guard let wake = self.lab.machine.nextWake(after: self.lab.now, for: [gate]) else {
                        Issue.record("\(gate) is shut for ever")
                        return
                    }
                    self.lab.advance(to: wake)
                }
                #expect(self.lab.machine.waiting(for: gate, at: self.lab.now) == nil)
            }
        }
    }

    @Test(arguments: UInt64(0)..<60)
    func whateverHappens(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<400 {
            walk.step()
            walk.check()
        }
        walk.expectProgress()
    }

    /// A queue that waits for time looks once for each step of it, not in a circle.
    @Test(arguments: UInt64(0)..<20)
    func everyWakeIsForSomething(seed: UInt64) throws {
        var walk = Walk(seed: seed)
        walk.setPath(isSatisfied: false)
        walk.setPath(isSatisfied: true)
        var idle = 0
        for _ in 0..<200 {
            let before = walk.running.count
            walk.start()
            idle = walk.running.count == before ? idle + 1 : 0
            #expect(idle <= 1, "seed \(seed)")
            if let wake = walk.lab.machine.nextWake(after: walk.lab.now, for: Self.gates) {
                walk.lab.advance(to: wake)
            } else if walk.running.isEmpty {
                break
            }
            if walk.random(0..<2) == 0 || walk.lab.machine.nextWake(after: walk.lab.now, for: Self.gates) == nil {
                let failing = walk.running
                walk.running = []
                for (request, _, _) in failing { _ = walk.lab.finish(request, .notSent) }
                idle = 0
            }
        }
    }
}
