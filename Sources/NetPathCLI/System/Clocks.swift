// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

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

    /// The moment that the machine's time zone shows so; nil when there is none.
    init?(local civil: CivilTime) {
        var broken = unsafe Self.broken(civil)
        // Whether it is summer time is for the zone to say.
        unsafe broken.tm_isdst = -1
        self.init(seconds: unsafe mktime(&broken), civil)
    }

    /// The latest moment up to another one that the machine's time zone shows so; nil when there is none.
    ///
    /// When summer time ends, an hour comes twice.
    static func latest(local civil: CivilTime, by now: WallTime) -> WallTime? {
        let moments = [Int32(0), 1].compactMap { isSummerTime -> WallTime? in
            var broken = unsafe Self.broken(civil)
            unsafe broken.tm_isdst = isSummerTime
            let moment = WallTime(seconds: unsafe mktime(&broken), civil)
            // mktime(3) moves what is not of that time of the year.
            let shown = moment?.local
            return shown?.hour == civil.hour && shown?.minute == civil.minute ? moment : nil
        }
        // One that summer time leaves out is an hour later, or earlier.
        let candidates = moments.isEmpty ? [WallTime(local: civil)].compactMap { $0 } : moments
        return candidates.filter { $0.nanoseconds <= now.nanoseconds }.max { $0.nanoseconds < $1.nanoseconds }
    }

    /// The moment in UTC; nil when there is none.
    init?(utc civil: CivilTime) {
        var broken = unsafe Self.broken(civil)
        self.init(seconds: unsafe timegm(&broken), civil)
    }

    private init?(seconds: time_t, _ civil: CivilTime) {
        guard seconds >= 0 else { return nil }
        self.init(nanoseconds: (Int64(seconds) * 1_000 + Int64(civil.millisecond)) * 1_000_000)
    }

    private static func broken(_ civil: CivilTime) -> tm {
        var broken = unsafe tm()
        unsafe broken.tm_year = Int32(civil.year - 1900)
        unsafe broken.tm_mon = Int32(civil.month - 1)
        unsafe broken.tm_mday = Int32(civil.day)
        unsafe broken.tm_hour = Int32(civil.hour)
        unsafe broken.tm_min = Int32(civil.minute)
        unsafe broken.tm_sec = Int32(civil.second)
        return unsafe broken
    }
}

extension MonotonicTime {
    /// Reads the clock of ``SystemMonotonicClock``, at a tenth of the cost of Swift's durations.
    static func now() -> MonotonicTime { MonotonicTime(nanoseconds: nanosecondsOn(CLOCK_MONOTONIC)) }
}

extension CurrentThread {
    /// The processor time that the thread has used.
    static var processorTime: Duration { .nanoseconds(nanosecondsOn(CLOCK_THREAD_CPUTIME_ID)) }
}

private func nanosecondsOn(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
