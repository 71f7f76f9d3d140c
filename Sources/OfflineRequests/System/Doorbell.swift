// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Wakes the thread of a queue, with one system call: a pair of sockets, since Swift's Glibc lacks
/// `eventfd(2)`, and a pipe would not be closed in programs that are started meanwhile.
final class Doorbell: Sendable {
    let descriptor: FileDescriptor
    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    private let button: FileDescriptor

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Self.kind, 0, &ends) == 0, let descriptor = FileDescriptor(ends[0]),
            let button = FileDescriptor(ends[1])
        else { return nil }
        self.descriptor = descriptor
        self.button = button
    }

    /// Wakes whoever waits, now or next; on any thread.
    func ring() {
        var octet: UInt8 = 1
        // One that is full has been heard already.
        _ = unsafe write(self.button.number, &octet, 1)
    }

    /// Forgets that it was rung.
    func reset() {
        FileWatch.drain(self.descriptor)
    }
}
