// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc
import NetPathSystem

/// The timer of this backend.
enum ClockWatcher {
    /// A timer that never expires but becomes readable when the wall clock is set, as resuming from sleep does
    /// (TFD_TIMER_CANCEL_ON_SET, `timerfd_create(2)`).
    static func start() -> FileDescriptor? {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        guard let timer = FileDescriptor(timerfd_create(CLOCK_REALTIME, flags)) else { return nil }
        return Self.rearm(timer) ? timer : nil
    }

    /// Arms a timer made by ``start()`` for the next change of the clock.
    static func rearm(_ timer: FileDescriptor) -> Bool {
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        let never = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max / 2, tv_nsec: 0))
        return unsafe withUnsafePointer(to: never) { unsafe timerfd_settime(timer.number, flags, $0, nil) } == 0
    }
}
