// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Wakes the thread of a queue, with one system call (`eventfd(2)`).
final class Doorbell: Sendable {
    let descriptor: FileDescriptor

    init?() {
        guard let descriptor = FileDescriptor(eventfd(0, Int32(EFD_CLOEXEC.rawValue | EFD_NONBLOCK.rawValue))) else {
            return nil
        }
        self.descriptor = descriptor
    }

    /// Wakes whoever waits, now or next; on any thread.
    func ring() {
        // The counter is far from its end: the thread resets it whenever it wakes.
        _ = eventfd_write(self.descriptor.number, 1)
    }

    /// Forgets that it was rung.
    func reset() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(self.descriptor.number, &count)
    }
}
