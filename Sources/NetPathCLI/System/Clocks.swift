// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

extension ClockReading {
    /// Reads both clocks of the machine.
    static func now() -> ClockReading {
        var wall = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &wall)
        let nanoseconds = Int64(wall.tv_sec) * 1_000_000_000 + Int64(wall.tv_nsec)
        return ClockReading(monotonic: SystemMonotonicClock().now(), wall: WallTime(nanoseconds: nanoseconds))
    }
}

extension WallTime {
    /// The time as the machine's time zone has it.
    var local: CivilTime {
        var seconds = time_t(self.nanoseconds / 1_000_000_000)
        var broken = unsafe tm()
        let isKnown = unsafe localtime_r(&seconds, &broken) != nil
        return CivilTime(self, offsetSeconds: isKnown ? unsafe Int(broken.tm_gmtoff) : 0)
    }
}
