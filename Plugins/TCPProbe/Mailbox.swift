// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Synchronization

/// What other threads want of the monitor's thread, which sleeps in a poll until this wakes it.
final class Mailbox: Sendable {
    /// Everything that came since the last look.
    struct Requests: Hashable, Sendable {
        var stop = false
        var refresh = false
        var lookups: [String: NameLookup] = [:]
    }

    private let requests = Mutex(Requests())
    private let wakeUp: WakeUp

    /// Makes a mailbox.
    ///
    /// - Throws: ``SystemError`` when the process has no descriptors left.
    init() throws(SystemError) {
        self.wakeUp = try WakeUp()
    }

    /// The descriptor that becomes readable when something was posted.
    var fileDescriptor: Int32 { self.wakeUp.fileDescriptor }

    /// Adds to the requests and wakes the thread.
    func post(_ change: (inout Requests) -> Void) {
        self.requests.withLock { change(&$0) }
        self.wakeUp.wake()
    }

    /// Takes everything that came.
    func take() -> Requests {
        self.wakeUp.drain()
        return self.requests.withLock { requests in
            defer { requests = Requests() }
            return requests
        }
    }
}
