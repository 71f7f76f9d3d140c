// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Synchronization

/// What other threads want of the monitor's thread, which sleeps in a poll until this wakes it.
final class Mailbox: Sendable {
    /// Everything asked for since the last look.
    struct Requests: Hashable, Sendable {
        var stop = false
        var refresh = false
        var watched: Set<IPAddress>?
    }

    private let requests = Mutex(Requests())
    private let counter: FileDescriptor

    /// Makes a mailbox.
    ///
    /// - Throws: ``NetlinkError`` when the process has no descriptors left.
    init() throws(NetlinkError) {
        guard let counter = SystemCalls.eventCounter() else { throw NetlinkError(failedTo: "create an event counter") }
        self.counter = counter
    }

    /// The descriptor that becomes readable when something was posted.
    var fileDescriptor: Int32 { self.counter.number }

    /// Adds to the requests and wakes the thread.
    func post(_ change: (inout Requests) -> Void) {
        self.requests.withLock { change(&$0) }
        self.counter.signal()
    }

    /// Takes everything asked for.
    func take() -> Requests {
        _ = self.counter.read(limit: 8)
        return self.requests.withLock { requests in
            defer { requests = Requests() }
            return requests
        }
    }
}
