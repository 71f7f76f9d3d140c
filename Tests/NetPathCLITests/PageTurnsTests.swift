// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

/// Whose page of history a service makes next, and how much of a processor all of them get.
@Suite struct PageTurnsTests {
    private let pages = ServicePages { ([], nil) }

    private func job(_ client: UInt64, user: UInt32, isTrusted: Bool = false) -> PageTurns.Job {
        PageTurns.Job(client: client, peer: ServiceSocket.Peer(user: user, isTrusted: isTrusted), pages: self.pages)
    }

    /// Makes pages for as long as the clock goes, each client asking again at once; returns the time that each user got.
    private func run(
        _ turns: inout PageTurns,
        clients: [PageTurns.Job],
        page cost: Duration,
        from start: MonotonicTime,
        for time: Duration
    ) -> [UInt32: Duration] {
        for client in clients { turns.add(client) }
        var taken: [UInt32: Duration] = [:]
        var now = start
        while now < start + time {
            switch turns.next(now: now) {
            case .make(let job):
                taken[job.peer.user, default: .zero] += cost
                now = now + cost
                turns.charge(job.peer, cost)
                turns.add(job)
            case .wait(let pause):
                #expect(pause > .zero)
                now = now + pause
            case .end: return taken
            }
        }
        for client in clients { turns.forget(client.client) }
        return taken
    }

    @Test func allUsersTogetherGetATenth() {
        var turns = PageTurns(limit: .seconds(10))
        let clients = (0..<100).map { self.job($0, user: UInt32($0)) }
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        let taken = self.run(&turns, clients: clients, page: .milliseconds(4), from: start, for: .seconds(60))
        let sum = taken.values.reduce(.zero, +)
        // 10 s at once, and a tenth of the time.
        #expect(sum > .milliseconds(15_900) && sum < .milliseconds(16_100))
        #expect(taken.count == 100)
        #expect(taken.values.allSatisfy { $0 >= .milliseconds(152) && $0 <= .milliseconds(168) })
    }

    @Test func manyClientsOfAUserGetWhatOneGets() {
        var turns = PageTurns(limit: .seconds(10))
        let clients = (0..<129).map { self.job($0, user: $0 < 64 ? 1 : $0 < 128 ? 2 : 3) }
        let start = MonotonicTime(nanoseconds: 0)
        let taken = self.run(&turns, clients: clients, page: .milliseconds(5), from: start, for: .seconds(50))
        for user in [UInt32(1), 2, 3] {
            let time = taken[user, default: .zero]
            #expect(time > .milliseconds(4_960) && time < .milliseconds(5_040), "\(user): \(time)")
        }
    }

    @Test func thoseThatLookAfterTheServiceDoNotWaitForTheOthers() throws {
        var turns = PageTurns(limit: .seconds(10))
        let start = MonotonicTime(nanoseconds: 0)
        turns.add(self.job(1, user: 1))
        let firstStep = turns.next(now: start)
        let first = try #require(firstStep.job)
        turns.charge(first.peer, .seconds(12))
        turns.add(first)
        let pauseStep = turns.next(now: start)
        let pause = try #require(pauseStep.pause)
        #expect(pause == .seconds(20))
        turns.add(self.job(2, user: 0, isTrusted: true))
        let secondStep = turns.next(now: start)
        let second = try #require(secondStep.job)
        #expect(second.client == 2)
        turns.charge(second.peer, .seconds(11))
        turns.add(second)
        // Nor do they get more.
        let shorterStep = turns.next(now: start)
        let shorter = try #require(shorterStep.pause)
        #expect(shorter == .seconds(10))
        turns.forget(2)
        let lastStep = turns.next(now: start + pause)
        let last = try #require(lastStep.job)
        #expect(last.client == 1)
        let step = turns.next(now: start + pause)
        #expect(step.job == nil && step.pause == nil)
    }
}

extension PageTurns.Step {
    fileprivate var job: PageTurns.Job? { if case .make(let job) = self { job } else { nil } }

    fileprivate var pause: Duration? { if case .wait(let pause) = self { pause } else { nil } }
}
