// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import Glibc
import NetPathSystem

extension FileDescriptor {
    /// Reads what is there, at most `limit` octets; nil on an error, errno tells which.
    func read(limit: Int) -> [UInt8]? {
        var failed = false
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = unsafe Glibc.read(self.number, buffer.baseAddress, limit)
            failed = result < 0
            count = max(result, 0)
        }
        return failed ? nil : octets
    }

    /// Adds to an event counter (`eventfd(2)`).
    func signal() {
        var one: UInt64 = 1
        _ = unsafe write(self.number, &one, 8)
    }
}

/// The system calls of this backend that are not netlink.
enum SystemCalls {
    /// An event counter (`eventfd(2)`), to wake a poll from other threads.
    static func eventCounter() -> FileDescriptor? {
        FileDescriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    }

    /// A timer that never expires but becomes readable when the wall clock is set, as resuming from sleep does
    /// (TFD_TIMER_CANCEL_ON_SET, `timerfd_create(2)`).
    static func clockWatcher() -> FileDescriptor? {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        guard let timer = FileDescriptor(timerfd_create(CLOCK_REALTIME, flags)) else { return nil }
        return Self.rearm(timer) ? timer : nil
    }

    /// Arms a timer made by ``clockWatcher()`` for the next change of the clock.
    static func rearm(_ timer: FileDescriptor) -> Bool {
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        let never = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max / 2, tv_nsec: 0))
        return unsafe withUnsafePointer(to: never) { unsafe timerfd_settime(timer.number, flags, $0, nil) } == 0
    }

    /// How long the machine has slept since boot: the lead of the boot-time clock over the monotonic one.
    static func timeAsleep() -> Duration {
        var boot = timespec()
        var monotonic = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        return .seconds(boot.tv_sec - monotonic.tv_sec) + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec)
    }

    /// Waits until one of the descriptors is readable or has failed, or a timeout has passed.
    ///
    /// - Returns: Which ones are.
    static func poll(_ descriptors: [Int32], timeout: Duration?) -> [Bool] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up: waking before a deadline would only mean to wait once more.
        let milliseconds = timeout.map { Int32(clamping: Int(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
        _ = unsafe Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
        return entries.map { $0.revents != 0 }
    }
}
