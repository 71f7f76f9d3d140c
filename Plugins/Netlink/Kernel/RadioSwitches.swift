// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Tells when a radio switch is turned (kernel document `driver-api/rfkill.rst`).
///
/// Of an interface that is down netlink says nothing of it.
final class RadioSwitches {
    private var device: FileDescriptor?

    /// Opens the device; where that is not allowed, or there is none, nothing is told.
    init(path: String) {
        self.device = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        // The state of all switches to begin with.
        _ = self.drain()
    }

    /// The descriptor to poll.
    var fileDescriptor: Int32? { self.device?.number }

    /// Takes all events there are.
    ///
    /// - Returns: Whether there were any.
    func drain() -> Bool {
        var isTurned = false
        // The kernel hands out one event a read, of eight bytes or a few more.
        while let events = self.device?.read(limit: 64), !events.isEmpty { isTurned = true }
        // Its end, or an error, would wake us for ever.
        if self.device != nil, errno != EAGAIN { self.device = nil }
        return isTurned
    }
}
