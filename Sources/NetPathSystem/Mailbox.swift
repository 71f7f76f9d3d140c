// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// What other threads want of a thread that sleeps in a poll until this wakes it.
package final class Mailbox<Requests: Sendable>: Sendable {
    private let requests: Mutex<Requests>
    private let none: Requests
    private let wakeUp: WakeUp

    /// Makes a mailbox.
    ///
    /// - Parameter none: What stands for no request at all.
    /// - Throws: ``SystemError`` when the process has no descriptors left.
    package init(_ none: Requests) throws(SystemError) {
        self.requests = Mutex(none)
        self.none = none
        self.wakeUp = try WakeUp()
    }

    /// The descriptor that becomes readable when something was posted.
    package var fileDescriptor: Int32 { self.wakeUp.fileDescriptor }

    /// Adds to the requests and wakes the thread.
    package func post(_ change: (inout Requests) -> Void) {
        self.requests.withLock { change(&$0) }
        self.wakeUp.wake()
    }

    /// Takes everything that was posted since the last call.
    package func take() -> Requests {
        self.wakeUp.drain()
        return self.requests.withLock { requests in
            defer { requests = self.none }
            return requests
        }
    }
}
