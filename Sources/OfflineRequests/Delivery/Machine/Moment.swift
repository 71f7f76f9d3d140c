// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// One moment on every clock that delivery reads.
///
/// Deadlines within a process are monotonic; the wall clock may jump at any time, and is only what people and other
/// processes can read.
struct Moment: Hashable, Sendable {
    /// For deadlines within this process.
    var monotonic: MonotonicTime
    /// For ages, and for what is written down.
    var stamp: ClockStamp

    /// The wall clock.
    var wall: Date { self.stamp.wall }

    /// What the wall clock shows at a deadline, if nobody sets it before.
    func wall(at deadline: MonotonicTime) -> Date {
        self.wall.addingTimeInterval((deadline - self.monotonic) / .seconds(1))
    }
}

extension Moment {
    /// Reads the clocks.
    ///
    /// Deadlines of a queue go on while the machine is suspended: what falls due meanwhile is done after the resume.
    static func ofQueue() -> Moment {
        let stamp = ClockStamp.now()
        return Moment(monotonic: MonotonicTime(nanoseconds: stamp.bootNanoseconds), stamp: stamp)
    }
}

extension MonotonicTime {
    /// The present moment on the clock that a queue goes by, CLOCK_BOOTTIME.
    static var ofQueue: MonotonicTime { MonotonicTime(nanoseconds: ClockStamp.nanosecondsSinceBoot()) }
}

/// What the clocks show, so that ages can be told whatever happens to the one on the wall.
struct ClockStamp: Hashable, Sendable {
    /// The wall clock.
    var wall: Date
    /// Which boot of the machine this was; nil when the kernel does not tell.
    var bootID: String?
    /// Nanoseconds since that boot, time asleep included (CLOCK_BOOTTIME).
    var bootNanoseconds: Int64

    private static let thisBoot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .ascii))
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Reads the clocks of the machine.
    static func now() -> ClockStamp {
        ClockStamp(wall: Date(), bootID: self.thisBoot, bootNanoseconds: self.nanosecondsSinceBoot())
    }

    fileprivate static func nanosecondsSinceBoot() -> Int64 {
        // ContinuousClock is CLOCK_BOOTTIME on Linux.
        let clock = ContinuousClock()
        return clock.systemEpoch.duration(to: clock.now).inNanoseconds
    }
}
