// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// What the clocks of the system tell besides the time.
package enum SystemClock {
    /// The number of this boot, by which monotonic times compare; nil where it cannot be read.
    package static var boot: String? {
        FileAccess.contents("/proc/sys/kernel/random/boot_id").map { String($0.prefix { !$0.isNewline }) }
    }

    /// The time of day in seconds since 1970, which certificates are judged by.
    package static func timeOfDay() -> Int64 { Int64(time(nil)) }

    /// How long the machine has slept since boot: the lead of the boot-time clock over the monotonic one.
    package static func timeAsleep() -> Duration {
        var boot = timespec()
        var monotonic = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        return .seconds(boot.tv_sec - monotonic.tv_sec) + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec)
    }
}
