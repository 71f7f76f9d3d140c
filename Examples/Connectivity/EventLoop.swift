// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// An event loop as toolkits have it, of poll(2): it waits for descriptors, and a pipe wakes it.
final class EventLoop: Sendable {
    private let calls = Mutex<[@Sendable () -> Void]>([])
    private let wakeUp = Pipe()

    /// Has the loop call a function; on any thread.
    func enqueue(_ call: @escaping @Sendable () -> Void) {
        self.calls.withLock { $0.append(call) }
        self.wakeUp.fileHandleForWriting.write(Data([0]))
    }

    /// Makes the calls, until a file is at its end.
    func run(untilEndOf file: FileHandle) {
        while true {
            var waiting = [self.wakeUp.fileHandleForReading, file].map {
                pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
            if waiting[0].revents != 0 { _ = self.wakeUp.fileHandleForReading.availableData }
            let calls = self.calls.withLock { calls in
                defer { calls = [] }
                return calls
            }
            for call in calls { call() }
            if waiting[1].revents != 0, file.availableData.isEmpty { return }
        }
    }
}
