// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Testing

@testable import OfflineRequests

/// The circuit breaker of a host.
struct HostHealthTests {
    /// Sends one after the other, each as soon as it may go; says how long that took.
    private func endure(
        _ count: Int,
        _ result: Result<TransportResponse, TransportError>,
        _ lab: inout MachineLab
    ) throws -> Duration {
        let start = lab.now.monotonic
        for _ in 0..<count {
            if lab.waiting(post()) != nil { lab.advance(to: try #require(lab.wake(post()))) }
            try #require(lab.waiting(post()) == nil)
            _ = lab.attempt(post(maxRetries: .max), result)
        }
        return lab.now.monotonic - start
    }

    /// A host that refuses costs no attempts, and must all the same not be asked in a circle.
    @Test(arguments: UInt64(0)..<10)
    func whatDoesNotLeaveThisHostNeverSpins(seed: UInt64) throws {
        var lab = MachineLab(seed: seed)
        lab.online()
        // 0.5 + 1 + 2 + … + 128 + 9 · 150 seconds at least.
        #expect(try self.endure(20, .notSent, &lab) >= .seconds(1_500))
        // And never longer than the greatest wait apart.
        #expect(try self.endure(20, .notSent, &lab) <= .seconds(6_000))
    }

    /// What waited for them is delivered over others, expired or cancelled, which the machine does not hear.
    @Test func hostsThatFailedLongAgoAreForgotten() {
        var lab = MachineLab()
        lab.online()
        for number in 0..<1_000 {
            _ = lab.attempt(post("h\(number).example"), .notSent)
            lab.advance(.seconds(60))
        }
        #expect(lab.machine.hosts.count < 300)
        #expect(lab.machine.hosts["h999.example"] != nil)
    }

    @Test(arguments: [503, 500, 429])
    func fiveFailuresPauseAHost(_ status: Int) throws {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<4 { _ = lab.attempt(post(), .status(status)) }
        #expect(lab.waiting(post()) == nil)
        _ = lab.attempt(post(), .status(status))
        guard case .hostPaused("e.net", let until) = lab.waiting(post()) else {
            Issue.record("\(String(describing: lab.waiting(post())))")
            return
        }
        let wake = try #require(lab.wake(post()))
        #expect(abs(until.timeIntervalSince(lab.now.wall(at: wake))) < 0.001)
        // Others are not concerned.
        #expect(lab.waiting(post("other.net")) == nil)
        #expect(lab.machine.slots(at: lab.now) == 16)
    }

    @Test func timeoutsCountToo() {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<5 { _ = lab.attempt(post(), .error(.timedOut, .mayHaveBeenReceived)) }
        #expect(lab.waiting(post()) != nil)
    }

    @Test(arguments: [200, 404, 409, 401])
    func anAnswerOfAHostThatWorksStartsOver(_ status: Int) {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<3 {
            for _ in 0..<4 { _ = lab.attempt(post(), .status(503)) }
            _ = lab.attempt(post(), .status(status))
        }
        #expect(lab.waiting(post()) == nil)
    }

    @Test func afterAPauseOneFindsOutForAll() throws {
        var lab = MachineLab()
        lab.online()
        #expect(lab.attempt(post(), .notSent) == .waitForPath)
        lab.advance(to: try #require(lab.wake(post())))
        let probe = post()
        lab.machine.started(probe.id, gate: Gate(probe), at: lab.now)
        #expect(lab.waiting(post()) == .concurrency)
        #expect(lab.wake(post()) == nil)
        _ = lab.finish(probe, .status(200))
        for _ in 0..<4 {
            let request = post()
            #expect(lab.waiting(request) == nil)
            lab.machine.started(request.id, gate: Gate(request), at: lab.now)
        }
    }

    /// It was reached, and that was all: one that finds out has to be answered well.
    @Test func whoeverFindsOutAndFailsIsTheLastForAWhile() throws {
        var lab = MachineLab()
        lab.online()
        #expect(lab.attempt(post(), .notSent) == .waitForPath)
        lab.advance(to: try #require(lab.wake(post())))
        _ = lab.attempt(post(), .status(503))
        #expect(try #require(lab.wake(post())) - lab.now.monotonic >= .seconds(1))
    }

    /// A queue that has sent to many hosts remembers only those that failed.
    @Test func hostsThatWorkAreForgotten() {
        var lab = MachineLab()
        lab.online()
        for number in 0..<1_000 { _ = lab.attempt(post("h\(number).net"), .status(200)) }
        #expect(lab.machine.hosts.isEmpty)
        _ = lab.attempt(post(), .notSent)
        #expect(Array(lab.machine.hosts.keys) == ["e.net"])
        lab.machine.force()
        #expect(lab.machine.hosts.isEmpty)
    }

    @Test func oneHostIsForced() {
        var lab = MachineLab()
        lab.online()
        for name in ["a.net", "b.net"] { _ = lab.attempt(post(name), .notSent) }
        lab.machine.force(host: "a.net")
        #expect(Array(lab.machine.hosts.keys) == ["b.net"])
    }

    /// Four that fail together are one failure of the host, not four.
    @Test func whatWasUnderWayDoesNotLengthenAPause() throws {
        var lab = MachineLab()
        lab.online()
        let requests = (0..<4).map { _ in post() }
        for request in requests { lab.machine.started(request.id, gate: Gate(request), at: lab.now) }
        for request in requests { #expect(lab.finish(request, .notSent) == .waitForPath) }
        #expect(try #require(lab.wake(post())) - lab.now.monotonic <= .seconds(1))
    }

    @Test func aServerThatAsksForAPauseGetsIt() throws {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<5 { _ = lab.attempt(post(), .status(503, ["Retry-After": "100"])) }
        #expect(try #require(lab.wake(post())) - lab.now.monotonic == .seconds(100))
        // But one item does not stop all others for a day.
        var other = MachineLab()
        other.online()
        for _ in 0..<5 { _ = other.attempt(post(), .status(429, ["Retry-After": "86400"])) }
        #expect(try #require(other.wake(post())) - other.now.monotonic == .seconds(300))
    }

    @Test func withoutAPathNoHostIsBlamed() throws {
        var lab = MachineLab(.with(minimumOnline: .zero, reconnectJitter: .zero))
        lab.online()
        let requests = (0..<3).map { _ in post() }
        for request in requests { lab.machine.started(request.id, gate: Gate(request), at: lab.now) }
        // One fails before the monitor says why, two after that.
        _ = lab.finish(requests[0], .error(.unreachable, .notSent))
        lab.offline()
        _ = lab.finish(requests[1], .notSent)
        _ = lab.finish(requests[2], .lost)
        lab.online()
        #expect(lab.waiting(post()) == nil)
    }

    /// Cancelled because the path went away, or by somebody.
    @Test func whatWasCancelledBlamesNobody() {
        var lab = MachineLab()
        lab.online()
        for _ in 0..<10 { #expect(lab.attempt(post(), .error(.cancelled, .notSent)) == .waitForPath) }
        for _ in 0..<10 { _ = lab.attempt(post(), .error(.cancelled, .mayHaveBeenReceived)) }
        #expect(lab.waiting(post()) == nil)
    }

    /// A pause is monotonic: a clock that is set does not touch it.
    @Test(arguments: [-1e8, 1e8])
    func aClockThatJumpsMovesNoPause(_ jump: Double) throws {
        var lab = MachineLab()
        lab.online()
        _ = lab.attempt(post(), .notSent)
        let wake = try #require(lab.wake(post()))
        lab.now.wall += jump
        #expect(lab.wake(post()) == wake)
        lab.advance(to: wake)
        #expect(lab.waiting(post()) == nil)
    }
}
