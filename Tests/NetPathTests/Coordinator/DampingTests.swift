// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

@Suite struct DampingTests {
    private let online = Evidence.online(.wired("eth0", 2).with("192.0.2.7/24"))
    private let moved = Evidence.online(.wired("eth1", 3).with("198.51.100.7/24"))

    private func harness(gain: Int = 0, loss: Int = 0, maxWait: Int = 1_000) -> CoordinatorHarness {
        let damping = Damping(
            gain: .milliseconds(gain),
            loss: .milliseconds(loss),
            maxWait: .milliseconds(maxWait)
        )
        var harness = CoordinatorHarness(modes: [.active], settings: CoordinatorSettings(damping: damping))
        harness.start()
        return harness
    }

    @Test func theFirstPathIsNeverHeldBack() {
        var harness = self.harness(gain: 500, loss: 500)
        harness.report(0, .noLink)
        #expect(harness.published.count == 1)
    }

    @Test func aLossHasToHold() {
        var harness = self.harness(loss: 300)
        harness.report(0, self.online)
        harness.report(0, .noLink)
        #expect(harness.machine.nextDeadline == harness.now + .milliseconds(300))
        harness.advance(by: .milliseconds(299))
        #expect(harness.path?.status == .satisfied)
        harness.advance(by: .milliseconds(1))
        #expect(harness.path?.status == .unsatisfied)
        #expect(harness.machine.nextDeadline == nil)
        harness.report(0, self.online)
        #expect(harness.path?.status == .satisfied, "a gain does not")
    }

    @Test func aGainHasToHold() {
        var harness = self.harness(gain: 300)
        harness.report(0, .noLink)
        harness.report(0, self.online)
        harness.advance(by: .milliseconds(299))
        #expect(harness.path?.status == .unsatisfied)
        harness.advance(by: .milliseconds(1))
        #expect(harness.path?.status == .satisfied)
        harness.report(0, .noLink)
        #expect(harness.path?.status == .unsatisfied)
    }

    /// The default of one setting does not cut another that is set.
    @Test func whatHasToHoldHoldsWhateverTheLongestWait() {
        for damping in [Damping(gain: .seconds(5), loss: .seconds(3)), Damping(loss: .seconds(3), maxWait: .zero)] {
            var harness = CoordinatorHarness(modes: [.active], settings: CoordinatorSettings(damping: damping))
            harness.start()
            harness.report(0, self.online)
            harness.report(0, .noLink)
            harness.advance(by: .milliseconds(2999))
            #expect(harness.path?.status == .satisfied)
            harness.advance(by: .milliseconds(1))
            #expect(harness.path?.status == .unsatisfied)
        }
    }

    @Test func aShortLossIsNeverSeen() {
        var harness = self.harness(loss: 300)
        harness.report(0, self.online)
        harness.report(0, .noLink)
        harness.advance(by: .milliseconds(100))
        harness.report(0, self.online)
        #expect(harness.machine.nextDeadline == nil)
        harness.advance(by: .seconds(10))
        #expect(harness.published.count == 1)
    }

    @Test func detailsGoOutUnlessAStatusIsPending() {
        var harness = self.harness(loss: 300)
        harness.report(0, self.online)
        harness.report(0, self.moved)
        #expect(harness.published.count == 2)
        harness.report(0, .noLink)
        harness.report(0, .noLink.changed { $0.limitations = ["something"] })
        #expect(harness.published.count == 2)
        harness.report(0, self.online)
        #expect(harness.published.count == 3, "the status is the published one again")
    }

    /// A flap every 100 ms never holds 300 ms; the longest wait ends that.
    @Test func flappingIsPublishedAfterTheLongestWait() throws {
        var harness = self.harness(gain: 300, loss: 300, maxWait: 1_050)
        harness.report(0, self.online)
        for step in 0..<21 {
            harness.report(0, step.isMultiple(of: 2) ? .noLink : self.online)
            harness.advance(by: .milliseconds(100))
        }
        let lost = try #require(harness.published.first { $0.status == .unsatisfied })
        #expect(lost.publishedAt == CoordinatorHarness.origin + .milliseconds(1_050))
        #expect(harness.published.count <= 3)
    }

    @Test func aLongerFlapEndsInWhatHolds() {
        var harness = self.harness(gain: 300, loss: 300, maxWait: 60_000)
        harness.report(0, self.online)
        for step in 0..<100 {
            harness.report(0, step.isMultiple(of: 2) ? .noLink : self.online)
            harness.advance(by: .milliseconds(100))
        }
        #expect(harness.published.count == 1)
        harness.report(0, .noLink)
        harness.advance(by: .milliseconds(300))
        #expect(harness.path?.status == .unsatisfied)
    }

    /// Whatever the flapping, a status is published at most `maxWait` after it began to differ.
    @Test(arguments: 0..<50)
    func noChangeWaitsLongerThanTheLongestWait(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let damping = Damping(
            gain: .milliseconds(Int.random(in: 0...400, using: &generator)),
            loss: .milliseconds(Int.random(in: 0...400, using: &generator)),
            maxWait: .milliseconds(Int.random(in: 400...1_000, using: &generator))
        )
        var damper = Damper()
        var now = CoordinatorHarness.origin
        var published: PathStatus?
        var differsSince: MonotonicTime?
        var status = PathStatus.satisfied
        for _ in 0..<1_000 {
            if let deadline = damper.deadline, Bool.random(using: &generator) {
                now = max(now, deadline)
            } else {
                status = PathStatus.allCases[Int.random(in: 0..<3, using: &generator)]
            }
            let mayGoOut = damper.admits(status, published: published, damping: damping, now: now)
            if mayGoOut { published = status }
            differsSince = status == published ? nil : differsSince ?? now
            if let differsSince { #expect(now - differsSince < damping.maxWait, "seed \(seed)") }
            #expect(mayGoOut == (status == published), "seed \(seed)")
            #expect((damper.deadline == nil) == mayGoOut, "what is held back has a deadline; seed \(seed)")
            if let deadline = damper.deadline { #expect(deadline > now, "seed \(seed)") }
            let step = Duration.milliseconds(Int.random(in: 0...50, using: &generator))
            now = damper.deadline.map { min($0, now + step) } ?? now + step
        }
    }
}
