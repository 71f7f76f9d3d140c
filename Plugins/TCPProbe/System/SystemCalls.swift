// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Wakes a thread that sleeps in poll(2): a pipe to itself.
///
/// An eventfd would do with one descriptor, but Swift's Glibc module does not hold it.
struct WakeUp: Sendable {
    private let output: FileDescriptor
    private let input: FileDescriptor

    /// Opens the pipe.
    ///
    /// - Throws: ``SystemError`` when the process may open no more files.
    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0, let output = FileDescriptor(ends[0]), let input = FileDescriptor(ends[1])
        else { throw .last("create a pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.output = output
        self.input = input
    }

    /// The descriptor that becomes readable.
    var fileDescriptor: Int32 { self.output.number }

    /// Wakes the thread; callable from any thread.
    func wake() {
        var byte: UInt8 = 0
        // When the pipe is full the thread is awake already.
        _ = unsafe write(self.input.number, &byte, 1)
    }

    /// Forgets what woke the thread.
    func drain() {
        var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let size = MemoryLayout.size(ofValue: bytes)
        while unsafe read(self.output.number, &bytes, size) == size {}
    }
}

/// The system calls of this backend that are about neither sockets nor names.
enum SystemCalls {
    /// How long the machine has slept since boot: the lead of the boot-time clock over the monotonic one.
    static func timeAsleep() -> Duration {
        var boot = timespec()
        var monotonic = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &monotonic)
        return .seconds(boot.tv_sec - monotonic.tv_sec) + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec)
    }

    /// Waits until one of the first descriptors is readable or one of the second is writable, one has failed, or a
    /// timeout has passed.
    ///
    /// - Returns: Which ones are, the first before the second.
    static func poll(readable: [Int32], writable: [Int32], timeout: Duration) -> [Bool] {
        var entries =
            readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            + writable.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
        // Rounded up: waking before a deadline would only mean to wait once more.
        let milliseconds = Int32(clamping: Int((timeout / .milliseconds(1)).rounded(.up)))
        _ = unsafe Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
        return entries.map { $0.revents != 0 }
    }
}
