// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// How urgent the work of a thread is.
enum ThreadPriority: Sendable {
    /// Lets others go first from now on: a state that is sent to 1,000 clients must not hold up the program that watches the network.
    ///
    /// Of the calling thread alone, as Linux has it (setpriority(2)).
    static func giveWay() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
}
