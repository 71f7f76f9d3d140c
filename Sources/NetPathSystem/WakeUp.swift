// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Wakes a thread that sleeps in poll(2): a pipe to itself.
///
/// An eventfd would do with one descriptor, but Swift's Glibc module does not hold it.
package struct WakeUp: Sendable {
    private let output: FileDescriptor
    private let input: FileDescriptor

    /// Opens the pipe.
    ///
    /// - Throws: ``SystemError`` when the process may open no more files.
    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0, let output = FileDescriptor(ends[0]), let input = FileDescriptor(ends[1])
        else { throw .last("cannot create a pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.output = output
        self.input = input
    }

    /// The descriptor that becomes readable.
    package var fileDescriptor: Int32 { self.output.number }

    /// Wakes the thread; callable from any thread.
    package func wake() { Self.wake(self.input.number, 0) }

    /// Wakes a thread, and says what for; callable from any thread, and from a signal handler.
    ///
    /// - Parameters:
    ///   - descriptor: The ``inputDescriptor`` of its wake-up.
    ///   - reason: What ``take()`` returns.
    package static func wake(_ descriptor: Int32, _ reason: UInt8) {
        var byte = reason
        // When the pipe is full the thread is awake already.
        _ = unsafe write(descriptor, &byte, 1)
    }

    /// The descriptor that is written to.
    package var inputDescriptor: Int32 { self.input.number }

    /// What the thread was woken for since the last call, up to 64 reasons; empty when it was not.
    package func take() -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(self.output.number, &bytes, bytes.count)
        return bytes.prefix(max(0, count))
    }

    /// Forgets what woke the thread.
    package func drain() {
        var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let size = MemoryLayout.size(ofValue: bytes)
        while unsafe read(self.output.number, &bytes, size) == size {}
    }
}
