// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import GRDB
import NetPath
import NetPathHTTP
import Testing

@testable import OfflineRequests

/// How hosts take turns, and what those get that fail or do not answer.
struct TurnTests {
    private func gates(_ hosts: [String]) -> [StoreGate] {
        hosts.enumerated().map { number, host in
            StoreGate(
                row: ["id": Gate(host: host).text, "priority": RequestPriority.normal.rawValue, "first": number + 1]
            )
        }
    }

    private func start(_ host: String, _ lab: inout MachineLab) -> RetryableRequest {
        let request = post(host)
        lab.machine.started(request.id, gate: Gate(request), at: lab.now)
        return request
    }

    @Test func hostsThatWorkGoFirstAndThoseThatFailLast() {
        var lab = MachineLab()
        lab.online()
        _ = lab.attempt(post("fails.net"), .status(503))
        _ = lab.attempt(post("works.net"), .status(404))
        let turns = lab.machine.inTurn(self.gates(["fails.net", "a.net", "b.net", "c.net", "works.net"]), at: lab.now)
        // None that fails is being tried.
        #expect(turns.map(\.gate.host) == ["works.net", "fails.net", "a.net", "c.net", "b.net"])
        _ = lab.attempt(post("other.net"), .status(503))
        _ = self.start("other.net", &lab)
        let others = lab.machine.inTurn(self.gates(["fails.net", "a.net", "b.net", "c.net", "works.net"]), at: lab.now)
        #expect(others.map(\.gate.host) == ["works.net", "a.net", "c.net", "b.net", "fails.net"])
        _ = lab.attempt(post("works.net"), .lost)
        let later = lab.machine.inTurn(self.gates(["fails.net", "works.net", "a.net"]), at: lab.now)
        #expect(later.map(\.gate.host) == ["a.net", "fails.net", "works.net"])
    }

    /// A host that is slow to take connections gets its whole time at the second attempt.
    @Test func onlyTheFirstConnectionIsShortAndOnlyWhileOthersWait() {
        var lab = MachineLab(QueueSettings.with { $0.concurrency = 4 })
        lab.online()
        _ = lab.attempt(post("works.net"), .status(404))
        _ = lab.attempt(post("fails.net"), .lost)
        func limit(_ host: String, _ gates: Int) -> Duration? {
            let request = self.start(host, &lab)
            defer { lab.machine.dropped(request.id) }
            return lab.machine.connectionLimit(of: request.id, besideGates: gates)
        }
        #expect(limit("new.net", 5) == .seconds(3))
        #expect(limit("new.net", 4) == nil)
        #expect(limit("works.net", 5) == nil && limit("fails.net", 5) == nil)
    }

    @Test func noLimitIsManyPlaces() {
        var lab = MachineLab(QueueSettings.with { ($0.concurrency, $0.perHostConcurrency) = (.max, .max) })
        lab.online()
        for _ in 0..<100 { _ = self.start("e.net", &lab) }
        #expect(lab.waiting(post()) == nil)
        #expect(lab.machine.slots(at: lab.now) > 1_000)
        #expect(lab.machine.places(of: "e.net", at: lab.now) > 1_000)
    }

    @Test func hostsTakeTurnsInOneChoice() {
        var lab = MachineLab(QueueSettings.with { $0.concurrency = 4 })
        lab.online()
        let heads = ["a.net", "b.net", "c.net"].enumerated().map { place, host in
            (0..<4).map { RequestRecord(request: post(host), state: .ready, sequence: Int64(place * 4 + $0)) }
        }
        let chosen = lab.machine.choose(4, of: heads, at: lab.now).map(\.request.host)
        #expect(chosen == ["a.net", "b.net", "c.net"], "the last place is for a host that has none")
        #expect(lab.machine.slots(at: lab.now) == 1)
    }

    @Test func whatADamagedFileHasTwiceGoesOnce() {
        var lab = MachineLab()
        lab.online()
        let record = RequestRecord(request: post("a.net"), state: .ready, sequence: 1)
        #expect(lab.machine.choose(4, of: [[record, record], [record]], at: lab.now) == [record])
        #expect(lab.machine.choose(4, of: [[record]], at: lab.now).isEmpty)
    }

    @Test func hostsThatFailShareAQuarterOfThePlaces() {
        var lab = MachineLab()
        lab.online()
        for number in 0..<8 { _ = lab.attempt(post("f\(number).net"), .status(503)) }
        var started = 0
        for number in 0..<8 where lab.waiting(post("f\(number).net")) == nil {
            _ = self.start("f\(number).net", &lab)
            started += 1
            #expect(lab.waiting(post("f\(number).net")) == .concurrency, "one at a time")
        }
        #expect(started == 4)
        #expect(lab.waiting(post("other.net")) == nil)
        #expect(lab.machine.slots(at: lab.now) == 12)
    }

    /// They do not keep others waiting for as long as time-outs last.
    @Test func whatHasRunForLongTakesAQuarterOfAPlace() throws {
        var lab = MachineLab()
        lab.online()
        for number in 0..<16 { _ = self.start("silent\(number).net", &lab) }
        #expect(lab.waiting(post()) == .concurrency)
        lab.advance(to: try #require(lab.wake(post())))
        #expect(lab.machine.slots(at: lab.now) == 12)
        #expect(lab.waiting(post()) == nil)
        // The limit of a host holds for longer.
        for _ in 0..<3 { _ = self.start("silent0.net", &lab) }
        lab.advance(.seconds(5))
        #expect(lab.waiting(post("silent0.net")) == .concurrency)
    }

    @Test func oneAtATimeStaysOne() {
        var lab = MachineLab(QueueSettings.with { $0.concurrency = 1 })
        lab.online()
        _ = self.start("silent.net", &lab)
        lab.advance(.seconds(100))
        #expect(lab.waiting(post()) == .concurrency)
        #expect(lab.wake(post()) == nil)
    }

    /// An answer that refuses one request says little of the others, and yet a host that answers nothing else is not
    /// asked in a circle.
    @Test(arguments: [500, 502, 504])
    func aFailureOfOneRequestDoesNotPauseItsHostForLong(_ status: Int) throws {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<30 {
            if lab.waiting(post()) != nil {
                let wake = try #require(lab.wake(post()))
                #expect(wake - lab.now.monotonic <= .seconds(1))
                lab.advance(to: wake)
            }
            _ = lab.attempt(post(), .status(status))
        }
        #expect(lab.waiting(post()) != nil)
        // One that was not reached, and answers so, is reached.
        var other = MachineLab()
        other.online()
        for _ in 0..<6 {
            if let wake = other.wake(post()) { other.advance(to: wake) }
            _ = other.attempt(post(), .notSent)
        }
        other.advance(to: try #require(other.wake(post())))
        _ = other.attempt(post(), .status(status))
        let rest = try #require(other.wake(post())) - other.now.monotonic
        #expect(rest <= .seconds(1))
    }

    /// A host that fails is probed with the oldest and the newest of its requests in turns.
    @Test func probesAlternate() {
        var lab = MachineLab()
        lab.online()
        _ = lab.attempt(post(), .status(500))
        let orders = (0..<4).map { _ in
            let order = lab.machine.order(of: "e.net")
            _ = lab.attempt(post(), .status(500))
            return order
        }
        #expect(orders == [.newest, .oldest, .newest, .oldest])
        let others = (0..<100).map { _ in lab.machine.order(of: "other.net") }
        #expect((10...45).contains(others.count { $0 == .mostTried }))
        #expect(!others.contains(.newest))
    }

    /// What it costs to try many hosts that refuse grows with their number, and so does the time between two turns.
    @Test func manyHostsThatRefuseArePaced() throws {
        var lab = MachineLab(.with { ($0.baseBackoff, $0.maxBackoff) = (.milliseconds(1), .milliseconds(1)) })
        lab.online()
        let hosts = (0..<900).map { "h\($0).net" }
        for host in hosts { _ = lab.attempt(post(host), .notSent) }
        lab.advance(.seconds(1))
        var attempts = 0
        let start = lab.now.monotonic
        while lab.now.monotonic - start < .seconds(60) {
            for gate in lab.machine.inTurn(self.gates(hosts), at: lab.now)
            where lab.machine.waiting(for: gate.gate, at: lab.now) == nil {
                let request = self.start(gate.gate.host, &lab)
                _ = lab.finish(request, .notSent)
                attempts += 1
                if attempts % 4 == 0 { break }
            }
            let wake = lab.machine.nextWake(after: lab.now, for: hosts.map { Gate(host: $0) })
            lab.advance(to: try #require(wake))
        }
        #expect(attempts <= 4 * 70, "\(attempts) in a minute")
        #expect(lab.machine.hosts.count == 900)
    }
}
