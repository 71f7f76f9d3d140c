// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// What the thread of a queue sleeps on: a doorbell, the files it watches, and a point in time.
///
/// Without a point in time nothing of it ever wakes the processor. Time is CLOCK_BOOTTIME, which goes on while the
/// machine is suspended: what fell due meanwhile is done on resume.
final class Sleep {
    /// What ended a sleep.
    struct Wake: OptionSet, Sendable {
        let rawValue: UInt8
        static let rung = Self(rawValue: 1)
        static let file = Self(rawValue: 2)
        static let time = Self(rawValue: 4)
    }

    private let doorbell: Doorbell
    private let files: FileWatch?
    private let timer: FileDescriptor
    private var armed: MonotonicTime?

    init?(doorbell: Doorbell, files: FileWatch?) {
        guard
            let timer = FileDescriptor(timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC.rawValue | TFD_NONBLOCK.rawValue)))
        else { return nil }
        self.doorbell = doorbell
        self.files = files
        self.timer = timer
    }

    /// The present moment.
    static func now() -> MonotonicTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Sleeps until something happens; nil as deadline: for as long as nothing does.
    func wait(until deadline: MonotonicTime?) -> Wake {
        self.arm(deadline)
        var descriptors = [
            pollfd(fd: self.doorbell.descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: self.timer.number, events: Int16(POLLIN), revents: 0),
            // A negative number is passed over.
            pollfd(fd: self.files?.descriptor.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        // A signal ends it early, which does no harm: the caller looks at everything and sleeps again.
        guard unsafe poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { return [] }
        var wake: Wake = []
        if descriptors[0].revents != 0 {
            self.doorbell.reset()
            wake.insert(.rung)
        }
        if descriptors[1].revents != 0 {
            // The next deadline, or none, makes it unreadable again.
            self.armed = MonotonicTime(nanoseconds: 0)
            self.arm(nil)
            wake.insert(.time)
        }
        if descriptors[2].revents != 0 {
            self.files?.discard()
            wake.insert(.file)
        }
        return wake
    }

    private func arm(_ deadline: MonotonicTime?) {
        guard deadline != self.armed else { return }
        self.armed = deadline
        var time = itimerspec()
        // All zeroes would disarm it.
        let nanoseconds = deadline.map { max(1, $0.nanoseconds) } ?? 0
        time.it_value = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        _ = unsafe timerfd_settime(self.timer.number, Int32(TFD_TIMER_ABSTIME.rawValue), &time, nil)
    }
}
