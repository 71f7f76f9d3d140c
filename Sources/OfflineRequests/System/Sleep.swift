// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

extension MonotonicTime {
    /// The present moment on the clock that a queue goes by.
    static var ofQueue: MonotonicTime { Sleep.now() }
}

/// What the thread of a queue sleeps on: a doorbell, the files it watches, and a point in time.
///
/// Without a point in time nothing of it ever wakes the processor.
struct Sleep: Sendable {
    /// What ended a sleep.
    struct Wake: OptionSet, Sendable {
        let rawValue: UInt8
        static let rung = Self(rawValue: 1)
        static let file = Self(rawValue: 2)
        static let time = Self(rawValue: 4)
    }

    let doorbell: Doorbell
    let files: FileWatch

    /// The present moment on CLOCK_BOOTTIME, which goes on while the machine is suspended: what falls due meanwhile is
    /// done after the resume.
    static func now() -> MonotonicTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Sleeps until something happens; nil as deadline: for as long as nothing does.
    func wait(until deadline: MonotonicTime?) -> Wake {
        var descriptors = [
            pollfd(fd: self.doorbell.descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: self.files.descriptor.number, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(until: deadline))
        var wake: Wake = []
        if let deadline, deadline <= Self.now() { wake.insert(.time) }
        // A signal ends it early, which does no harm: the caller looks at everything and sleeps again.
        guard count > 0 else { return wake }
        if descriptors[0].revents != 0 {
            self.doorbell.reset()
            wake.insert(.rung)
        }
        if descriptors[1].revents != 0 {
            FileWatch.drain(self.files.descriptor)
            wake.insert(.file)
        }
        return wake
    }

    private static func milliseconds(until deadline: MonotonicTime?) -> Int32 {
        guard let deadline else { return -1 }
        // Rounded up: early is as bad as never, it would be asked again at once.
        let milliseconds = ((deadline - self.now()).inNanoseconds + 999_999) / 1_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
