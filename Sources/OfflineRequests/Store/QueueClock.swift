// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// The clock that deadlines in the queue are kept in: milliseconds that never go backwards or jump.
///
/// Within one run of the system it follows the time since the start; from one run to the next it goes on by what the
/// wall clock says has passed, and stands still where that clock says nothing of use. So a wall clock that jumps
/// neither expires a request nor keeps it waiting.
struct QueueClock: Hashable, Sendable, Codable, FetchableRecord {
    /// The run of the system that the offset belongs to.
    var boot: String
    /// What is added to the time since the start of the system, in milliseconds.
    var offset: Int64
    /// What the wall clock showed at ``anchor``, in milliseconds since 1970.
    var anchorWall: Int64
    /// The time of this clock at which the wall clock was looked at.
    var anchor: Int64

    /// 2024: a wall clock before it was never set.
    private static let earliestWall: Int64 = 1_704_067_200_000
    /// How far the wall clock may drift before it is looked at anew.
    private static let tolerance: Int64 = 60_000

    /// Starts the clock of a new queue.
    init(at stamp: ClockStamp) {
        self.boot = stamp.bootID ?? ""
        let wall = Self.milliseconds(stamp.wall)
        self.offset = wall - stamp.bootNanoseconds / 1_000_000
        self.anchorWall = wall
        self.anchor = wall
    }

    /// The time of this clock.
    func now(_ stamp: ClockStamp) -> Int64 { self.offset &+ stamp.bootNanoseconds / 1_000_000 }

    /// Goes on after the system was started anew or the wall clock was set.
    mutating func advance(to stamp: ClockStamp, latest: Int64) {
        let wall = Self.milliseconds(stamp.wall)
        if stamp.bootID ?? "" != self.boot {
            let isKnown = wall >= Self.earliestWall && self.anchorWall >= Self.earliestWall
            let passed = isKnown ? max(0, wall &- self.anchorWall) : 0
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
    func wall(_ time: Int64, at stamp: ClockStamp) -> Date {
        stamp.wall.addingTimeInterval(Double(time &- self.now(stamp)) / 1000)
    }

    static func milliseconds(_ date: Date) -> Int64 {
        // Beyond any calendar a conversion would trap.
        Int64(max(-1e15, min(1e15, date.timeIntervalSince1970 * 1000)))
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        let parts = duration.components
        guard abs(parts.seconds) < 1_000_000_000_000 else { return parts.seconds < 0 ? -1 << 50 : 1 << 50 }
        return parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
