// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPathCurl

@Suite struct StallWatchTests {
    private let start = ContinuousClock.now

    /// When a watch with a limit of 4 s says that nothing moves, looked at whenever it asks for it.
    private func stall(rate: Int = 0, _ moved: (Int) -> StallWatch.Moved?) -> Duration? {
        var watch = StallWatch(limit: .seconds(4), rate: rate, now: self.start)
        for look in 0..<100 {
            let now = watch.nextLook
            if watch.isStalled(moved(look), at: now) { return now - self.start }
        }
        return nil
    }

    @Test func nothingAtAllIsAStallAfterTheLimit() {
        #expect(self.stall { _ in StallWatch.Moved() } == .seconds(5))
        #expect(self.stall { StallWatch.Moved(sent: Int64(min($0, 3))) } == .seconds(8))
    }

    @Test func anyMovementIsNone() {
        #expect(self.stall { StallWatch.Moved(sent: Int64($0)) } == nil)
        #expect(self.stall { StallWatch.Moved(received: Int64($0)) } == nil)
        #expect(self.stall { StallWatch.Moved(unsent: Int32(1000 - $0)) } == nil, "the kernel still sends")
        #expect(self.stall { StallWatch.Moved(sent: Int64($0 / 3)) } == nil)
    }

    @Test func lessThanTheRateIsAStall() {
        // Looked at once a second.
        #expect(self.stall(rate: 10) { StallWatch.Moved(received: Int64($0) * 9) } == .seconds(5))
        #expect(self.stall(rate: 10) { StallWatch.Moved(received: Int64($0) * 10) } == nil)
        #expect(self.stall(rate: 10) { StallWatch.Moved(sent: 100_000, unsent: Int32(100_000 - $0 * 10)) } == nil)
        #expect(self.stall(rate: 10) { StallWatch.Moved(received: $0 < 3 ? 0 : 1_000) } == .seconds(8))
    }

    @Test func aConnectionThatIsNotMadeYetHasItsOwnLimit() {
        #expect(self.stall { _ in nil } == nil)
    }

    @Test func lookingEarlyChangesNothing() {
        var watch = StallWatch(limit: .seconds(4), rate: 0, now: self.start)
        #expect(watch.nextLook == self.start + .seconds(1))
        let isStalled = watch.isStalled(StallWatch.Moved(), at: self.start + .milliseconds(999))
        #expect(!isStalled)
        #expect(watch.nextLook == self.start + .seconds(1))
    }
}
