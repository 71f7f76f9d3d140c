// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

extension ClockReading {
    /// Reads both clocks of the machine.
    static func now() -> ClockReading {
        ClockReading(monotonic: .now(), wall: WallTime(nanoseconds: nanosecondsOn(CLOCK_REALTIME)))
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

extension MonotonicTime {
    /// Reads the clock of ``SystemMonotonicClock``, at a tenth of the cost of Swift's durations.
    static func now() -> MonotonicTime { MonotonicTime(nanoseconds: nanosecondsOn(CLOCK_MONOTONIC)) }
}

private func nanosecondsOn(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
