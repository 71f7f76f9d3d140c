// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// What a thread has cost.
enum ProcessorTime {
    /// How long this thread has run (CLOCK_THREAD_CPUTIME_ID, `clock_gettime(2)`); waiting does not count.
    static func ofThisThread() -> Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
