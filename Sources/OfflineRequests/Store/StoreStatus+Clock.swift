// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// The clock that deadlines in the queue are kept in: milliseconds that never go backwards or jump.
///
/// Within one run of the system it follows the time since the start; from one run to the next it goes on by what the
/// wall clock says has passed, and stands still where that clock says nothing of use. So a wall clock that jumps
/// neither expires a request nor keeps it waiting.
extension StoreStatus {
    /// 2024: a wall clock before it was never set.
    private static let earliestWall: Int64 = 1_704_067_200_000
    /// A year: a wall clock that has gone on by more while the system was off was wrong then, or is wrong now, as one that
    /// the network has not set yet may be.
    private static let longestOff: Int64 = 366 * 86_400_000
    /// How far the wall clock may drift before it is looked at anew.
    private static let tolerance: Int64 = 60_000

    /// The time of this clock.
    func now(_ stamp: Moment) -> Int64 { self.offset &+ stamp.bootNanoseconds / 1_000_000 }

    /// Goes on after the system was started anew or the wall clock was set.
    mutating func advance(to stamp: Moment, latest: Int64) {
        let wall = stamp.wall.inMilliseconds
        if stamp.bootID ?? "" != self.boot {
            let isKnown = wall >= Self.earliestWall && self.anchorWall >= Self.earliestWall
            let off = isKnown ? wall &- self.anchorWall : 0
            let passed = 0...Self.longestOff ~= off ? off : 0
            let now = max(latest, self.anchor &+ passed)
            self.boot = stamp.bootID ?? ""
            self.offset = now &- stamp.bootNanoseconds / 1_000_000
        } else if abs((wall &- self.anchorWall) &- (self.now(stamp) &- self.anchor)) <= Self.tolerance {
            return
        }
        self.anchor = self.now(stamp)
        self.anchorWall = wall
    }

    /// A time of this clock as the wall clock has it.
    func wall(_ time: Int64, at stamp: Moment) -> Date {
        stamp.wall.addingTimeInterval(Double(time &- self.now(stamp)) / 1000)
    }
}

extension Date {
    /// Milliseconds since 1970; beyond any calendar a conversion would trap.
    var inMilliseconds: Int64 { Int64(max(-1e15, min(1e15, self.timeIntervalSince1970 * 1000))) }
}

extension Duration {
    /// Whole milliseconds; saturates at 146 years.
    var inMilliseconds: Int64 { self.inNanoseconds / 1_000_000 }
}
