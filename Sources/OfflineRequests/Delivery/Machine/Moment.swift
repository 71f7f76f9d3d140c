// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathSystem

/// One moment on every clock of the machine.
///
/// Deadlines within a process are monotonic. The wall clock may jump at any time, and is only what people and other
/// processes can read; with the boot and the time since then ages can be told whatever happens to it.
struct Moment: Hashable, Sendable {
    var wall: Date
    /// Which boot of the machine this was; nil when the kernel does not tell.
    var bootID: String?
    /// Nanoseconds since that boot, time asleep included (CLOCK_BOOTTIME).
    var bootNanoseconds: Int64

    /// For deadlines within this process, which go on while the machine is suspended: what falls due meanwhile is done
    /// after the resume.
    var monotonic: MonotonicTime { MonotonicTime(nanoseconds: self.bootNanoseconds) }

    /// What the wall clock shows at a deadline, if it is not set before.
    func wall(at deadline: MonotonicTime) -> Date {
        self.wall.addingTimeInterval((deadline - self.monotonic) / .seconds(1))
    }

    private static let thisBoot = SystemClock.boot

    static func now() -> Moment {
        // ContinuousClock is CLOCK_BOOTTIME on Linux.
        let clock = ContinuousClock()
        let sinceBoot = clock.systemEpoch.duration(to: clock.now).inNanoseconds
        return Moment(wall: Date(), bootID: self.thisBoot, bootNanoseconds: sinceBoot)
    }
}
